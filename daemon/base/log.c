#include "daemon/base/log.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/base/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const int64_t FIRST_MS = -62167219200000, LAST_MS = 253402300799999;

char *ek_rfc3339(int64_t time_ms, char out[EK_RFC3339_BYTES])
{
    struct tm utc;
    int64_t ms = time_ms < FIRST_MS ? FIRST_MS : time_ms > LAST_MS ? LAST_MS : time_ms;
    int rest = (int)(((ms % 1000) + 1000) % 1000);
    time_t seconds = (time_t)((ms - rest) / 1000);
    gmtime_r(&seconds, &utc);
    snprintf(out, EK_RFC3339_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
             (utc.tm_year + 1900) % 10000, (utc.tm_mon + 1) % 100, utc.tm_mday % 100,
             utc.tm_hour % 100, utc.tm_min % 100, utc.tm_sec % 100, rest);
    return out;
}

enum { RATE_SLOTS = 64, RATE_MAX = 10, RATE_WINDOW_MS = 1000, LINE_BYTES = 2048 };

struct rate {
    const char *event;
    enum ek_log_level level; /* of the last suppressed line */
    int64_t since_ms;
    int written;
    unsigned long suppressed;
};

struct ek_log {
    FILE *to;
    atomic_int level; /* enum ek_log_level */
    pthread_mutex_t lock;
    struct rate rates[RATE_SLOTS];
};

static const char *const LEVELS[] = {"debug", "info", "warn", "error"};

struct ek_log *ek_log_new(FILE *to, enum ek_log_level level)
{
    struct ek_log *l = ek_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->to = to;
    atomic_init(&l->level, (int)level);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void ek_log_set_level(struct ek_log *l, enum ek_log_level level)
{
    if (l)
        atomic_store(&l->level, (int)level);
}

/* Return the slot of an event. There are few events; if the table is full, they share the last
 * slot. */
static struct rate *get_rate(struct ek_log *l, const char *event)
{
    int i = 0;
    while (i < RATE_SLOTS - 1 && l->rates[i].event && strcmp(l->rates[i].event, event) != 0)
        i++;
    if (!l->rates[i].event)
        l->rates[i].event = event;
    return &l->rates[i];
}

static void write_prefix(struct ek_log *l, enum ek_log_level level, const char *event)
{
    int64_t now = ek_wall_ms();
    time_t seconds = (time_t)(now / 1000);
    struct tm utc;
    char stamp[32];
    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(l->to, "time=%s.%03dZ level=%s event=%s", stamp, (int)(now % 1000), LEVELS[level],
            event);
}

static void write_suppressed(struct ek_log *l, struct rate *r)
{
    if (!r->suppressed)
        return;
    write_prefix(l, r->level, r->event);
    fprintf(l->to, " suppressed=%lu\n", r->suppressed);
    r->suppressed = 0;
}

/* Return false if the event has reached its rate limit. */
static bool is_allowed(struct ek_log *l, enum ek_log_level level, const char *event)
{
    struct rate *r = get_rate(l, event);
    int64_t now = ek_now_ms();
    if (now - r->since_ms >= RATE_WINDOW_MS) {
        write_suppressed(l, r);
        r->since_ms = now;
        r->written = 0;
    }
    if (r->written < RATE_MAX) {
        r->written++;
        return true;
    }
    r->level = level;
    r->suppressed++;
    return false;
}

static void flush_suppressed(struct ek_log *l, int64_t now_ms)
{
    for (int i = 0; i < RATE_SLOTS && l->rates[i].event; i++)
        if (now_ms - l->rates[i].since_ms >= RATE_WINDOW_MS)
            write_suppressed(l, &l->rates[i]);
    fflush(l->to);
}

void ek_log_flush_suppressed(struct ek_log *l, int64_t now_ms)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    flush_suppressed(l, now_ms);
    pthread_mutex_unlock(&l->lock);
}

void ek_log_free(struct ek_log *l)
{
    if (!l)
        return;
    flush_suppressed(l, INT64_MAX);
    pthread_mutex_destroy(&l->lock);
    ek_free(l);
}

static bool open_line(struct ek_log *l, enum ek_log_level level, const char *event, bool always)
{
    if (!l || (int)level < atomic_load_explicit(&l->level, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&l->lock);
    if (!always && !is_allowed(l, level, event)) {
        pthread_mutex_unlock(&l->lock);
        return false;
    }
    write_prefix(l, level, event);
    return true;
}

static void close_line(struct ek_log *l)
{
    fputc('\n', l->to);
    fflush(l->to);
    pthread_mutex_unlock(&l->lock);
}

void ek_log_write(struct ek_log *l, enum ek_log_level level, const char *event, const char *format,
                  ...)
{
    char text[LINE_BYTES];
    if (!open_line(l, level, event, false))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(l->to, "%s%s", *text ? " " : "", text);
    close_line(l);
}

void ek_log_text(struct ek_log *l, enum ek_log_level level, const char *event, const char *text)
{
    struct ek_buf quoted;
    ek_buf_init(&quoted, 0);
    if (open_line(l, level, event, false)) {
        if (!ek_buf_json(&quoted, text, strlen(text)))
            fprintf(l->to, " message=%.*s", (int)quoted.length, (const char *)quoted.data);
        close_line(l);
    }
    ek_buf_release(&quoted);
}

void ek_log_pairs(struct ek_log *l, enum ek_log_level level, const char *event, const char *pairs)
{
    if (!open_line(l, level, event, true))
        return;
    fputs(pairs, l->to);
    close_line(l);
}
