#include "daemon/base/terminal.h"

#include "base/parse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SIZE_MOST = 1000 };

bool ek_terminal_live(FILE *to)
{
    const char *term = getenv("TERM");
    return isatty(fileno(to)) && term && *term && strcmp(term, "dumb") != 0;
}

bool ek_terminal_colour(FILE *to)
{
    const char *no_color = getenv("NO_COLOR");
    return ek_terminal_live(to) && !(no_color && *no_color);
}

static int size_of(int told, const char *name, int otherwise)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    if (told > 0)
        return told;
    return text && !ek_parse_u64(text, EK_WHOLE, &number) && number && number <= SIZE_MOST
               ? (int)number
               : otherwise;
}

void ek_terminal_size(FILE *to, int *columns, int *rows)
{
    struct winsize size = {0};
    if (ioctl(fileno(to), TIOCGWINSZ, &size))
        size = (struct winsize){0};
    *columns = size_of(size.ws_col, "COLUMNS", EK_TERMINAL_COLUMNS);
    *rows = size_of(size.ws_row, "LINES", EK_TERMINAL_ROWS);
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
