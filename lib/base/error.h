/* Error codes with message, file position and flags.
 *
 * Every fallible function returns `int`: 0, or the `enum ek_code` also stored in its `struct
 * ek_error`. On error outputs are unchanged unless the function's comment states otherwise.
 * `message` is nul-terminated, lower case, without a full stop, with names in single quotes.
 * Callers decide on `code` and `flags`, never on messages. A NULL error is allowed everywhere.
 */
#ifndef EK_BASE_ERROR_H
#define EK_BASE_ERROR_H

#include "evenkeel.h"

#include <stddef.h>

enum ek_error_flag {
    EK_ERR_FATAL = 1,    /* the process must end */
    EK_ERR_PATH = 2,     /* invalid path: missing, no permission, or a directory */
    EK_ERR_NAME = 4,     /* invalid name in the call */
    EK_ERR_FIELD = 8,    /* a message has no field of that name */
    EK_ERR_READER = 16,  /* broken pipe: the reader has closed it */
    EK_ERR_ENCODING = 32 /* a message has another encoding than configured */
};

struct ek_error {
    enum ek_code code;
    unsigned flags;    /* bits of enum ek_error_flag */
    char file[200];    /* empty if unknown */
    long line, column; /* 1-based, 0 if unknown */
    char message[400];
};

/* Store code and formatted message in *e, unless NULL; clear position and flags. Return `code`. */
int ek_fail(struct ek_error *e, enum ek_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Store code and formatted message in *e, unless NULL, with the flag EK_ERR_FATAL. Return
 * `code`. */
int ek_fail_fatal(struct ek_error *e, enum ek_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Store code, formatted message and position in *e, unless NULL. file may be NULL, line and column
 * 0 if unknown. Return `code`.
 */
int ek_fail_at(struct ek_error *e, enum ek_code code, const char *file, long line, long column,
               const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Set the parts of an error's position that it lacks. Return its code, 0 for NULL. */
int ek_error_place(struct ek_error *e, const char *file, long line, long column);

/* Write `file:line:column: message`, without unknown parts; nul-terminated if size > 0. Return
 * `text`. */
char *ek_error_text(const struct ek_error *e, char *text, size_t size);

/* Return the name of a code in metrics and dead letters, a static string: "format", "limit", ... */
const char *ek_code_name(enum ek_code code);

#endif
