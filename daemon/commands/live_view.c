#include "daemon/commands/live_view.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/date.h"
#include "daemon/base/clock.h"
#include "daemon/base/signals.h"
#include "daemon/base/text_table.h"
#include "daemon/commands/client_print.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { SCREEN_BYTES = 65536, HEAD_BYTES = 1000, END_OF_INPUT = 4 };

/* Previous terminal and signal settings, to restore. */
struct watch {
    struct termios before;
    bool keys;   /* keys are read */
    bool screen; /* screen is in use */
    struct ek_signals signals;
};

/* Return the bytes of the first `columns` characters of a line. */
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

void ek_live_view_draw(const char *text, int columns, int rows, bool color, FILE *to)
{
    int lines = count_lines(text), shown = lines > rows ? rows - 1 : lines;
    fputs("\033[H", to);
    for (int i = 0; i < shown; i++) {
        size_t length = strcspn(text, "\n");
        bool title = color && !i;
        /* Clear before writing: after the last column, clearing would erase the last character. */
        fprintf(to, "\033[K%s%.*s%s%s", title ? "\033[1m" : "", (int)cut(text, length, columns),
                text, title ? "\033[0m" : "", i + 1 < rows ? "\n" : "");
        text += length + (text[length] == '\n');
    }
    if (lines > shown)
        fprintf(to, "\033[K... %d more lines", lines - shown);
    fputs("\033[J", to);
    fflush(to);
}

/* Install handlers before the first output, because an earlier signal would not restore the
 * terminal. */
static void begin(struct watch *w)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGWINCH};
    memset(w, 0, sizeof *w);
    ek_signals_begin(&w->signals, numbers, 3);
}

static void open_screen(struct watch *w)
{
    w->screen = true;
    w->keys = !tcgetattr(STDIN_FILENO, &w->before);
    if (w->keys) {
        struct termios now = w->before;
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        now.c_lflag |= NOFLSH; /* else Ctrl-C can discard the output that restores the screen */
        now.c_cc[VSUSP] = _POSIX_VDISABLE; /* suspending would not restore the screen */
        tcsetattr(STDIN_FILENO, TCSANOW, &now);
    }
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
}

static void end(struct watch *w)
{
    if (w->screen)
        fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (w->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &w->before);
    ek_signals_end(&w->signals);
}

/* Return true on q, Ctrl-C or a closed terminal. */
static bool is_quit_requested(const struct watch *w, const struct pollfd ready[2])
{
    char key = 0;
    int number = ready[0].revents ? ek_signals_read(&w->signals) : 0;
    if (number)
        return number != SIGWINCH;
    if (!ready[1].revents)
        return false;
    return read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == END_OF_INPUT;
}

/* Wait for the interval, a key or a change of size. Return false to end. */
static bool wait_next(const struct watch *w, int every_ms)
{
    struct pollfd ready[2] = {{w->signals.fd, POLLIN, 0}, {w->keys ? STDIN_FILENO : -1, POLLIN, 0}};
    int count = poll(ready, 2, every_ms);
    return count <= 0 || !is_quit_requested(w, ready);
}

static int fail_foreign(const struct ek_live_view *w, struct ek_error *e)
{
    return ek_fail(e, EK_EIO, "%s: the response is not from evenkeel", w->url);
}

static int request_summary(const struct ek_live_view *w, char text[HEAD_BYTES], struct ek_error *e)
{
    int rc = w->request(w->context, "/api/v1/status", e);
    if (rc)
        return rc;
    return ek_client_summary(yyjson_doc_get_root(*w->doc), text, HEAD_BYTES) ? EK_OK
                                                                             : fail_foreign(w, e);
}

static int print_json(const struct ek_live_view *w, struct ek_error *e)
{
    int rc = w->request(w->context, "/api/v1/status", e);
    const struct ek_buf *text = w->answer;
    if (rc)
        return rc;
    fwrite(text->data, 1, text->length, stdout);
    if (text->length && text->data[text->length - 1] != '\n')
        fputc('\n', stdout);
    return EK_OK;
}

