/* Who may change something over HTTP: the tokens of a file.
 *
 * A line is `TOKEN` or `NAME TOKEN`, # begins a comment, empty lines are passed over. A token has
 * EK_TOKEN_MIN to EK_TOKEN_MAX visible characters, a file at most EK_TOKENS_MAX of them. A name
 * is the author of what is done with its token. Tokens stand in no error and no log.
 * Owner: the caller. Threads: any.
 */
#ifndef EK_DAEMON_CONFIG_AUTH_H
#define EK_DAEMON_CONFIG_AUTH_H

#include "base/error.h"
#include "rules/rules.h" /* EK_AUTHOR_BYTES */

#include <stdbool.h>

enum { EK_TOKEN_MIN = 16, EK_TOKEN_MAX = 200, EK_TOKENS_MAX = 64 };

struct ek_tokens;

/* EK_EIO: no such file; EK_ECONFIG with its line: what is wrong in it, also when there is no token
 * at all. */
int ek_tokens_load(struct ek_tokens **out, const char *path, struct ek_error *e);
/* NULL is allowed. */
void ek_tokens_free(struct ek_tokens *t);

/* Takes the place of what it had; `with` is of no use then, but to be freed. */
void ek_tokens_replace(struct ek_tokens *t, struct ek_tokens *with);

/* Whether there is such a token, and its name, "" where it has none. How long that takes does not
 * depend on what is wrong with it. */
bool ek_tokens_find(struct ek_tokens *t, const char *given, char name[EK_AUTHOR_BYTES + 1]);
/* The first one, for who asks others. */
const char *ek_tokens_first(const struct ek_tokens *t);

#endif
