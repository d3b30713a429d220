#include "daemon/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

void ek_terminal_size(FILE *to, int *columns, int *rows)
{
    struct winsize size;
    bool known = !ioctl(fileno(to), TIOCGWINSZ, &size);
    *columns = known && size.ws_col ? size.ws_col : EK_TERMINAL_COLUMNS;
    *rows = known && size.ws_row ? size.ws_row : EK_TERMINAL_ROWS;
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
