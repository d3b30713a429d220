/* A manifest with fewer features: the same file with the entries of those left out taken away, and
 * their columns among `unused`, so that the same LETOR files can be read with it.
 *
 * The text is kept with its comments where each feature stands on lines of its own; else it is
 * written anew from what was read, without `labels`, `splits`, `folds` and `lightgbm`, which other
 * programs read. Owner: the caller.
 */
#ifndef EK_DAEMON_SELECT_REDUCE_H
#define EK_DAEMON_SELECT_REDUCE_H

#include "base/buf.h"
#include "data/manifest.h"

/* keep [F]: at least one. `text` is that of the file `m` was read from, and appended to `out`.
 * *anew tells that it was written anew. EK_ENOMEM. */
int ek_manifest_reduce(const struct ek_manifest *m, const struct ek_buf *text, const bool *keep,
                       struct ek_buf *out, bool *anew, struct ek_error *e);

#endif
