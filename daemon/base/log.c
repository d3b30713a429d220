#include "daemon/base/log.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

enum {
    RATE_SLOTS = 64,
    RATE_MAX = 10,
    RATE_WINDOW_MS = 1000,
    FOLDED_MAX = 1, /* for an event that had suppressed lines in the window before */
    FOLDED_WINDOW_MS = 10000,
    LINE_BYTES = 2048,
    RING_BYTES = 1 << 20,
    WRITE_BYTES = 4096, /* PIPE_BUF: a pipe that polls as writable takes them without waiting */
    POLL_MS = 100,
    DRAIN_MS = 1000 /* for the last lines, when the log is freed */
};

struct rate {
    const char *event;
    enum ek_log_level level; /* of the last suppressed line */
    int64_t since_ms;
    int written;
    unsigned long suppressed;
    bool folded;
};

struct ek_log {
    FILE *to;
    atomic_int level; /* enum ek_log_level */
    enum ek_log_format format;
    pthread_mutex_t lock; /* guards the fields below */
    struct rate rates[RATE_SLOTS];
    char *ring; /* [RING_BYTES] lines for the thread; NULL: lines are written by the caller */
    size_t first, filled;
    uint64_t dropped, dropped_reported;
    bool stop;
    pthread_cond_t more;
    pthread_t thread;
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
    pthread_cond_init(&l->more, NULL);
    return l;
}

