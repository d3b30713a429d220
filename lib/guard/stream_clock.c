#include "guard/stream_clock.h"

static const int64_t FAR_MS = (int64_t)24 * 3600 * 1000;

int64_t ek_stream_clock_list(struct ek_stream_clock *c, int64_t time_ms)
{
    int far = time_ms > c->now_ms ? time_ms - c->now_ms > FAR_MS : c->now_ms - time_ms > FAR_MS;
    if (!c->started || (far && ++c->strangers >= EK_STREAM_CLOCK_LISTS)) {
        c->started = 1;
        c->strangers = 0;
        c->now_ms = time_ms;
    } else if (!far) {
        c->strangers = 0;
        if (time_ms > c->now_ms)
            c->now_ms = time_ms;
    }
    return c->now_ms;
}

int64_t ek_stream_clock_pass(struct ek_stream_clock *c, int64_t elapsed_ms)
{
    if (elapsed_ms > 0 && elapsed_ms <= FAR_MS && c->started && elapsed_ms < INT64_MAX - c->now_ms)
        c->now_ms += elapsed_ms;
    return c->now_ms;
}
