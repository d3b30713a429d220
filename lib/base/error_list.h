/* List of errors of one file, for parsers that continue after an error. Holds at most
 * EK_ERRORS_MAX; the parser ends when it is full. */
#ifndef EK_BASE_ERROR_LIST_H
#define EK_BASE_ERROR_LIST_H

#include "base/buf.h"
#include "base/error.h"

enum { EK_ERRORS_MAX = 100 };

struct ek_error_list {
    struct ek_error *errors; /* [count] */
    size_t count, capacity;
};

/* Initialize an empty list, without allocating. */
void ek_error_list_init(struct ek_error_list *l);
/* Free the memory and empty the list. */
void ek_error_list_release(struct ek_error_list *l);
/* Remove all errors; keep the memory. */
void ek_error_list_clear(struct ek_error_list *l);
/* Append a copy. Return 0, or EK_ENOMEM or EK_ELIMIT with the list unchanged. */
int ek_error_list_add(struct ek_error_list *l, const struct ek_error *e);
/* Return the final code of a parse that ended with `code`. If the list has errors, sort them by
 * position, copy the first to *e and return its code. `l` may be NULL. */
int ek_error_list_first(struct ek_error_list *l, int code, struct ek_error *e);
/* Add the error of a call that returned EK_ECONFIG and return 0, so that the parser continues.
 * Return EK_ECONFIG if the list is full, or EK_ENOMEM if memory runs out. Other codes, also 0, and
 * all codes if `l` is NULL, are returned unchanged. */
int ek_error_list_collect(struct ek_error_list *l, int code, const struct ek_error *e);
/* Append a JSON array of {"file","line","column","message"}; file is null, line and column are 0 if
 * unknown. Return 0 or EK_ENOMEM. */
int ek_error_list_json(const struct ek_error_list *l, struct ek_buf *out);

#endif
