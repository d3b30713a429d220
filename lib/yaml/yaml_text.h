/* What an editor of YAML files needs: where a line of the text begins, and whether two trees say
 * the same, to see that nothing but what was meant has changed.
 *
 * Lines are counted as libyaml counts them, which the places of nodes are in: after a line feed, a
 * return, both, U+0085, U+2028 or U+2029. Places are bytes. Owner: the caller. Threads: no state.
 */
#ifndef EK_YAML_YAML_TEXT_H
#define EK_YAML_YAML_TEXT_H

#include "yaml/yaml.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the line break that begins at text[at]; 0 when none does. */
size_t ek_yaml_break(const char *text, size_t length, size_t at);
/* The byte behind the break that ends the line of text[at]; `length` where none does. */
size_t ek_yaml_next_line(const char *text, size_t length, size_t at);
/* Where a line begins, from 1; `length` when there are fewer. */
size_t ek_yaml_line_start(const char *text, size_t length, long line);
/* Kind, values, quotes and order are the same: `1` and "1" differ. Places do not count. NULL is a
 * node that is not there. */
bool ek_node_same(const struct ek_node *a, const struct ek_node *b);
/* The same of two mappings, but for the values of these keys, which may be missing too. */
bool ek_node_same_but(const struct ek_node *a, const struct ek_node *b, const char *const *keys,
                      size_t count);

#endif
