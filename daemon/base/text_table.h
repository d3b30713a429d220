/* Text output of commands: tables with aligned columns, wrapped paragraphs, safe output of
 * untrusted text, and properties of the terminal.
 *
 * The last column of a table is word-wrapped to a line length of 79, if at least 20 columns are
 * left for it. Control characters, escapes and invalid UTF-8 become '?'. One thread at a time.
 */
#ifndef EK_DAEMON_BASE_TEXT_TABLE_H
#define EK_DAEMON_BASE_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { EK_TEXT_TABLE_COLUMNS_MAX = 10 };

struct ek_text_table;

/* Create a table with static titles [count]. Return NULL if memory runs out. */
struct ek_text_table *ek_text_table_new(const char *const *titles, int count);
void ek_text_table_free(struct ek_text_table *c);
/* Add a row of copied strings, one per title. Return 0, or EK_ENOMEM without adding it. */
int ek_text_table_add(struct ek_text_table *c, const char *const *texts);
/* Print the titles and all rows. */
void ek_text_table_print(const struct ek_text_table *c, FILE *to);
/* Remaining size of a screen. */
struct ek_row_limit {
    int columns, lines;
};
/* Print the titles and as many rows as fit into `limit`, and subtract their lines from it. If rows
 * are omitted, the last line has their number. If the last column would be too narrow, rows are
 * folded: the columns that do not fit follow on separate lines. */
void ek_text_table_fit(const struct ek_text_table *c, struct ek_row_limit *limit, FILE *to);

/* Print untrusted text, made safe and word-wrapped to `columns`, with a final line feed. Return the
 * number of lines. */
int ek_print_wrapped(const char *text, int columns, FILE *to);

/* Print untrusted text, made safe, on one line of at most `columns`, with a final line feed. A cut
 * text ends in "...". */
void ek_print_cut(const char *text, int columns, FILE *to);

/* Print untrusted text, made safe, on one line, without a line feed. */
void ek_print_safe(const char *text, FILE *to);
/* Make a text safe in place; it does not become longer. */
void ek_make_safe(char *text);

/* Paragraph of at most 79 columns; longer words have a separate line. Later lines are indented by
 * two more columns. Characters that are unsafe on a terminal become '?'. Value type. */
struct ek_paragraph {
    FILE *to;
    int indent, column;
};

/* Print an indentation and return a paragraph that begins there. End it with ek_paragraph_end. */
struct ek_paragraph ek_paragraph_start(FILE *to, int indent);
/* Append words, separated by single spaces. There is no line break before the first. */
void ek_paragraph_add(struct ek_paragraph *p, const char *text);
/* End the paragraph with a newline. */
void ek_paragraph_end(struct ek_paragraph *p);

/* Size if unknown. */
enum { EK_TERMINAL_COLUMNS = 80, EK_TERMINAL_ROWS = 24 };

/* Return true if lines can be overwritten: a terminal, and TERM is not "dumb". */
bool ek_terminal_live(FILE *to);
/* Return true if colors can also be used: NO_COLOR is unset or empty. */
bool ek_terminal_color(FILE *to);
/* Set *columns and *rows to the size of the stream's terminal; if unknown from COLUMNS and LINES,
 * otherwise 80 and 24. */
void ek_terminal_size(FILE *to, int *columns, int *rows);
/* Return true if the locale is UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set. */
bool ek_terminal_utf8(void);

#endif
