#include "daemon/guard/plan_log.h"

enum { RECORD_BYTES_MAX = 64 << 20 };

void ek_plan_log_release(struct ek_plan_log *l)
{
    for (int i = 0; i < ek_plan_log_count(l); i++)
        ek_buf_release(&l->record[i]);
}

int ek_plan_log_add(struct ek_plan_log *l, uint64_t version, const void *bytes, size_t length,
                    int64_t now_ms)
{
    if (!l->count || version != l->version) {
        struct ek_buf *next = &l->record[l->count % EK_FLEET_PLANS];
        if (l->count < EK_FLEET_PLANS)
            ek_buf_init(next, RECORD_BYTES_MAX);
        l->count++;
    }
    struct ek_buf *newest = &l->record[(l->count - 1) % EK_FLEET_PLANS];
    l->version = version;
    l->heard_ms = now_ms;
    ek_buf_clear(newest);
    return ek_buf_add(newest, bytes, length);
}

int ek_plan_log_count(const struct ek_plan_log *l)
{
    return l->count < EK_FLEET_PLANS ? (int)l->count : EK_FLEET_PLANS;
}

const struct ek_buf *ek_plan_log_at(const struct ek_plan_log *l, int i)
{
    uint64_t first = l->count - (uint64_t)ek_plan_log_count(l);
    return &l->record[(first + (uint64_t)i) % EK_FLEET_PLANS];
}
