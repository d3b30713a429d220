/* Text for people, broken between words so that no line is longer than 79 columns. Later lines
 * stand two columns further in. What may not be shown is a question mark.
 *
 * Value type. A word that is longer stands on a line of its own.
 */
#ifndef EK_DAEMON_BASE_TEXT_LAYOUT_H
#define EK_DAEMON_BASE_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stdio.h>

struct ek_paragraph {
    FILE *to;
    int indent, column;
};

/* Begins one that far in. */
struct ek_paragraph ek_paragraph_start(FILE *to, int indent);
/* Adds words, with one space between and before them. The first is never broken away. */
void ek_paragraph_add(struct ek_paragraph *p, const char *text);
void ek_paragraph_end(struct ek_paragraph *p);

/* What the terminal behind a stream can do, by the conventions of the environment: TERM, NO_COLOR
 * and the locale.
 *
 * Threads: any.
 */
enum { EK_TERMINAL_COLUMNS = 80, EK_TERMINAL_ROWS = 24 };

/* A terminal on which lines can be drawn over: not a pipe, a file, or TERM=dumb. */
bool ek_terminal_live(FILE *to);
/* And that may be colored: NO_COLOR is not set, or empty. */
bool ek_terminal_color(FILE *to);
/* Of the stream; by COLUMNS and LINES where it does not say, else 80 and 24. */
void ek_terminal_size(FILE *to, int *columns, int *rows);
/* By LC_ALL, LC_CTYPE and LANG, the first of them that is set. */
bool ek_terminal_utf8(void);

#endif
