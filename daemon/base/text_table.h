/* A table for people: every column as wide as its texts, the last one broken between words so that
 * no line is longer than 79 columns, where the others leave it 20 of them.
 *
 * Texts may come from anywhere: what would move the cursor of a terminal is shown as '?'. Owner:
 * the caller. One thread at a time.
 */
#ifndef EK_DAEMON_BASE_TEXT_TABLE_H
#define EK_DAEMON_BASE_TEXT_TABLE_H

#include <stdio.h>

enum { EK_TEXT_TABLE_COLUMNS_MAX = 10 };

struct ek_text_table;

/* titles [count], literals. NULL without memory. */
struct ek_text_table *ek_text_table_new(const char *const *titles, int count);
void ek_text_table_free(struct ek_text_table *c);
/* A row, as many texts as there are titles; copies. EK_ENOMEM. */
int ek_text_table_add(struct ek_text_table *c, const char *const *texts);
void ek_text_table_print(const struct ek_text_table *c, FILE *to);
/* What is left of a screen. */
struct ek_row_limit {
    int columns, lines;
};
/* As wide as that, and at most so many lines (but for the titles), the last of which says how many
 * rows are not there; they are taken off `room`. Where too little would be left of a line for the
 * last column, rows are folded: what does not fit comes on lines of its own. */
void ek_text_table_fit(const struct ek_text_table *c, struct ek_row_limit *room, FILE *to);

/* `text` broken between words, as wide as that; ends the line. As it may be shown. Returns how many
 * lines that took. */
int ek_print_wrapped(const char *text, int columns, FILE *to);

/* `text` as it may be shown, on one line. */
void ek_print_safe(const char *text, FILE *to);
/* The same of its first bytes. Returns how many columns it takes. */
int ek_print_safe_part(const char *text, size_t length, FILE *to);
/* `text` as it may be shown, in its place: it does not get longer. */
void ek_make_safe(char *text);

#endif
