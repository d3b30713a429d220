/* One section of a YAML file put in place of another, all other bytes left as they are: comments,
 * order, quotes.
 *
 * Invariants: only top-level keys; the file is a mapping in block style. A section ends in front of
 * the next key, blank lines and comments that stand before that excepted. Line ends and the
 * indentation of the top level are those of the file. Owner: the caller. Threads: no state.
 */
#ifndef EK_DATA_MANIFEST_EDIT_H
#define EK_DATA_MANIFEST_EDIT_H

#include "base/buf.h"
#include "base/error.h"

/* text [length] is the file, `name` what it is called in errors, section whole lines of which the
 * first begins with `key:`. Appends the new text to `out`, at the end of the file where there was
 * no such section. EK_ECONFIG when the file is no YAML or is written in braces; EK_ENOMEM. */
int ek_manifest_put(const char *name, const char *text, size_t length, const char *key,
                    const char *section, struct ek_buf *out, struct ek_error *e);

#endif
