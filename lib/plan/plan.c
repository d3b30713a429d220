#include "plan/plan.h"

#include <math.h>
#include <string.h>

const char *ek_plan_by_name(enum ek_plan_by by)
{
    static const char *const names[EK_BYS] = {"finding", "person", "rules"};
    return names[by];
}

const char *ek_word_name(enum ek_word w)
{
    static const char *const names[] = {"pass", "shadow", "canary", "routed", "paused"};
    return names[w];
}

struct ek_plan_entry ek_plan_entry_of(int feature, int cell, struct ek_treatment treatment)
{
    return (struct ek_plan_entry){.feature = feature,
                                  .cell = cell,
                                  .treatment = treatment,
                                  .mode = EK_MODE_ENFORCE,
                                  .percent = EK_PERCENT_WHOLE,
                                  .by = EK_BY_FINDING,
                                  .repair = {NAN, -1},
                                  .until_ms = -1};
}

int ek_plan_find(const struct ek_plan *p, int feature, int cell)
{
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == feature && p->entry[i].cell == cell)
            return i;
    return -1;
}

static struct ek_plan_entry *find(struct ek_plan *p, int feature, int cell)
{
    int i = ek_plan_find(p, feature, cell);
    return i < 0 ? NULL : &p->entry[i];
}

int ek_plan_set(struct ek_plan *p, int feature, int cell, struct ek_treatment treatment,
                int64_t now_ms)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (found) {
        int changed = found->treatment.action != treatment.action;
        found->treatment = treatment;
        found->until_ms = -1;
        p->version += (uint64_t)changed;
        return changed;
    }
    if (p->count == EK_PLAN_MAX)
        return 0;
    found = &p->entry[p->count++];
    *found = ek_plan_entry_of(feature, cell, treatment);
    found->since_ms = now_ms;
    p->version++;
    return 1;
}

int ek_plan_has(const struct ek_plan *p, int feature, int cell)
{
    return ek_plan_find(p, feature, cell) >= 0;
}

const struct ek_plan_entry *ek_plan_entry_at(const struct ek_plan *p, int feature, int cell)
{
    return find((struct ek_plan *)p, feature, cell);
}

void ek_plan_await(struct ek_plan *p, int feature, int cell)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (found)
        found->until_ms = found->hold_ms = EK_PLAN_AWAITS_MS;
}

int ek_plan_has_room(const struct ek_plan *p, int feature, int cell)
{
    return p->count < EK_PLAN_MAX || ek_plan_has(p, feature, cell);
}

static void take_out(struct ek_plan *p, struct ek_plan_entry *entry)
{
    size_t behind = (size_t)(p->entry + p->count - (entry + 1));
    memmove(entry, entry + 1, behind * sizeof *entry);
    p->count--;
    p->version++;
}

int ek_plan_remove(struct ek_plan *p, int feature, int cell)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (found)
        take_out(p, found);
    return found != NULL;
}

/* Without going over what a time can be. */
static int64_t later(int64_t ms, int64_t by_ms)
{
    return by_ms < INT64_MAX - ms ? ms + by_ms : INT64_MAX;
}

void ek_plan_end(struct ek_plan *p, int feature, int cell, int64_t now_ms, int64_t hold_ms)
{
    struct ek_plan_entry *found = find(p, feature, cell);
    if (!found)
        return;
    int64_t held = later(found->since_ms, hold_ms);
    found->until_ms = held > now_ms ? held : now_ms;
    found->hold_ms = hold_ms;
}

int ek_plan_expire(struct ek_plan *p, int64_t now_ms)
{
    int changed = 0;
    for (int i = p->count - 1; i >= 0; i--) {
        struct ek_plan_entry *entry = &p->entry[i];
        if (entry->until_ms > now_ms && entry->until_ms - now_ms > entry->hold_ms)
            entry->until_ms = later(now_ms, entry->hold_ms);
        if (entry->until_ms >= 0 && entry->until_ms <= now_ms) {
            take_out(p, entry);
            changed = 1;
        }
    }
    return changed;
}

int ek_plan_features(const struct ek_plan *p)
{
    int features = 0;
    for (int i = 0; i < p->count; i++) {
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= p->entry[j].feature == p->entry[i].feature;
        features += !seen;
    }
    return features;
}
