/* Text for people, broken between words so that no line is longer than 79 columns. Later lines
 * stand two columns further in. What may not be shown is a question mark.
 *
 * Value type. A word that is longer stands on a line of its own.
 */
#ifndef EK_DAEMON_PARAGRAPH_H
#define EK_DAEMON_PARAGRAPH_H

#include <stdio.h>

struct ek_paragraph {
    FILE *to;
    int indent, column;
};

/* Begins one that far in. */
struct ek_paragraph ek_paragraph_start(FILE *to, int indent);
/* Adds words, with one space between and before them. The first is never broken away. */
void ek_paragraph_words(struct ek_paragraph *p, const char *text);
void ek_paragraph_end(struct ek_paragraph *p);

#endif
