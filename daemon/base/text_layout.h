/* Word-wrapped paragraphs, and properties of terminals. Threads: any. */
#ifndef EK_DAEMON_BASE_TEXT_LAYOUT_H
#define EK_DAEMON_BASE_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stdio.h>

/* Paragraph of at most 79 columns; longer words have a separate line. Later lines are indented by
 * two more columns. Characters that are unsafe on a terminal become '?'. Value type. */
struct ek_paragraph {
    FILE *to;
    int indent, column;
};

/* Start a paragraph with an indentation. */
struct ek_paragraph ek_paragraph_start(FILE *to, int indent);
/* Append words, separated by single spaces. There is no line break before the first. */
void ek_paragraph_add(struct ek_paragraph *p, const char *text);
void ek_paragraph_end(struct ek_paragraph *p);

/* Size if unknown. */
enum { EK_TERMINAL_COLUMNS = 80, EK_TERMINAL_ROWS = 24 };

/* Return true if lines can be overwritten: a terminal, and TERM is not "dumb". */
bool ek_terminal_live(FILE *to);
/* Return true if colors can also be used: NO_COLOR is unset or empty. */
bool ek_terminal_color(FILE *to);
/* Get the size of the stream's terminal; if unknown from COLUMNS and LINES, otherwise 80 and 24. */
void ek_terminal_size(FILE *to, int *columns, int *rows);
/* Return true if the locale is UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set. */
bool ek_terminal_utf8(void);

#endif
