#include "daemon/views/traffic_history.h"

#include "base/alloc.h"
#include "base/json.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

struct ek_traffic_history {
    pthread_mutex_t lock;
    uint64_t counted; /* lists of this process */
    uint64_t last_lists;
    int64_t last_event_ms; /* -1: none yet */
    struct {
        uint64_t counted;
        int64_t now_ms;
    } sample[EK_TRAFFIC_SAMPLES]; /* oldest first */
    int samples;
    int64_t minute; /* newest one with lists; -1: none */
    double lists[EK_TRAFFIC_MINUTES];
};

struct ek_traffic_history *ek_traffic_history_new(void)
{
    struct ek_traffic_history *h = ek_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    pthread_mutex_init(&h->lock, NULL);
    h->minute = -1;
    h->last_event_ms = -1;
    return h;
}

void ek_traffic_history_free(struct ek_traffic_history *h)
{
    if (!h)
        return;
    pthread_mutex_destroy(&h->lock);
    ek_free(h);
}

static double *bucket(struct ek_traffic_history *h, int64_t minute)
{
    return &h->lists[minute % EK_TRAFFIC_MINUTES];
}

/* Clear the minutes up to this one. */
static void advance(struct ek_traffic_history *h, int64_t minute)
{
    int64_t from = h->minute + 1;
    if (from < minute - EK_TRAFFIC_MINUTES + 1)
        from = minute - EK_TRAFFIC_MINUTES + 1;
    for (int64_t m = from < 0 ? 0 : from; m <= minute; m++)
        *bucket(h, m) = 0;
    if (minute > h->minute)
        h->minute = minute;
}

/* Add lists evenly over the time from `from` (without) to `to`. */
static void spread(struct ek_traffic_history *h, double lists, int64_t from, int64_t to)
{
    int64_t last = to / EK_TRAFFIC_MINUTE_MS;
    advance(h, last);
    if (from >= to || from < 0 || last - from / EK_TRAFFIC_MINUTE_MS >= EK_TRAFFIC_MINUTES)
        from = to - 1;
    double length = (double)(to - from);
    while (from < to) {
        int64_t minute = (from + 1) / EK_TRAFFIC_MINUTE_MS;
        int64_t end = (minute + 1) * EK_TRAFFIC_MINUTE_MS - 1;
        end = end < to ? end : to;
        if (minute > h->minute - EK_TRAFFIC_MINUTES)
            *bucket(h, minute) += lists * (double)(end - from) / length;
        from = end;
    }
}

/* Return the new lists. A restored state adds lists without messages, and a message counts some
 * time before its list, so compare with all messages so far. */
static uint64_t count_new(const struct ek_traffic_history *h, const struct ek_traffic_sample *s)
{
    uint64_t lists = s->lists > h->last_lists ? s->lists - h->last_lists : 0;
    uint64_t messages = s->messages > h->counted ? s->messages - h->counted : 0;
    return lists < messages ? lists : messages;
}

/* Keep the count; the oldest one goes. */
static void keep_count(struct ek_traffic_history *h, int64_t now_ms)
{
    if (h->samples == EK_TRAFFIC_SAMPLES) {
        for (int i = 1; i < h->samples; i++)
            h->sample[i - 1] = h->sample[i];
        h->samples--;
    }
    h->sample[h->samples].counted = h->counted;
    h->sample[h->samples++].now_ms = now_ms;
}

void ek_traffic_history_add(struct ek_traffic_history *h, const struct ek_traffic_sample *s)
{
    pthread_mutex_lock(&h->lock);
    int64_t event_ms = s->event_ms < s->wall_ms ? s->event_ms : s->wall_ms;
    uint64_t lists = count_new(h, s);
    if (lists && event_ms >= 0)
        spread(h, (double)lists, h->last_event_ms, event_ms);
    h->counted += lists;
    h->last_lists = s->lists;
    h->last_event_ms = event_ms;
    keep_count(h, s->now_ms);
    pthread_mutex_unlock(&h->lock);
}

double ek_traffic_history_rate(struct ek_traffic_history *h)
{
    double lists = 0, seconds = 0;
    pthread_mutex_lock(&h->lock);
    if (h->samples > 1) {
        lists = (double)(h->sample[h->samples - 1].counted - h->sample[0].counted);
        seconds = (double)(h->sample[h->samples - 1].now_ms - h->sample[0].now_ms) / 1000;
    }
    pthread_mutex_unlock(&h->lock);
    return seconds > 0 ? lists / seconds : 0;
}

int ek_traffic_history_json(struct ek_traffic_history *h, struct ek_buf *out)
{
    struct ek_json_writer w;
    pthread_mutex_lock(&h->lock);
    bool any = h->minute >= 0;
    int64_t first = any && h->minute >= EK_TRAFFIC_MINUTES ? h->minute - EK_TRAFFIC_MINUTES + 1 : 0;
    if (any) {
        ek_json_init(&w, out);
        ek_json_open(&w, NULL, '{');
        ek_json_add_integer(&w, "from_ms", first * EK_TRAFFIC_MINUTE_MS);
        ek_json_open(&w, "lists", '[');
        for (int64_t m = first; m <= h->minute; m++)
            ek_json_add_integer(&w, NULL, llround(*bucket(h, m)));
        ek_json_close(&w, ']');
        ek_json_close(&w, '}');
    } else {
        ek_buf_text(out, "null");
    }
    pthread_mutex_unlock(&h->lock);
    return out->rc;
}
