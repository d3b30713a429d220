/* A YAML tree as text that is read as the same tree: for files that cannot be changed in place.
 *
 * Invariants: what a reader may take for a number or a word has quotes where it had them before.
 * Owner: the caller. Threads: no state.
 */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_REDUCE_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_REDUCE_H

#include "base/buf.h"
#include "schema/manifest.h"
#include "yaml/yaml.h"

/* A manifest with fewer features: the same file with the entries of those left out taken away, also
 * from `normalization`, and their columns among `unused`, so that the same LETOR files can be read
 * with it. All else stays, known to us or not: the tree of the result is held against that of the
 * file, and what does not agree is an error.
 *
 * The text is kept with its comments where features and sections stand on lines of their own; else
 * it is written anew from its tree, without comments. Owner: the caller.
 */
/* keep [F]: at least one. `text` is that of the file `m` was read from, and appended to `out`.
 * *anew: why it was written anew, for people; NULL where its text was kept. EK_ENOMEM; EK_ECONFIG
 * when the result would not be read as what stays. */
int ek_manifest_reduce(const struct ek_manifest *m, const struct ek_buf *text, const bool *keep,
                       struct ek_buf *out, const char **anew, struct ek_error *e);

#endif
