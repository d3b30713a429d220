/* JSON parser: reads a string into a read-only yyjson document.
 *
 * Rejects duplicate keys, numbers beyond int64 or double, nesting deeper than 2,048 and invalid
 * UTF-8. Only inline functions of yyjson.h can be linked: the others are static in json_parse.c.
 * The caller frees the document with yyjson_doc_free. Thread-safe.
 */
#ifndef EK_YAML_JSON_PARSE_H
#define EK_YAML_JSON_PARSE_H

#include "vendor/yyjson/yyjson.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_json_error {
    int line, column; /* 1-based; column in characters */
    char text[100];
};

/* Parse `text`, which is not changed; its root must be an array or object. allow_nul: string
 * values, but not keys, may contain U+0000. Return 0, EK_ENOMEM, or EK_EFORMAT with the error in
 * `why`. On error *out is NULL. */
int ek_json_parse(yyjson_doc **out, const char *text, size_t length, bool allow_nul,
                  struct ek_json_error *why);

#endif
