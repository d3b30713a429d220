/* Replacement of one top-level section of a YAML file; all other bytes stay unchanged.
 *
 * The file must be a block mapping. A section ends with the line of its last value; comments and
 * blank lines after it stay, those within are replaced. Line ends and indentation follow the file.
 * If any other key would change, the edit fails.
 */
#ifndef EK_SCHEMA_MANIFEST_EDIT_H
#define EK_SCHEMA_MANIFEST_EDIT_H

#include "base/buf.h"
#include "base/error.h"

/* Append `text` to `out` with section `key` replaced. `section` has whole lines and begins with
 * `key:`. A new section is added at the end, before `...`. `name` is the file name in errors.
 * Return 0, EK_ENOMEM, or EK_ECONFIG for invalid YAML, a flow mapping, or a change of another key;
 * `out` is then unchanged. */
int ek_manifest_set_section(const char *name, const char *text, size_t length, const char *key,
                            const char *section, struct ek_buf *out, struct ek_error *e);

#endif
