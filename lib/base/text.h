/* String view: bytes with a length, not nul-terminated. Does not own the bytes. */
#ifndef EK_BASE_TEXT_H
#define EK_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct ek_text {
    const char *text; /* not nul-terminated; NULL when absent */
    size_t length;
};

/* Return a view of a nul-terminated string, which must outlive it; NULL gives an absent text. */
struct ek_text ek_text_from(const char *word);
/* Compare as strcmp does: return a number below, equal to or above 0. `text` may contain zero
 * bytes. */
int ek_text_compare(struct ek_text text, const char *word);
/* Return the index of a text among the ascending words[first .. end - 1], or -1. An absent text is
 * not found. */
int ek_text_find(struct ek_text text, char *const *words, int first, int end);
/* Return true if both have the same bytes. */
bool ek_text_same(struct ek_text a, struct ek_text b);

#endif
