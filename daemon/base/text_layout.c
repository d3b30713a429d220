#include "daemon/base/text_layout.h"

#include "base/parse.h"
#include "daemon/base/text_table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 79 };

struct ek_paragraph ek_paragraph_start(FILE *to, int indent)
{
    fprintf(to, "%*s", indent, "");
    return (struct ek_paragraph){to, indent, indent};
}

void ek_paragraph_add(struct ek_paragraph *p, const char *text)
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

enum { MAX_SIZE = 1000 };

bool ek_terminal_live(FILE *to)
{
    const char *term = getenv("TERM");
    return isatty(fileno(to)) && term && *term && strcmp(term, "dumb") != 0;
}

bool ek_terminal_color(FILE *to)
{
    const char *no_color = getenv("NO_COLOR");
    return ek_terminal_live(to) && !(no_color && *no_color);
}

static int get_size(int known, const char *name, int fallback)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    if (known > 0)
        return known;
    return text && !ek_parse_u64(text, EK_WHOLE, &number) && number && number <= MAX_SIZE
               ? (int)number
               : fallback;
}

void ek_terminal_size(FILE *to, int *columns, int *rows)
{
    struct winsize size = {0};
    if (ioctl(fileno(to), TIOCGWINSZ, &size))
        size = (struct winsize){0};
    *columns = get_size(size.ws_col, "COLUMNS", EK_TERMINAL_COLUMNS);
    *rows = get_size(size.ws_row, "LINES", EK_TERMINAL_ROWS);
}

bool ek_terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}