void ek_log_set_format(struct ek_log *l, enum ek_log_format format)
{
    l->format = format;
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

/* Put bytes into the ring, or write them. Drops a line that does not fit. Call under the lock. */
static void emit_bytes(struct ek_log *l, const void *bytes, size_t length)
{
    if (!l->ring) {
        fwrite(bytes, 1, length, l->to);
        return;
    }
    if (length > RING_BYTES - l->filled) {
        l->dropped++;
        return;
    }
    size_t at = (l->first + l->filled) % RING_BYTES;
    size_t until_end = RING_BYTES - at < length ? RING_BYTES - at : length;
    memcpy(l->ring + at, bytes, until_end);
    memcpy(l->ring, (const char *)bytes + until_end, length - until_end);
    l->filled += length;
    pthread_cond_signal(&l->more);
}

/* Emit a logfmt line in the format of the log. Call under the lock. */
static void emit(struct ek_log *l, const void *bytes, size_t length)
{
    struct ek_buf json;
    if (l->format == EK_LOG_LOGFMT) {
        emit_bytes(l, bytes, length);
        return;
    }
    ek_buf_init(&json, 0);
    if (ek_log_json(bytes, length, &json))
        l->dropped++;
    else
        emit_bytes(l, json.data, json.length);
    ek_buf_release(&json);
}

static void add_head(struct ek_buf *line, enum ek_log_level level, const char *event)
{
    char stamp[EK_RFC3339_BYTES];
    ek_buf_printf(line, "time=%s level=%s event=%s", ek_rfc3339(ek_wall_ms(), stamp), LEVELS[level],
                  event);
}

/* Emit a short line. Call under the lock. */
static void emit_count(struct ek_log *l, enum ek_log_level level, const char *event,
                       const char *name, uint64_t count)
{
    struct ek_buf line;
    ek_buf_init(&line, 0);
    add_head(&line, level, event);
    if (!ek_buf_printf(&line, " %s=%llu\n", name, (unsigned long long)count))
        emit(l, line.data, line.length);
    ek_buf_release(&line);
}

/* Report the lines that were dropped before, once there is room again. */
static void report_dropped(struct ek_log *l)
{
    uint64_t count = l->dropped - l->dropped_reported;
    if (!count || l->filled > RING_BYTES / 2)
        return;
    emit_count(l, EK_LOG_WARN, "log_lines_dropped", "count", count);
    l->dropped_reported = l->dropped;
}

static void write_suppressed(struct ek_log *l, struct rate *r)
{
    if (!r->suppressed)
        return;
    emit_count(l, r->level, r->event, "suppressed", r->suppressed);
    r->suppressed = 0;
}

static bool is_window_over(const struct rate *r, int64_t now_ms)
{
    return now_ms - r->since_ms >= (r->folded ? FOLDED_WINDOW_MS : RATE_WINDOW_MS);
}

static void start_window(struct ek_log *l, struct rate *r, int64_t now_ms)
{
    r->folded = r->suppressed > 0;
    write_suppressed(l, r);
    r->since_ms = now_ms;
    r->written = 0;
}

/* Return false if the event has reached its rate limit. */
static bool is_allowed(struct ek_log *l, enum ek_log_level level, const char *event)
{
    struct rate *r = get_rate(l, event);
    int64_t now = ek_now_ms();
    if (is_window_over(r, now))
        start_window(l, r, now);
    if (r->written < (r->folded ? FOLDED_MAX : RATE_MAX)) {
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
        if (l->rates[i].suppressed && is_window_over(&l->rates[i], now_ms))
            start_window(l, &l->rates[i], now_ms);
    if (!l->ring)
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

static bool is_writable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    return poll(&one, 1, POLL_MS) > 0;
}

/* Remove up to WRITE_BYTES from the ring and write them without the lock. Return false at the
 * end. */
static bool write_some(struct ek_log *l, int fd)
{
    char bytes[WRITE_BYTES];
    pthread_mutex_lock(&l->lock);
    while (!l->filled && !l->stop)
        pthread_cond_wait(&l->more, &l->lock);
    size_t length = l->filled < sizeof bytes ? l->filled : sizeof bytes;
    if (length > RING_BYTES - l->first)
        length = RING_BYTES - l->first;
    memcpy(bytes, l->ring + l->first, length);
    bool end = l->stop && !l->filled;
    pthread_mutex_unlock(&l->lock);
    if (end)
        return false;
    if (!is_writable(fd))
        return true;
    ssize_t written = write(fd, bytes, length);
    bool again = written < 0 && (errno == EINTR || errno == EAGAIN);
    size_t gone = written > 0 ? (size_t)written : again ? 0 : length; /* a broken stream */
    pthread_mutex_lock(&l->lock);
    l->first = (l->first + gone) % RING_BYTES;
    l->filled -= gone;
    report_dropped(l);
    pthread_mutex_unlock(&l->lock);
    return true;
}

static void *run(void *context)
{
    struct ek_log *l = context;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    int64_t until = INT64_MAX;
    while (ek_now_ms() < until && write_some(l, fileno(l->to))) {
        pthread_mutex_lock(&l->lock);
        if (l->stop && until == INT64_MAX)
            until = ek_now_ms() + DRAIN_MS;
        pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

int ek_log_start(struct ek_log *l, struct ek_error *e)
{
    char *ring = ek_calloc(1, RING_BYTES);
    if (!ring)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    fflush(l->to);
    l->ring = ring;
    int problem = pthread_create(&l->thread, NULL, run, l);
    if (!problem)
        return EK_OK;
    l->ring = NULL;
    ek_free(ring);
    return ek_fail(e, EK_EIO, "cannot start a thread: %s", strerror(problem));
}

uint64_t ek_log_dropped(struct ek_log *l)
{
    if (!l)
        return 0;
    pthread_mutex_lock(&l->lock);
    uint64_t dropped = l->dropped;
    pthread_mutex_unlock(&l->lock);
    return dropped;
}

static void stop(struct ek_log *l)
{
    if (!l->ring)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_signal(&l->more);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
}

void ek_log_free(struct ek_log *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    flush_suppressed(l, INT64_MAX);
    pthread_mutex_unlock(&l->lock);
    stop(l);
    pthread_cond_destroy(&l->more);
    pthread_mutex_destroy(&l->lock);
    ek_free(l->ring);
    ek_free(l);
}

/* Begin a line in `line`. Return false if it is not wanted. */
static bool open_line(struct ek_log *l, struct ek_buf *line, enum ek_log_level level,
                      const char *event, bool always)
{
    ek_buf_init(line, 0);
    if (!l || (int)level < atomic_load_explicit(&l->level, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&l->lock);
    bool wanted = always || is_allowed(l, level, event);
    pthread_mutex_unlock(&l->lock);
    if (wanted)
        add_head(line, level, event);
    return wanted;
}

static void close_line(struct ek_log *l, struct ek_buf *line)
{
    if (!ek_buf_text(line, "\n")) {
        pthread_mutex_lock(&l->lock);
        emit(l, line->data, line->length);
        if (!l->ring)
            fflush(l->to);
        pthread_mutex_unlock(&l->lock);
    }
}

void ek_log_write(struct ek_log *l, enum ek_log_level level, const char *event, const char *format,
                  ...)
{
    char text[LINE_BYTES];
    struct ek_buf line;
    if (open_line(l, &line, level, event, false)) {
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        ek_buf_printf(&line, "%s%s", *text ? " " : "", text);
        close_line(l, &line);
    }
    ek_buf_release(&line);
}

void ek_log_text(struct ek_log *l, enum ek_log_level level, const char *event, const char *text)
{
    struct ek_buf line;
    if (open_line(l, &line, level, event, false)) {
        ek_buf_text(&line, " message=");
        ek_buf_json(&line, text, strlen(text));
        close_line(l, &line);
    }
    ek_buf_release(&line);
}

void ek_log_pairs(struct ek_log *l, enum ek_log_level level, const char *event, const char *pairs)
{
    struct ek_buf line;
    if (open_line(l, &line, level, event, true)) {
        ek_buf_text(&line, pairs);
        close_line(l, &line);
    }
    ek_buf_release(&line);
}

static size_t count_digits(const char *at, const char *end)
{
    size_t n = 0;
    while (at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

/* Return whether the bytes are a JSON number: no leading zeros, infinities or signs of plus. */
static bool is_number(const char *at, const char *end)
{
    at += at < end && *at == '-';
    size_t whole = count_digits(at, end);
    if (!whole || (whole > 1 && *at == '0'))
        return false;
    at += whole;
    if (at < end && *at == '.') {
        size_t fraction = count_digits(at + 1, end);
        if (!fraction)
            return false;
        at += 1 + fraction;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        size_t exponent = count_digits(at, end);
        if (!exponent)
            return false;
        at += exponent;
    }
    return at == end;
}

static bool is_word(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && !memcmp(at, word, strlen(word));
}

/* Return the end of a value: the closing quote, or the next space. */
static const char *find_end(const char *at, const char *end)
{
    const char *c = at;
    while (c < end && *at != '"' && *c != ' ' && *c != '\n')
        c++;
    if (at == end || *at != '"')
        return c;
    for (c = at + 1; c < end; c++) {
        if (*c == '"')
            return c + 1;
        c += *c == '\\' && c + 1 < end;
    }
    return end;
}

/* Quoted values of a line are JSON strings; one that was cut has no closing quote. */
static void add_value(const char *at, const char *end, struct ek_buf *out)
{
    bool quoted = end - at > 1 && *at == '"' && end[-1] == '"';
    if (quoted || is_number(at, end) || is_word(at, end, "true") || is_word(at, end, "false"))
        ek_buf_add(out, at, (size_t)(end - at));
    else
        ek_buf_json(out, at, (size_t)(end - at));
}

int ek_log_json(const char *line, size_t length, struct ek_buf *out)
{
    const char *at = line, *end = line + length;
    const char *comma = "";
    ek_buf_text(out, "{");
    while (at < end) {
        if (*at == ' ' || *at == '\n') {
            at++;
            continue;
        }
        const char *stop = at;
        while (stop < end && *stop != '=' && *stop != ' ' && *stop != '\n')
            stop++;
        bool has_value = stop < end && *stop == '=';
        ek_buf_text(out, comma);
        ek_buf_json(out, at, (size_t)(stop - at));
        ek_buf_text(out, ":");
        at = has_value ? find_end(stop + 1, end) : stop;
        if (has_value)
            add_value(stop + 1, at, out);
        else
            ek_buf_text(out, "true");
        comma = ",";
    }
    return ek_buf_text(out, "}\n");
}
