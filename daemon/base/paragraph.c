#include "daemon/base/paragraph.h"

#include "daemon/base/columns.h"

#include <string.h>

enum { COLUMNS = 79 };

struct ek_paragraph ek_paragraph_start(FILE *to, int indent)
{
    fprintf(to, "%*s", indent, "");
    return (struct ek_paragraph){to, indent, indent};
}

void ek_paragraph_words(struct ek_paragraph *p, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (p->column > p->indent && p->column + 1 + length > COLUMNS) {
            fprintf(p->to, "\n%*s", p->indent + 2, "");
            p->column = p->indent + 2;
        } else if (p->column > p->indent) {
            p->column += fprintf(p->to, " ");
        }
        p->column += ek_print_safe_part(text, (size_t)length, p->to);
        text += length;
        text += strspn(text, " ");
    }
}

void ek_paragraph_end(struct ek_paragraph *p)
{
    fputc('\n', p->to);
}
