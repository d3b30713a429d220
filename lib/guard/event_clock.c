#include "guard/event_clock.h"

#include <stdlib.h>
#include <string.h>

static const int64_t DAY_MS = (int64_t)24 * 3600 * 1000;

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Add without overflow: message times are arbitrary. */
static int64_t later(int64_t time_ms, int64_t by_ms)
{
    return time_ms > INT64_MAX - by_ms ? INT64_MAX : time_ms + by_ms;
}

static int is_past(int64_t time_ms, int64_t than_ms, int64_t by_ms)
{
    return time_ms > later(than_ms, by_ms);
}

/* Follow the majority of the last lists if it is ahead, or too far behind. */
static void follow_largest(struct ek_event_clock *c, int64_t back_ms)
{
    int64_t sorted[EK_EVENT_CLOCK_LISTS];
    memcpy(sorted, c->last_ms, (size_t)c->seen * sizeof *sorted);
    qsort(sorted, (size_t)c->seen, sizeof *sorted, by_time);
    int64_t reached = sorted[(c->seen - 1) / 2], passed_by_few = sorted[c->seen / 2];
    if (reached > c->now_ms)
        c->now_ms = reached;
    else if (is_past(c->now_ms, passed_by_few, back_ms))
        c->now_ms = passed_by_few;
}

static void add_time(struct ek_event_clock *c, int64_t time_ms)
{
    c->last_ms[c->next] = time_ms;
    c->next = (c->next + 1) % EK_EVENT_CLOCK_LISTS;
    c->seen += c->seen < EK_EVENT_CLOCK_LISTS;
}

int64_t ek_event_clock_list(struct ek_event_clock *c, int64_t time_ms)
{
    time_ms = time_ms < 0 ? 0 : time_ms; /* checkpoints have no negative times */
    int young = c->seen < EK_EVENT_CLOCK_LISTS;
    int64_t back_ms = young ? EK_EVENT_CLOCK_STEP_MS : DAY_MS;
    add_time(c, time_ms);
    if (!c->started) {
        c->started = 1;
        c->now_ms = time_ms;
    } else if (is_past(time_ms, c->now_ms, EK_EVENT_CLOCK_STEP_MS) ||
               is_past(c->now_ms, time_ms, back_ms)) {
        follow_largest(c, back_ms);
    } else if (time_ms > c->now_ms) {
        c->now_ms = time_ms;
    }
    return c->now_ms;
}

/* Keep the distances of the last lists. */
int64_t ek_event_clock_advance(struct ek_event_clock *c, int64_t elapsed_ms)
{
    if (elapsed_ms <= 0 || elapsed_ms > DAY_MS || !c->started)
        return c->now_ms;
    for (int i = 0; i < c->seen; i++)
        c->last_ms[i] = later(c->last_ms[i], elapsed_ms);
    return c->now_ms = later(c->now_ms, elapsed_ms);
}

void ek_event_clock_restored(struct ek_event_clock *c)
{
    for (int i = 0; i < EK_EVENT_CLOCK_LISTS; i++)
        c->last_ms[i] = c->now_ms;
    c->next = c->seen % EK_EVENT_CLOCK_LISTS;
}

void ek_event_clock_serialize(struct ek_event_clock *c, struct ek_serialize *s)
{
    int first = ek_serialize_is_reading(s) ? 0 : c->next - c->seen + EK_EVENT_CLOCK_LISTS;
    for (int i = 0; i < c->seen; i++) {
        int64_t *last_ms = &c->last_ms[(first + i) % EK_EVENT_CLOCK_LISTS];
        int64_t ago_ms = c->now_ms - *last_ms;
        ek_serialize_i64(s, &ago_ms);
        if (!ek_serialize_is_reading(s))
            continue;
        ek_serialize_require(s, ago_ms <= c->now_ms && ago_ms >= c->now_ms - INT64_MAX);
        *last_ms = s->rc ? c->now_ms : c->now_ms - ago_ms;
    }
}
