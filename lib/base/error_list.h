/* Several faults of one file, for checks that do not end at the first.
 *
 * Invariants: at most EK_ERRORS_MAX are kept; whoever reads ends there. Owner: whoever called
 * ek_error_list_init; memory goes back with ek_error_list_release.
 */
#ifndef EK_BASE_ERROR_LIST_H
#define EK_BASE_ERROR_LIST_H

#include "base/buf.h"
#include "base/error.h"

enum { EK_ERRORS_MAX = 100 };

struct ek_error_list {
    struct ek_error *errors; /* [count] */
    size_t count, capacity;
};

void ek_error_list_init(struct ek_error_list *l);
void ek_error_list_release(struct ek_error_list *l);
/* None; the memory stays. */
void ek_error_list_clear(struct ek_error_list *l);
/* EK_ENOMEM, or EK_ELIMIT when the list is full; it is then as it was. */
int ek_error_list_add(struct ek_error_list *l, const struct ek_error *e);
/* The code that a reading which ended with `code` has in all: when faults were kept they are
 * sorted, and the first is the error; otherwise `code` and the error stay. `l` may be NULL. */
int ek_error_list_first(struct ek_error_list *l, int code, struct ek_error *e);
/* For readers that may go on: keeps the error of a call that returned EK_ECONFIG and gives 0, or
 * EK_ECONFIG when the list is full. Any other code, and every code when `l` is NULL, comes back as
 * it is. */
int ek_error_list_collect(struct ek_error_list *l, int code, const struct ek_error *e);
/* Appends a JSON array of {"file","line","column","message"}; file null, line and column 0 where
 * there is no place. EK_ENOMEM. */
int ek_error_list_json(const struct ek_error_list *l, struct ek_buf *out);

#endif
