/* Text table with aligned columns, and safe output of untrusted text.
 *
 * The last column is word-wrapped to a line length of 79, if at least 20 columns are left for it.
 * Control characters, escapes and invalid UTF-8 become '?'. One thread at a time.
 */
#ifndef EK_DAEMON_BASE_TEXT_TABLE_H
#define EK_DAEMON_BASE_TEXT_TABLE_H

#include <stdio.h>

enum { EK_TEXT_TABLE_COLUMNS_MAX = 10 };

struct ek_text_table;

/* Create a table with static titles [count]. Return NULL if memory runs out. */
struct ek_text_table *ek_text_table_new(const char *const *titles, int count);
void ek_text_table_free(struct ek_text_table *c);
/* Add a row of copied strings, one per title. Return 0, or EK_ENOMEM without adding it. */
int ek_text_table_add(struct ek_text_table *c, const char *const *texts);
void ek_text_table_print(const struct ek_text_table *c, FILE *to);
/* Remaining size of a screen. */
struct ek_row_limit {
    int columns, lines;
};
/* Print within `limit`, apart from the titles, and subtract the lines from it. If rows are omitted,
 * the last line has their number. If the last column would be too narrow, rows are folded: the
 * columns that do not fit follow on separate lines. */
void ek_text_table_fit(const struct ek_text_table *c, struct ek_row_limit *limit, FILE *to);

/* Print safe text, word-wrapped to `columns`, with a final line feed. Return the number of lines.
 */
int ek_print_wrapped(const char *text, int columns, FILE *to);

/* Print safe text on one line. */
void ek_print_safe(const char *text, FILE *to);
/* Print the first `length` bytes of a text, safe. Return the number of columns. */
int ek_print_safe_part(const char *text, size_t length, FILE *to);
/* Make a text safe in place; it does not become longer. */
void ek_make_safe(char *text);

#endif
