/* Line positions in YAML text, and comparison of trees, for editors.
 *
 * Lines are counted as libyaml does for node positions: after LF, CR, CR LF, U+0085, U+2028 or
 * U+2029. Positions are byte offsets.
 */
#ifndef EK_YAML_YAML_TEXT_H
#define EK_YAML_YAML_TEXT_H

#include "yaml/yaml.h"

#include <stdbool.h>
#include <stddef.h>

/* Return the bytes of the line break at text[at]; 0 if none. */
size_t ek_yaml_break(const char *text, size_t length, size_t at);
/* Return the offset of the line after text[at], or `length`. */
size_t ek_yaml_next_line(const char *text, size_t length, size_t at);
/* Return the offset of a line, counted from 1, or `length` if the text has fewer. */
size_t ek_yaml_line_start(const char *text, size_t length, long line);
/* Return true if kinds, values, quoting and order are equal: `1` and "1" differ. Positions are
 * ignored. NULL is an absent node. */
bool ek_node_same(const struct ek_node *a, const struct ek_node *b);
/* Return true if two mappings are equal as by ek_node_same, ignoring the given keys, which may be
 * absent. */
bool ek_node_same_but(const struct ek_node *a, const struct ek_node *b, const char *const *keys,
                      size_t count);

#endif
