#include "base/hash.h"
#include "assets/profile.h"

#include <stddef.h>
#include <string.h>

static uint64_t text_hash(const char *text, uint64_t seed)
{
    return text ? ek_hash(text, strlen(text) + 1, seed) : ek_hash("", 0, seed);
}

static uint64_t floats_hash(const float *v, size_t count, uint64_t seed)
{
    return ek_hash(v, count * sizeof *v, seed);
}

static uint64_t category_hash(const struct ek_category_table *t, uint64_t seed)
{
    size_t values = (size_t)t->count, strata = (size_t)t->strata;
    if (!strata)
        return seed;
    uint64_t h = floats_hash(t->value, values, seed);
    h = floats_hash(t->share, values * strata, h);
    return floats_hash(t->unknown, strata, h);
}

/* A baseline has no padding but behind its last member. */
static uint64_t baseline_hash(const struct ek_baseline *b, uint64_t seed)
{
    return ek_hash(b, offsetof(struct ek_baseline, spread_rank) + sizeof b->spread_rank, seed);
}

uint64_t ek_profile_hash(const struct ek_profile *p)
{
    size_t features = (size_t)p->features, laws = features * (size_t)p->strata;
    uint64_t h = text_hash(p->field, p->manifest_hash);
    for (int s = 0; s < p->strata; s++)
        h = text_hash(p->stratum[s], h);
    h = ek_hash(&p->queries, sizeof p->queries, h);
    h = ek_hash(&p->related_lists, sizeof p->related_lists, h);
    h = floats_hash(p->level, laws, h);
    h = floats_hash(p->calibration, laws * EK_CALIBRATED, h);
    h = floats_hash(p->density, features * EK_DENSITY_BINS, h);
    for (int f = 0; f < p->features; f++)
        h = category_hash(&p->category[f], baseline_hash(&p->baseline[f], h));
    return h;
}
