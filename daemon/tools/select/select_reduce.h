/* Reduction of a manifest: the same file without the removed features, also in `normalization`;
 * their columns become `unused`, so that the manifest fits the same LETOR files. Everything else
 * stays, also unknown keys; the result is parsed and compared with the file.
 *
 * If features and sections have their own lines, the text keeps its comments; otherwise it is
 * written from the tree, without comments.
 */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_REDUCE_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_REDUCE_H

#include "base/buf.h"
#include "schema/manifest.h"
#include "yaml/yaml.h"

/* Set `out`, which must be initialized, to the reduced manifest. keep [F]: at least one is true.
 * text: contents of the file of `m`. Set *reason to a static text why its comments were not kept,
 * or NULL. Return 0, EK_ENOMEM, or EK_ECONFIG if the result does not parse as expected. */
int ek_manifest_reduce(const struct ek_manifest *m, const struct ek_buf *text, const bool *keep,
                       struct ek_buf *out, const char **reason, struct ek_error *e);

#endif
