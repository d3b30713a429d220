#include "serve/acts.h"

#include <string.h>

void ek_acts_clear(struct ek_acts *a)
{
    if (!a->lists)
        return;
    memset(a->acted, 0, (size_t)a->entries * sizeof *a->acted);
    memset(a->failed, 0, (size_t)a->entries * sizeof *a->failed);
    memset(a->latency, 0, sizeof a->latency);
    a->lists = 0;
    a->entries = 0;
}

void ek_acts_add(struct ek_acts *a, const struct ek_context *c, uint64_t ns)
{
    const struct ek_plan_routing *r = &c->routing;
    if (!r->acted || !(c->scored || c->failed))
        return;
    if (a->plan != c->plan_version)
        ek_acts_clear(a);
    a->plan = c->plan_version;
    a->lists++;
    a->latency[ek_latency_bin(ns)]++;
    for (int i = 0; i < r->entries; i++) {
        int entry = r->entry[i];
        if (!(c->acting >> i & 1))
            continue;
        a->acted[entry]++;
        a->failed[entry] += c->failed;
        a->entries = entry < a->entries ? a->entries : entry + 1;
    }
}
