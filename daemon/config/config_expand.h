/* Expansion of `${NAME}` and `${file:PATH}` in configuration values. Initialize with
 * ek_expansion_init. One thread at a time. */
#ifndef EK_DAEMON_CONFIG_CONFIG_EXPAND_H
#define EK_DAEMON_CONFIG_CONFIG_EXPAND_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Expanded value. */
struct ek_expansion {
    struct ek_buf text;
    bool from_file;      /* contains a file's contents, which are a secret */
    char open_file[400]; /* such a file that all users may read; "": none */
};
void ek_expansion_init(struct ek_expansion *x);
void ek_expansion_release(struct ek_expansion *x);
/* Append `text` to x->text, which becomes a string, with `${NAME}` from the environment,
 * `${file:PATH}` from a file (without its final newline, at most 64 KiB, relative to `folder`,
 * NULL: the working directory), and `$${` as `${`. Returns 0, EK_ECONFIG, EK_EIO or EK_ELIMIT;
 * errors contain no value. */
int ek_config_expand(const char *text, const char *folder, struct ek_expansion *x,
                     struct ek_error *e);

#endif
