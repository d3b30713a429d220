/* One section of a YAML file put in place of another, all other bytes left as they are: comments,
 * order, quotes.
 *
 * Invariants: only top-level keys; the file is a mapping in block style. A section ends with the
 * line of its last value; comments and blank lines behind it stay, those within it go. Line ends
 * and the indentation of the top level are those of the file. All other keys say the same
 * afterwards, or nothing is done. Owner: the caller. Threads: no state.
 */
#ifndef EK_SCHEMA_MANIFEST_EDIT_H
#define EK_SCHEMA_MANIFEST_EDIT_H

#include "base/buf.h"
#include "base/error.h"

/* text [length] is the file, `name` what it is called in errors, section whole lines of which the
 * first begins with `key:`. Appends the new text to `out`; where there was no such section it comes
 * last, in front of `...`. EK_ECONFIG when the file is no YAML, is written in braces, or another
 * key would change; EK_ENOMEM. */
int ek_manifest_set_section(const char *name, const char *text, size_t length, const char *key,
                            const char *section, struct ek_buf *out, struct ek_error *e);

#endif
