/* Operator tokens of the HTTP API, read from a file.
 *
 * A line is `TOKEN` or `NAME TOKEN`; # starts a comment, empty lines are ignored. A token has
 * EK_TOKEN_MIN to EK_TOKEN_MAX visible characters, a file at most EK_TOKENS_MAX tokens. The name is
 * the actor of changes made with the token. Errors and logs never contain tokens. Threads: any.
 */
#ifndef EK_DAEMON_CONFIG_AUTH_H
#define EK_DAEMON_CONFIG_AUTH_H

#include "base/error.h"
#include "rules/rules.h" /* EK_AUTHOR_BYTES */

#include <stdbool.h>

enum { EK_TOKEN_MIN = 16, EK_TOKEN_MAX = 200, EK_TOKENS_MAX = 64 };

struct ek_tokens;

/* Read a file of tokens; free *out with ek_tokens_free. Return 0, EK_EIO if the file cannot be
 * read, EK_ENOMEM, or EK_ECONFIG with a position if it is invalid or has no token. */
int ek_tokens_load(struct ek_tokens **out, const char *path, struct ek_error *e);
/* Overwrite and free the tokens. NULL is allowed. */
void ek_tokens_free(struct ek_tokens *t);

/* Replace the tokens of `t` by those of `with`, which may then only be freed. */
void ek_tokens_replace(struct ek_tokens *t, struct ek_tokens *with);

/* Return true if the token exists, and write its name, "" if it has none; else `name` is "". The
 * duration does not depend on the difference. */
bool ek_tokens_find(struct ek_tokens *t, const char *given, char name[EK_AUTHOR_BYTES + 1]);
/* Return the first token, for use by a client; valid until the tokens are replaced or freed. */
const char *ek_tokens_first(const struct ek_tokens *t);

#endif
