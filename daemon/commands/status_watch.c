#include "daemon/commands/status_watch.h"

#include "daemon/base/clock.h"
#include "base/date.h"
#include "daemon/commands/tell_print.h"
#include "daemon/commands/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_BYTES = 1000 };

/* What was seen the last time, for what has come since. */
struct seen {
    const struct ek_status_watch *watch;
    double consumed; /* NAN: nothing was */
    int64_t at_ms;
};

static int strange(const struct seen *s, struct ek_error *e)
{
    return ek_fail(e, EK_EIO, "%s: what answers there is not evenkeel", s->watch->url);
}

static const struct ek_buf *ask(struct seen *s, const char *path, struct ek_error *e)
{
    return s->watch->ask(s->watch->of, path, e);
}

/* Messages in a second since the last look; NAN: not known. A restart begins at 0 again. */
static double rate_since(struct seen *s, double consumed)
{
    int64_t now = ek_now_ms();
    double rate = now > s->at_ms && consumed >= s->consumed
                      ? 1000 * (consumed - s->consumed) / (double)(now - s->at_ms)
                      : NAN;
    s->consumed = consumed;
    s->at_ms = now;
    return rate;
}

/* `dated`: begins with the time, as a line of a log does. */
static int one_line(struct seen *s, bool dated, FILE *to, struct ek_error *e)
{
    char when[EK_DATE_TEXT];
    const struct ek_buf *answer = ask(s, "/api/v1/status", e);
    if (!answer)
        return EK_EIO;
    if (s->watch->json) {
        fwrite(answer->data, 1, answer->length, to);
        if (answer->length && answer->data[answer->length - 1] != '\n')
            fputc('\n', to);
        return EK_OK;
    }
    if (dated)
        fprintf(to, "%s ", ek_date_text(ek_wall_ms(), when));
    double rate = rate_since(s, ek_tell_consumed(answer));
    return ek_tell_line(answer, rate, to) ? strange(s, e) : EK_OK;
}

static int line(void *of, FILE *to, struct ek_error *e)
{
    return one_line(of, true, to, e);
}

/* The line, broken to the screen. */
static int head(struct seen *s, struct ek_room *room, FILE *to, struct ek_error *e)
{
    char when[EK_DATE_TEXT], text[HEAD_BYTES] = "";
    FILE *into = fmemopen(text, sizeof text - 1, "w");
    if (!into)
        return ek_fail(e, EK_ENOMEM, "no memory for a screen");
    int rc = one_line(s, false, into, e);
    fclose(into);
    text[strcspn(text, "\n")] = 0;
    fprintf(to, "evenkeel  %s  %s  q ends\n", s->watch->url, ek_date_text(ek_wall_ms(), when));
    room->lines -= 1 + ek_print_wrapped(text, room->columns, to);
    return rc;
}

static int part(struct seen *s, const char *path,
                int (*tell)(const struct ek_buf *answer, struct ek_room *room, FILE *to),
                struct ek_room *room, FILE *to, struct ek_error *e)
{
    const struct ek_buf *answer = ask(s, path, e);
    if (!answer)
        return EK_EIO;
    return tell(answer, room, to) ? strange(s, e) : EK_OK;
}

/* What is in force has a third of the screen for itself, however much is open. */
static int screen(void *of, int columns, int rows, FILE *to, struct ek_error *e)
{
    struct seen *s = of;
    struct ek_room room = {columns, rows};
    int rc = head(s, &room, to, e);
    int kept = room.lines / 3;
    room.lines -= kept;
    if (!rc)
        rc = part(s, "/api/v1/findings", ek_tell_findings_in, &room, to, e);
    room.lines += kept;
    if (!rc)
        rc = part(s, "/api/v1/plan", ek_tell_plan_in, &room, to, e);
    return rc ? rc : part(s, "/api/v1/ranks", ek_tell_withdrawn_in, &room, to, e);
}

int ek_status_watch(const struct ek_status_watch *watch, struct ek_error *e)
{
    struct seen s = {watch, NAN, ek_now_ms()};
    const struct ek_watch_source source = {&s, screen, line};
    return ek_watch(&source, watch->every_ms, watch->json, e);
}
