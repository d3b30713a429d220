#include "detect/evidence_export.h"

#include "base/alloc.h"
#include "base/error.h"
#include "detect/detector_internal.h"

#include <math.h>
#include <string.h>

/* Cap of R, below the overflow of a float. */
static const double R_MOST = 1e37;
/* Rounding bound per list. A list is rounded twice by at most 2^-24: when its bet is calibrated and
 * when it is multiplied into the product. The fleet format allows for three
 * (docs/dev/formats/fleet.md). The extra half percent covers powers of that and the rounding of
 * log2. */
static const double ROUNDED_LN = 3 * 0x1p-24 * 1.005;

enum { MANTISSA_BITS = 23, EXPONENT_OF_ONE = 127 };

struct ek_evidence_sum {
    int cells, features;
    struct ek_bet_product *product; /* [cells, features] */
};

void ek_evidence_sum_merge(struct ek_evidence_sum_values *into,
                           const struct ek_evidence_sum_values *from)
{
    for (int i = 0; i < EK_BETS; i++)
        into->ln[i] += from->ln[i];
    into->lists += from->lists;
}

double ek_evidence_sum_apply(const struct ek_evidence_sum_values *t, const float *weight, float *r)
{
    double total = 0;
    for (int i = 0; i < EK_BETS; i++) {
        double grown =
            ((double)r[i] + (double)t->lists) * exp((double)t->ln[i] * EK_EVIDENCE_SUM_UNIT);
        r[i] = (float)fmin(grown, R_MOST);
        total += (double)weight[i] * (double)r[i];
    }
    return total;
}

int ek_evidence_sum_new(struct ek_evidence_sum **out, int features)
{
    struct ek_evidence_sum *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    t->features = features;
    *out = t;
    return EK_OK;
}

void ek_evidence_sum_free(struct ek_evidence_sum *t)
{
    if (t)
        ek_free(t->product);
    ek_free(t);
}

static struct ek_bet_product *product_at(const struct ek_evidence_sum *t, int cell, int feature)
{
    return &t->product[(size_t)cell * (size_t)t->features + (size_t)feature];
}

int ek_evidence_sum_reserve(struct ek_evidence_sum *t, int cells)
{
    if (cells <= t->cells)
        return EK_OK;
    size_t before = (size_t)t->cells * (size_t)t->features;
    size_t after = (size_t)cells * (size_t)t->features;
    struct ek_bet_product *product = ek_realloc(t->product, after, sizeof *product);
    if (!product)
        return EK_ENOMEM;
    memset(product + before, 0, (after - before) * sizeof *product);
    t->product = product;
    t->cells = cells;
    return EK_OK;
}

void ek_evidence_sum_clear(struct ek_evidence_sum *t)
{
    for (int cell = 0; cell < t->cells; cell++)
        ek_evidence_sum_reset(t, cell);
}

void ek_evidence_sum_reset(struct ek_evidence_sum *t, int cell)
{
    for (int f = 0; f < t->features; f++)
        product_at(t, cell, f)->lists = 0;
}

