/* A YAML tree as text that is read as the same tree: for files that cannot be changed in place.
 *
 * Invariants: what a reader may take for a number or a word has quotes where it had them before.
 * Owner: the caller. Threads: no state.
 */
#ifndef EK_DAEMON_YAML_WRITE_H
#define EK_DAEMON_YAML_WRITE_H

#include "base/buf.h"
#include "yaml/yaml.h"

/* The same, without quotes where any reader takes it for text without them. */
int ek_yaml_put_word(struct ek_buf *out, const char *text);
/* Appends key, value and a line end. Collections of collections take a line for each element. */
int ek_yaml_put_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value);
/* Whether both are read as the same. Quotes do not count around what is text without them. */
bool ek_yaml_same(const struct ek_node *a, const struct ek_node *b);

#endif
