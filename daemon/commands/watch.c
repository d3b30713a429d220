#include "daemon/commands/watch.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/base/terminal.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

enum { SCREEN_BYTES = 65536, END_OF_INPUT = 4 };

/* What was changed of the terminal and of signals, to be put back. */
struct watch {
    struct termios before;
    bool keys;   /* are read */
    bool screen; /* is taken over */
    sigset_t mask;
    int signals;
};

/* Bytes of the first `columns` characters of a line, or all. */
static size_t cut(const char *line, size_t length, int columns)
{
    size_t at = 0;
    for (int column = 0; at < length && column < columns; column++) {
        size_t bytes = ek_utf8_length((const unsigned char *)line + at, length - at);
        at += bytes ? bytes : 1;
    }
    return at;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (const char *p = text; *p; count++) {
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
    return count;
}

void ek_watch_draw(const char *text, int columns, int rows, bool colour, FILE *to)
{
    int lines = count_lines(text), shown = lines > rows ? rows - 1 : lines;
    fputs("\033[H", to);
    for (int i = 0; i < shown; i++) {
        size_t length = strcspn(text, "\n");
        bool title = colour && !i;
        /* Cleared before it is written: behind its last column the cursor would take that along. */
        fprintf(to, "\033[K%s%.*s%s%s", title ? "\033[1m" : "", (int)cut(text, length, columns),
                text, title ? "\033[0m" : "", i + 1 < rows ? "\n" : "");
        text += length + (text[length] == '\n');
    }
    if (lines > shown)
        fprintf(to, "\033[K... %d more lines", lines - shown);
    fputs("\033[J", to);
    fflush(to);
}

/* From the first look on, or a signal in between would leave things as they are. */
static void begin(struct watch *w)
{
    sigset_t ours;
    memset(w, 0, sizeof *w);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGWINCH);
    sigprocmask(SIG_BLOCK, &ours, &w->mask);
    w->signals = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void take_screen(struct watch *w)
{
    w->screen = true;
    w->keys = !tcgetattr(STDIN_FILENO, &w->before);
    if (w->keys) {
        struct termios now = w->before;
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        now.c_cc[VSUSP] = _POSIX_VDISABLE; /* would leave the screen as it is */
        tcsetattr(STDIN_FILENO, TCSANOW, &now);
    }
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
}

static void end(const struct watch *w)
{
    if (w->screen)
        fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (w->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &w->before);
    if (w->signals >= 0)
        close(w->signals);
    sigprocmask(SIG_SETMASK, &w->mask, NULL);
}

/* True: that was the last look. */
static bool asked_to_end(const struct watch *w, const struct pollfd ready[2])
{
    struct signalfd_siginfo signal;
    char key = 0;
    if (ready[0].revents && read(w->signals, &signal, sizeof signal) == sizeof signal)
        return signal.ssi_signo != SIGWINCH;
    if (!ready[1].revents)
        return false;
    return read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == END_OF_INPUT;
}

/* Until the next look; a key or another size is one, too. */
static bool goes_on(const struct watch *w, int every_ms)
{
    struct pollfd ready[2] = {{w->signals, POLLIN, 0}, {w->keys ? STDIN_FILENO : -1, POLLIN, 0}};
    int count = poll(ready, 2, every_ms);
    return count <= 0 || !asked_to_end(w, ready);
}

/* Into `text` [SCREEN_BYTES]; what goes wrong stands there instead. */
static int look(const struct ek_watch_source *source, char *text, struct ek_error *e)
{
    memset(text, 0, SCREEN_BYTES);
    int columns, rows;
    FILE *to = fmemopen(text, SCREEN_BYTES - 1, "w");
    if (!to)
        return ek_fail(e, EK_ENOMEM, "no memory for a screen");
    ek_terminal_size(stdout, &columns, &rows);
    int rc = source->screen(source->of, columns, rows, to, e);
    fclose(to);
    if (rc)
        snprintf(text, SCREEN_BYTES, "%s\n\nasking again; q ends\n", e->message);
    return rc;
}

static int watch_screen(const struct ek_watch_source *source, int every_ms, char *text,
                        struct ek_error *e)
{
    struct watch w;
    int columns, rows;
    begin(&w);
    int rc = look(source, text, e);
    if (!rc)
        take_screen(&w);
    for (bool more = !rc; more;) {
        ek_terminal_size(stdout, &columns, &rows);
        ek_watch_draw(text, columns, rows, ek_terminal_colour(stdout), stdout);
        more = goes_on(&w, every_ms);
        if (more)
            look(source, text, e);
    }
    end(&w);
    return rc;
}

static int watch_lines(const struct ek_watch_source *source, int every_ms, struct ek_error *e)
{
    struct watch w;
    begin(&w);
    int rc = source->line(source->of, stdout, e);
    bool good = !rc;
    while (good && !fflush(stdout) && goes_on(&w, every_ms)) {
        if (source->line(source->of, stdout, e))
            fprintf(stderr, "evenkeel: %s\n", e->message);
        good = !ferror(stdout);
    }
    end(&w);
    return rc;
}

int ek_watch(const struct ek_watch_source *source, int every_ms, bool lines, struct ek_error *e)
{
    if (lines || !ek_terminal_live(stdout))
        return watch_lines(source, every_ms, e);
    char *text = ek_calloc(1, SCREEN_BYTES);
    if (!text)
        return ek_fail(e, EK_ENOMEM, "no memory for a screen");
    int rc = watch_screen(source, every_ms, text, e);
    ek_free(text);
    return rc;
}
