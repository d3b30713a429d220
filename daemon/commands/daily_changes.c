#include "daemon/commands/daily_changes.h"

enum {
    HOUR_MS = 3600000,
    DAY_MS = 24 * HOUR_MS,
    SLACK_MS = 2 * HOUR_MS,
    LONGEST_MS = 20 * HOUR_MS
};

void ek_daily_changes_add(struct ek_daily_changes *c, int feature, enum ek_class class,
                          int64_t since_ms)
{
    if (since_ms >= 0)
        c->change[c->added++ % EK_DAILY_CHANGES] =
            (struct ek_past_change){feature, class, since_ms, since_ms};
}

static int count_changes(const struct ek_daily_changes *c)
{
    return c->added < EK_DAILY_CHANGES ? (int)c->added : EK_DAILY_CHANGES;
}

void ek_daily_changes_end(struct ek_daily_changes *c, int feature, int64_t until_ms)
{
    struct ek_past_change *newest = NULL;
    for (int i = 0; i < count_changes(c); i++)
        if (c->change[i].feature == feature &&
            (!newest || c->change[i].since_ms >= newest->since_ms))
            newest = &c->change[i];
    if (newest && until_ms > newest->since_ms)
        newest->until_ms = until_ms;
}

/* Return whether a time of a later day is within the hours of a change. */
static bool is_within(const struct ek_past_change *p, int64_t since_ms)
{
    int64_t length = p->until_ms - p->since_ms, after = since_ms - p->since_ms;
    return length <= LONGEST_MS && after >= DAY_MS - SLACK_MS &&
           (after + SLACK_MS) % DAY_MS <= length + 2 * SLACK_MS;
}

bool ek_daily_changes_has(const struct ek_daily_changes *c, int feature, enum ek_class class,
                          int64_t since_ms)
{
    for (int i = 0; i < count_changes(c); i++)
        if (c->change[i].feature == feature && c->change[i].class == class &&
            is_within(&c->change[i], since_ms))
            return true;
    return false;
}