int ek_evidence_sum_features(const struct ek_evidence_sum *t)
{
    return t->features;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void start(struct ek_bet_product *p)
{
    for (int i = 0; i < EK_BETS; i++) {
        p->mantissa[i] = EXPONENT_OF_ONE << MANTISSA_BITS;
        p->exponent[i] = 0;
    }
}

void ek_evidence_sum_add(struct ek_evidence_sum *t, int cell, int feature, const float *e)
{
    const uint32_t fraction = (1u << MANTISSA_BITS) - 1;
    struct ek_bet_product *p = product_at(t, cell, feature);
    if (!p->lists++)
        start(p);
    for (int i = 0; i < EK_BETS; i++) {
        float bet = e[i] > EK_BET_MIN ? e[i] : EK_BET_MIN;
        uint32_t bits = bits_of(float_of(p->mantissa[i]) * bet);
        p->exponent[i] += (int32_t)(bits >> MANTISSA_BITS) - EXPONENT_OF_ONE;
        p->mantissa[i] = (bits & fraction) | EXPONENT_OF_ONE << MANTISSA_BITS;
    }
}

struct ek_bet_product *ek_evidence_sum_products(struct ek_evidence_sum *t, int cell)
{
    return product_at(t, cell, 0);
}

uint32_t ek_evidence_sum_lists(const struct ek_evidence_sum *t, int cell, int feature)
{
    return product_at(t, cell, feature)->lists;
}

void ek_evidence_sum_values(const struct ek_evidence_sum *t, int cell, int feature,
                            struct ek_evidence_sum_values *out)
{
    const struct ek_bet_product *p = product_at(t, cell, feature);
    double rounded = p->lists * ROUNDED_LN;
    memset(out, 0, sizeof *out);
    out->lists = p->lists;
    for (int i = 0; p->lists && i < EK_BETS; i++) {
        double ln = (p->exponent[i] + log2((double)float_of(p->mantissa[i]))) * M_LN2;
        out->ln[i] = (int64_t)floor((ln - rounded) / EK_EVIDENCE_SUM_UNIT);
    }
}

int ek_detector_join(struct ek_detector *d, double share, struct ek_error *e)
{
    struct ek_evidence_sum *t = NULL;
    int rc = d->evidence_sum ? EK_OK : ek_evidence_sum_new(&t, d->features);
    if (!rc && t)
        rc = ek_evidence_sum_reserve(t, d->cell_capacity);
    if (rc) {
        ek_evidence_sum_free(t);
        return ek_fail(e, rc, "out of memory");
    }
    if (t)
        d->evidence_sum = t;
    d->level = ek_alarm_level_compute((double)d->rules->false_alarms / share,
                                      ek_detector_watch_count(d), d->rules->segment_count);
    return EK_OK;
}

struct ek_evidence_sum *ek_detector_evidence_sum(const struct ek_detector *d)
{
    return d->evidence_sum;
}

const struct ek_manifest *ek_detector_manifest(const struct ek_detector *d)
{
    return d->manifest;
}

int ek_detector_confirmed(const struct ek_detector *d, int place, struct ek_finding *out)
{
    for (int i = place; i < d->episodes; i++)
        if (d->episode[i].phase == EK_PHASE_CONFIRMED) {
            ek_episode_finding(d, &d->episode[i], EK_CONFIRMED, NULL, out);
            return i + 1;
        }
    return 0;
}

int ek_detector_retain_cell(struct ek_detector *d, struct ek_text dimension, struct ek_text value,
                            int *cell)
{
    int rc = ek_cells_assign(d->cells, dimension, value, d->fetched == d->findings, cell);
    ek_detector_reset_reused(d);
    if (!rc)
        rc = ek_detector_reserve_cells(d, ek_cells_count(d->cells));
    if (!rc && *cell >= 0)
        ek_cells_retain(d->cells, *cell);
    return rc;
}

void ek_detector_release(struct ek_detector *d, int cell)
{
    ek_cells_release(d->cells, cell);
}

uint64_t ek_detector_rows(const struct ek_detector *d, uint64_t *first)
{
    *first = ek_history_first(d->history);
    return ek_history_count(d->history);
}

void ek_detector_row(const struct ek_detector *d, uint64_t number, int feature,
                     struct ek_pooled_row *out)
{
    const struct ek_history_row *row = ek_history_row(d->history, number);
    *out = (struct ek_pooled_row){row->time_ms, row->stratum,
                                  ek_history_records(d->history, number)[feature], row->cell,
                                  ek_history_query(d->history, number)};
}

float ek_detector_tracked(const struct ek_detector *d, int feature)
{
    return ek_detector_level(d, 0, feature);
}

void ek_detector_set_trusted(struct ek_detector *d, int feature, uint32_t lists)
{
    *ek_evidence_list_count(d->evidence, 0, feature) = lists;
}

void ek_detector_suspect(struct ek_detector *d, int feature, int cell, int bet)
{
    int explained = d->open[feature] && ek_detector_is_explained(d, d->cell_of, feature, cell);
    if (!ek_episode_at(d, cell, feature) && !explained && ek_history_count(d->history))
        ek_episode_open(d, feature, cell, bet);
}

int ek_detector_changes(const struct ek_detector *d)
{
    return EK_EPISODES_MAX - ek_episodes_available(d);
}

static int has_fleet_finding(const struct ek_fleet_claim_item *claim, int count,
                             const struct ek_fleet_claim_item *one)
{
    for (int i = 0; i < count; i++)
        if (claim[i].feature == one->feature && claim[i].cell == one->cell)
            return 1;
    return 0;
}

/* Restart evidence of segments that no instance claims any more, as after a recovered local
 * finding. */
static void abandon_episode(struct ek_detector *d, const struct ek_fleet_claim_item *claim,
                            int count)
{
    for (int i = 0; i < d->foreign_claims; i++) {
        const struct ek_fleet_claim_item *old = &d->foreign_claim[i];
        d->open[old->feature]--;
        d->foreign[ek_detector_cell_slot(d, old->cell, old->feature)] = 0;
        if (!has_fleet_finding(claim, count, old))
            ek_evidence_restart(d->evidence, old->cell, old->feature);
    }
    d->foreign_claims = 0;
}

static int reserve_foreign(struct ek_detector *d, int count)
{
    if (!d->foreign)
        d->foreign = ek_calloc((size_t)d->cell_capacity * (size_t)d->features, sizeof *d->foreign);
    struct ek_fleet_claim_item *more =
        ek_realloc(d->foreign_claim, (size_t)d->foreign_claims + (size_t)count, sizeof *more);
    if (more)
        d->foreign_claim = more;
    return d->foreign && more ? EK_OK : EK_ENOMEM;
}

static void release_foreign(struct ek_detector *d)
{
    ek_free(d->foreign);
    ek_free(d->foreign_claim);
    d->foreign = NULL;
    d->foreign_claim = NULL;
}

int ek_detector_set_fleet_findings(struct ek_detector *d, const struct ek_fleet_claim_item *claim,
                                   int count)
{
    int rc = count ? reserve_foreign(d, count) : EK_OK;
    abandon_episode(d, rc ? NULL : claim, rc ? 0 : count);
    for (int i = 0; !rc && i < count; i++) {
        size_t at = ek_detector_cell_slot(d, claim[i].cell, claim[i].feature);
        if (d->foreign[at])
            continue;
        d->foreign[at] = 1;
        d->open[claim[i].feature]++;
        d->foreign_claim[d->foreign_claims++] = claim[i];
    }
    d->claims++;
    if (!d->foreign_claims)
        release_foreign(d);
    return rc;
}
