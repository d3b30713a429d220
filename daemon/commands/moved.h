/* The features that are furthest from training at the end of a rehearsal.
 *
 * Over the window that is open and the one before, in every cell with live sketches: those whose
 * psi is above its expectation by EK_MOVED_LEAST or more, the furthest first, EK_MOVED_MOST at
 * most. Owner of the buffers: the caller.
 */
#ifndef EK_DAEMON_MOVED_H
#define EK_DAEMON_MOVED_H

#include "base/buf.h"
#include "schema/manifest.h"
#include "guard/traffic.h"

enum { EK_MOVED_MOST = 5 };
/* Where people commonly begin to call it a shift. */
#define EK_MOVED_LEAST 0.1

/* Appends a table for people, in at most 79 columns (nothing when nothing moved), and a JSON array.
 * EK_ENOMEM. */
int ek_moved_write(struct ek_traffic *t, const struct ek_manifest *m, struct ek_buf *table,
                   struct ek_buf *json);

#endif
