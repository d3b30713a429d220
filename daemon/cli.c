#include "daemon/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, TERMINAL_EVERY_MS = 100, LINE_EVERY_MS = 5000 };

int ek_cli_fail(const struct ek_error *e)
{
    char text[700];
    fprintf(stderr, "evenkeel: %s\n", ek_error_text(e, text, sizeof text));
    switch (e->code) {
    case EK_ECONFIG:
        return EK_EXIT_CONFIG;
    case EK_EUSAGE:
        return EK_EXIT_USAGE;
    default:
        return EK_EXIT_FAILURE;
    }
}

int ek_cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "evenkeel%s%s: ", command ? " " : "", command ? command : "");
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry 'evenkeel%s%s --help'.\n", command ? " " : "", command ? command : "");
    return EK_EXIT_USAGE;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t ek_now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t ek_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

void ek_progress_start(struct ek_progress *p, const char *label)
{
    p->label = label;
    p->terminal = isatty(STDERR_FILENO);
    p->shown = false;
    p->started_ms = p->last_ms = ek_now_ms();
}

static void draw_bar(double share)
{
    int full = (int)(share * BAR_WIDTH);
    fputs(" [", stderr);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < full ? '#' : '.', stderr);
    fputc(']', stderr);
}

void ek_progress_update(struct ek_progress *p, uint64_t done, uint64_t total, const char *note)
{
    int64_t now = ek_now_ms();
    if (now - p->last_ms < (p->terminal ? TERMINAL_EVERY_MS : LINE_EVERY_MS))
        return;
    p->last_ms = now;
    p->shown = true;
    double share = total ? (double)done / (double)total : 0;
    fprintf(stderr, "%s%s", p->terminal ? "\r" : "", p->label);
    if (p->terminal && total)
        draw_bar(share);
    if (total)
        fprintf(stderr, " %3.0f%%", 100 * share);
    else
        fprintf(stderr, " %llu", (unsigned long long)done);
    if (share > 0.02)
        fprintf(stderr, ", %.0f s left",
                (double)(now - p->started_ms) / 1000 * (1 - share) / share);
    fprintf(stderr, "%s%s%s", note ? ", " : "", note ? note : "", p->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

void ek_progress_finish(struct ek_progress *p, const char *note)
{
    double seconds = (double)(ek_now_ms() - p->started_ms) / 1000;
    if (p->terminal && p->shown)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "%s: %s%sin %.1f s\n", p->label, note ? note : "", note ? ", " : "", seconds);
}
