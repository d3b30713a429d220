/* What `${NAME}` and `${file:PATH}` stand for in a value of the configuration.
 *
 * Owner: the caller of ek_expansion_init. Threads: one at a time.
 */
#ifndef EK_DAEMON_CONFIG_CONFIG_EXPAND_H
#define EK_DAEMON_CONFIG_CONFIG_EXPAND_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* A value with what its `${...}` stand for. */
struct ek_expansion {
    struct ek_buf text;
    bool from_file;      /* part of it is the content of a file, which is taken for a secret */
    char open_file[400]; /* such a file that everybody may read; "": none */
};
void ek_expansion_init(struct ek_expansion *x);
void ek_expansion_release(struct ek_expansion *x);
/* Adds `text` to x->text, a string then, with `${NAME}` from the environment, `${file:PATH}` from a
 * file (without a line end; at most 64 KiB; relative to `folder`, NULL: the working directory), and
 * `$${` as `${`. EK_ECONFIG, EK_EIO, EK_ELIMIT; no error has a value in it. */
int ek_config_expand(const char *text, const char *folder, struct ek_expansion *x,
                     struct ek_error *e);

#endif