/* Print the status in one line that starts with the time, like a log line. */
static int print_line(const struct ek_live_view *w, struct ek_error *e)
{
    char when[EK_DATE_TEXT], text[HEAD_BYTES];
    int rc = request_summary(w, text, e);
    if (rc)
        return rc;
    printf("%s ", ek_date_text(ek_wall_ms(), when));
    ek_print_safe(text, stdout);
    putchar('\n');
    return EK_OK;
}

/* Print the status line, wrapped to the screen. */
static int print_head(const struct ek_live_view *w, struct ek_row_limit *room, FILE *to,
                      struct ek_error *e)
{
    char when[EK_DATE_TEXT], text[HEAD_BYTES] = "";
    int rc = request_summary(w, text, e);
    fprintf(to, "evenkeel  %s  %s  q ends\n", w->url, ek_date_text(ek_wall_ms(), when));
    room->lines -= 1 + ek_print_wrapped(text, room->columns, to);
    return rc;
}

static int print_part(const struct ek_live_view *w, const char *path, ek_client_printer *print,
                      struct ek_row_limit *room, FILE *to, struct ek_error *e)
{
    int rc = w->request(w->context, path, e);
    if (rc)
        return rc;
    return print(yyjson_doc_get_root(*w->doc), room, to) ? EK_OK : fail_foreign(w, e);
}

/* Write the current contents without control characters; lines beyond the size are cut. Routes keep
 * a third of the screen, however many findings are open. */
static int print_screen(const struct ek_live_view *v, int columns, int rows, FILE *to,
                        struct ek_error *e)
{
    struct ek_row_limit room = {columns, rows};
    int rc = print_head(v, &room, to, e);
    int kept = room.lines / 3;
    room.lines -= kept;
    if (!rc)
        rc = print_part(v, "/api/v1/findings", ek_client_print_findings, &room, to, e);
    room.lines += kept;
    if (!rc)
        rc = print_part(v, "/api/v1/plan", ek_client_print_plan, &room, to, e);
    return rc ? rc : print_part(v, "/api/v1/impact", ek_client_print_rollbacks, &room, to, e);
}

/* Render into `text` [SCREEN_BYTES]. An error replaces the contents. */
static int render(const struct ek_live_view *v, char *text, struct ek_error *e)
{
    memset(text, 0, SCREEN_BYTES);
    int columns, rows;
    FILE *to = fmemopen(text, SCREEN_BYTES - 1, "w");
    if (!to)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_terminal_size(stdout, &columns, &rows);
    int rc = print_screen(v, columns, rows, to, e);
    fclose(to);
    if (rc)
        snprintf(text, SCREEN_BYTES, "%s\n\nretrying; q ends\n", e->message);
    return rc;
}

static int watch_screen(const struct ek_live_view *v, char *text, struct ek_error *e)
{
    struct watch w;
    int columns, rows;
    begin(&w);
    int rc = render(v, text, e);
    if (!rc)
        open_screen(&w);
    for (bool more = !rc; more;) {
        ek_terminal_size(stdout, &columns, &rows);
        ek_live_view_draw(text, columns, rows, ek_terminal_color(stdout), stdout);
        more = wait_next(&w, v->every_ms);
        if (more)
            render(v, text, e);
    }
    end(&w);
    return rc;
}

static int watch_lines(const struct ek_live_view *v, struct ek_error *e)
{
    struct watch w;
    begin(&w);
    int (*print)(const struct ek_live_view *v, struct ek_error *e) =
        v->json ? print_json : print_line;
    int rc = print(v, e);
    bool good = !rc;
    while (good && !fflush(stdout) && wait_next(&w, v->every_ms)) {
        if (print(v, e))
            fprintf(stderr, "evenkeel: %s\n", e->message);
        good = !ferror(stdout);
    }
    end(&w);
    return rc;
}

/* Fails only with the first rendering; later errors are shown and retried. */
int ek_live_view_run(const struct ek_live_view *watch, struct ek_error *e)
{
    if (watch->json || !ek_terminal_live(stdout))
        return watch_lines(watch, e);
    char *text = ek_calloc(1, SCREEN_BYTES);
    if (!text)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = watch_screen(watch, text, e);
    ek_free(text);
    return rc;
}
