/* Errors: what went wrong, where, and what a caller may do about it.
 *
 * Every fallible function of the library returns `int`: 0 on success, else the `enum ek_code` it
 * also stored in the `struct ek_error` it was given. On failure outputs are untouched unless the
 * function's comment says otherwise.
 *
 * Invariants: `message` is always terminated, lower case, without a full stop, subjects in single
 * quotes. Callers decide on `code` and `flags`, never on texts.
 * Owner: the caller, usually on the stack. A NULL error is allowed everywhere: only the code
 * counts.
 */
#ifndef EK_BASE_ERROR_H
#define EK_BASE_ERROR_H

#include "evenkeel.h"

#include <stddef.h>

enum ek_error_flag {
    EK_ERR_FATAL = 1,    /* the process cannot go on */
    EK_ERR_PATH = 2,     /* the path is wrong: nothing there, no right, a folder */
    EK_ERR_NAME = 4,     /* a name of the call is none */
    EK_ERR_FIELD = 8,    /* a message has no field of that name */
    EK_ERR_READER = 16,  /* nobody reads any more what is written: a pipe that was closed */
    EK_ERR_ENCODING = 32 /* a message is written in another encoding than is expected */
};

struct ek_error {
    enum ek_code code;
    unsigned flags;    /* of enum ek_error_flag */
    char file[200];    /* empty when there is no place */
    long line, column; /* 1-based, 0 when unknown */
    char message[400];
};

/* Stores code and formatted message (place and flags are cleared). Returns `code`. */
int ek_fail(struct ek_error *e, enum ek_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As ek_fail, of what the process cannot go on after (EK_ERR_FATAL). */
int ek_fail_fatal(struct ek_error *e, enum ek_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As ek_fail, with a place: `file:line:column: message`. file may be NULL, line and column 0. */
int ek_fail_at(struct ek_error *e, enum ek_code code, const char *file, long line, long column,
               const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds a place to an error that has none yet. Returns its code. */
int ek_error_place(struct ek_error *e, const char *file, long line, long column);

/* Writes `file:line:column: message` (as much of the place as is known); always terminated when
 * size > 0. Returns `text`. */
char *ek_error_text(const struct ek_error *e, char *text, size_t size);

/* The short word of a code, as metrics and dead letters carry it: "format", "limit", ... */
const char *ek_code_name(enum ek_code code);

#endif
