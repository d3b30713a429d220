#include "daemon/views/level_history.h"

#include "base/json.h"

#include <math.h>

enum { MINUTE_MS = 60000, DIGITS = 3 };

static float *slot(struct ek_level_history *h, int64_t minute)
{
    return &h->log_level[minute % EK_LEVEL_MINUTES];
}

/* Move on to a later minute; those between have no values. */
static void advance(struct ek_level_history *h, int64_t minute)
{
    int64_t from = h->minute + 1;
    if (from <= minute - EK_LEVEL_MINUTES)
        from = minute - EK_LEVEL_MINUTES + 1;
    for (int64_t m = from; m <= minute; m++)
        *slot(h, m) = (float)NAN;
    if (minute > h->minute)
        h->minute = minute;
}

static struct ek_level_sum sum_of(const struct ek_values *v)
{
    double items = (double)v->items * (1 - v->missing - v->zero - v->infinite);
    struct ek_level_sum sum = {0, 0};
    if (items > 0)
        sum = (struct ek_level_sum){items, items * v->log_mean};
    return sum;
}

void ek_level_history_add(struct ek_level_history *h, const struct ek_feature_view *life,
                          const struct ek_values *training, int64_t time_ms)
{
    struct ek_level_sum sum = sum_of(&life->values);
    int64_t minute = time_ms / MINUTE_MS;
    bool restarted = !h->minute || sum.items < h->total.items;
    if (minute <= 0)
        return;
    if (restarted)
        h->total = sum;
    if (minute > h->minute || restarted) {
        advance(h, minute);
        h->before = h->total;
    }
    h->total = sum;
    double added = sum.items - h->before.items, log_added = sum.log_sum - h->before.log_sum;
    if (added >= 1)
        *slot(h, h->minute) =
            (float)(log_added / added - training->log_mean - log(life->accepted.factor));
}

int ek_level_history_json(const struct ek_level_history *h, struct ek_buf *out)
{
    struct ek_json_writer w;
    if (!h->minute)
        return ek_buf_text(out, ",\"levels\":null");
    int64_t first = h->minute >= EK_LEVEL_MINUTES ? h->minute - EK_LEVEL_MINUTES + 1 : 1;
    ek_buf_printf(out, ",\"levels\":{\"from_ms\":%lld,\"level\":", (long long)first * MINUTE_MS);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    for (int64_t m = first; m <= h->minute; m++)
        ek_json_add_rounded(&w, NULL, exp((double)h->log_level[m % EK_LEVEL_MINUTES]), DIGITS);
    ek_json_close(&w, ']');
    return ek_buf_text(out, "}");
}
