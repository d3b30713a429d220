/* What the terminal behind a stream can do, by the conventions of the environment: TERM, NO_COLOR
 * and the locale.
 *
 * Threads: any.
 */
#ifndef EK_DAEMON_TERMINAL_H
#define EK_DAEMON_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum { EK_TERMINAL_COLUMNS = 80, EK_TERMINAL_ROWS = 24 };

/* A terminal on which lines can be drawn over: not a pipe, a file, or TERM=dumb. */
bool ek_terminal_live(FILE *to);
/* And that may be coloured: NO_COLOR is not set, or empty. */
bool ek_terminal_colour(FILE *to);
/* Of the stream; by COLUMNS and LINES where it does not say, else 80 and 24. */
void ek_terminal_size(FILE *to, int *columns, int *rows);
/* By LC_ALL, LC_CTYPE and LANG, the first of them that is set. */
bool ek_terminal_utf8(void);

#endif
