#include "assets/item_levels.h"

#include "assets/feature_columns.h"
#include "assets/learned_levels.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "num/ln.h"

#include <math.h>
#include <string.h>

enum { KEY_SEED = 0x17e35 };
enum { OWN_VALUES_MIN = 3 };
static const double OWN_VARIANCE_MIN = 1e-6;
static const float LEVEL_MOST = 104; /* of a float: ln of the largest, or of the smallest normal */

uint64_t ek_item_key(struct ek_text id)
{
    uint64_t key = ek_hash(id.text, id.length, KEY_SEED);
    return key ? key : 1;
}

int ek_item_levels_new(struct ek_item_levels **out, size_t items, int features)
{
    struct ek_item_levels *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    t->items = items;
    t->features = features;
    for (t->slots = 2; t->slots < 2 * items; t->slots *= 2)
        continue;
    t->feature = ek_calloc((size_t)features, sizeof *t->feature);
    t->key = ek_calloc(items, sizeof *t->key);
    t->value = ek_calloc(items * (size_t)features, sizeof *t->value);
    t->mean = ek_calloc((size_t)features, sizeof *t->mean);
    t->gaps = ek_calloc(items, sizeof *t->gaps);
    t->spread = ek_calloc((size_t)features, sizeof *t->spread);
    t->slot = ek_calloc(t->slots, sizeof *t->slot);
    if (!t->feature || !t->key || !t->value || !t->mean || !t->gaps || !t->spread || !t->slot) {
        ek_item_levels_free(t);
        return EK_ENOMEM;
    }
    *out = t;
    return EK_OK;
}

void ek_item_levels_free(struct ek_item_levels *t)
{
    if (!t)
        return;
    ek_free(t->feature);
    ek_free(t->key);
    ek_free(t->value);
    ek_free(t->mean);
    ek_free(t->gaps);
    ek_free(t->spread);
    ek_free(t->slot);
    ek_free(t);
}

static float compute_mean(const struct ek_item_levels *t, int a)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < t->items; i++) {
        double level = (double)t->value[i * (size_t)t->features + (size_t)a];
        if (!isnan(level)) {
            sum += level;
            known++;
        }
    }
    return known ? (float)(sum / (double)known) : 0;
}

void ek_item_levels_index(struct ek_item_levels *t)
{
    for (int a = 0; a < t->features; a++)
        t->mean[a] = compute_mean(t, a);
    memset(t->slot, 0, t->slots * sizeof *t->slot);
    for (size_t i = 0; i < t->items; i++) {
        size_t at = t->key[i] & (t->slots - 1);
        while (t->slot[at])
            at = (at + 1) & (t->slots - 1);
        t->slot[at] = (uint32_t)i + 1;
        t->gaps[i] = false;
        for (int a = 0; a < t->features; a++)
            t->gaps[i] |= isnan(t->value[i * (size_t)t->features + (size_t)a]);
    }
}

bool ek_item_levels_has(const struct ek_item_levels *t, int feature)
{
    return t && ek_feature_columns_find(t->feature, t->features, feature) >= 0;
}

float ek_item_levels_mean(const struct ek_item_levels *t, int feature)
{
    int a = t ? ek_feature_columns_find(t->feature, t->features, feature) : -1;
    return a < 0 ? 0 : t->mean[a];
}

const float *ek_item_levels_find(const struct ek_item_levels *t, struct ek_text id)
{
    if (!id.length)
        return NULL;
    uint64_t key = ek_item_key(id);
    for (size_t at = key & (t->slots - 1); t->slot[at]; at = (at + 1) & (t->slots - 1))
        if (t->key[t->slot[at] - 1] == key)
            return t->value + (t->slot[at] - 1) * (size_t)t->features;
    return NULL;
}

double ek_item_levels_of(const struct ek_item_levels *t, const struct ek_list *q, int feature)
{
    int a = t ? ek_feature_columns_find(t->feature, t->features, feature) : -1;
    int usable = 0, known = 0;
    double sum = 0;
    if (a < 0)
        return 0;
    for (int i = 0; q->item_id && i < q->items; i++) {
        const float *level = ek_item_levels_find(t, q->item_id[i]);
        if (!isnormal(q->x[(size_t)i * (size_t)q->item_features + (size_t)feature]))
            continue;
        usable++;
        if (level && !isnan(level[a])) {
            sum += (double)level[a];
            known++;
        }
    }
    return known && 2 * known >= usable ? sum / known : (double)NAN;
}

uint64_t ek_item_levels_hash(const struct ek_item_levels *t, uint64_t seed)
{
    if (!t)
        return seed;
    uint64_t h = ek_hash(t->feature, (size_t)t->features * sizeof *t->feature, seed);
    h = ek_hash(t->key, t->items * sizeof *t->key, h);
    h = ek_hash(t->spread, (size_t)t->features * sizeof *t->spread, h);
    return ek_hash(t->value, t->items * (size_t)t->features * sizeof *t->value, h);
}

void ek_item_levels_scratch_release(struct ek_item_levels_scratch *s)
{
    ek_free(s->x);
    ek_free(s->level);
    ek_free(s->gaps);
    ek_free(s->row);
    ek_free(s->sum);
    ek_free(s->record);
    *s = (struct ek_item_levels_scratch){0};
}

static int reserve(const struct ek_item_levels *t, const struct ek_list *q,
                   struct ek_item_levels_scratch *s)
{
    size_t items = (size_t)q->items, features = (size_t)q->item_features;
    if (!s->record)
        s->record = ek_calloc(features, sizeof *s->record);
    if (!s->sum && (s->sum = ek_calloc(4 * (size_t)t->features, sizeof *s->sum))) {
        s->ln = s->sum + t->features;
        s->away = s->ln + t->features;
        s->squares = s->away + t->features;
    }
    if (!s->record || !s->sum)
        return EK_ENOMEM;
    if (items <= s->items)
        return EK_OK;
    float *x = ek_realloc(s->x, items * features, sizeof *x);
    s->x = x ? x : s->x;
    const float **level = ek_realloc(s->level, items, sizeof *level);
    s->level = level ? level : s->level;
    bool *gaps = ek_realloc(s->gaps, items, sizeof *gaps);
    s->gaps = gaps ? gaps : s->gaps;
    int *row = ek_realloc(s->row, items, sizeof *row);
    s->row = row ? row : s->row;
    if (!x || !level || !gaps || !row)
        return EK_ENOMEM;
    s->items = items;
    return EK_OK;
}

struct ek_own_spread ek_item_levels_spread(const struct ek_item_levels *t, int feature)
{
    int a = t ? ek_feature_columns_find(t->feature, t->features, feature) : -1;
    return a < 0 ? (struct ek_own_spread){0, 0} : t->spread[a];
}

/* Set *level to the levels of an item and *gaps to whether some are NaN. Return false without
 * levels. */
static bool find_levels(const struct ek_item_levels *t, const struct ek_learned_levels *learned,
                        struct ek_text id, const float **level, bool *gaps)
{
    *level = ek_item_levels_find(t, id);
    if (*level) {
        *gaps = t->gaps[(size_t)(*level - t->value) / (size_t)t->features];
        return true;
    }
    *level = ek_learned_levels_find(learned, id);
    int missing = 0;
    for (int a = 0; *level && a < t->features; a++)
        missing += isnan((*level)[a]) != 0;
    *gaps = missing > 0;
    return *level && missing < t->features;
}

/* Find the levels of the list's items. Return how many have some; *all: whether all have all. */
static int find_items(const struct ek_item_levels *t, const struct ek_learned_levels *learned,
                      const struct ek_list *q, struct ek_item_levels_scratch *s, bool *all)
{
    int known = 0, gaps = 0;
    for (int i = 0; q->item_id && i < q->items; i++)
        if (find_levels(t, learned, q->item_id[i], &s->level[known], &s->gaps[known])) {
            gaps += s->gaps[known];
            s->row[known++] = i;
        }
    *all = known == q->items && !gaps;
    return known;
}

/* Compute the records of the values with a level alone. */
static void read_known(const struct ek_item_levels *t, const struct ek_list *q, int known,
                       struct ek_item_levels_scratch *s, struct ek_list_moments *moments,
                       const float *pivot)
{
    size_t features = (size_t)q->item_features;
    for (int k = 0; k < known; k++)
        memcpy(s->x + (size_t)k * features, q->x + (size_t)s->row[k] * features,
               features * sizeof *s->x);
    for (int k = 0; k < known; k++)
        for (int a = 0; s->gaps[k] && a < t->features; a++)
            if (isnan(s->level[k][a]))
                s->x[(size_t)k * features + (size_t)t->feature[a]] = NAN;
    ek_list_moments_compute(moments, s->x, known, pivot);
    ek_list_stats_compute(moments, known, pivot, s->record);
}

int16_t ek_item_levels_encode_spread(double variance)
{
    double ln = fmax(variance, OWN_VARIANCE_MIN);
    ek_ln_compute(&ln, &ln, 1);
    int code = (int)lrint(fmin(fmax(128 * ln, INT16_MIN), INT16_MAX));
    return (int16_t)(code ? code : 1);
}

/* Sum the levels of the usable values of the known items, the distances of the values from them,
 * and the squares of these. */
static void sum_values(const struct ek_item_levels *t, const struct ek_list *q, int known,
                       struct ek_item_levels_scratch *s)
{
    size_t count = (size_t)t->features;
    memset(s->sum, 0, count * sizeof *s->sum);
    memset(s->away, 0, count * sizeof *s->away);
    memset(s->squares, 0, count * sizeof *s->squares);
    for (int k = 0; k < known; k++) {
        const float *x = q->x + (size_t)s->row[k] * (size_t)q->item_features, *level = s->level[k];
        for (int a = 0; a < t->features; a++)
            s->ln[a] = isnormal(x[t->feature[a]]) ? fabs((double)x[t->feature[a]]) : 1;
        ek_ln_compute(s->ln, s->ln, count);
        for (int a = 0; a < t->features; a++) {
            bool used = isnormal(x[t->feature[a]]) && !isnan(level[a]);
            double away = used ? s->ln[a] - (double)level[a] : 0;
            s->sum[a] += used ? (double)level[a] : 0;
            s->away[a] += away;
            s->squares[a] += away * away;
        }
    }
}

int ek_item_levels_apply(const struct ek_item_levels *t, const struct ek_learned_levels *learned,
                         const struct ek_list *q, struct ek_item_levels_scratch *s,
                         struct ek_list_moments *moments, const float *pivot,
                         struct ek_list_stats *record)
{
    if (reserve(t, q, s))
        return EK_ENOMEM;
    bool all;
    int known = find_items(t, learned, q, s, &all);
    s->all = all;
    if (known && !all)
        read_known(t, q, known, s, moments, pivot);
    sum_values(t, q, known, s);
    for (int a = 0; a < t->features; a++) {
        struct ek_list_stats *to = &record[t->feature[a]];
        const struct ek_list_stats *from = all ? to : &s->record[t->feature[a]];
        int usable = known ? from->usable : 0;
        if (2 * usable >= to->usable && usable) {
            to->r = (float)((double)from->r - s->sum[a] / usable);
            double squares = s->squares[a] - s->away[a] * s->away[a] / usable;
            to->own_spread =
                usable < OWN_VALUES_MIN ? 0 : ek_item_levels_encode_spread(squares / (usable - 1));
        } else {
            ek_list_stats_remove_level(to);
        }
    }
    return EK_OK;
}

int ek_item_levels_write(const struct ek_item_levels *t, struct ek_tensors *file)
{
    if (!t)
        return EK_OK;
    const size_t features[] = {(size_t)t->features}, shape[] = {t->items, (size_t)t->features};
    struct ek_tensor *feature = ek_tensors_add(file, "item_level_feature", EK_U64, 1, features);
    struct ek_tensor *key = feature ? ek_tensors_add(file, "item_key", EK_U64, 1, shape) : NULL;
    struct ek_tensor *value = key ? ek_tensors_add(file, "item_level", EK_F32, 2, shape) : NULL;
    const size_t pair[] = {features[0], 2};
    struct ek_tensor *spread = value ? ek_tensors_add(file, "item_spread", EK_F32, 2, pair) : NULL;
    if (!spread)
        return EK_ENOMEM;
    memcpy(spread->data, t->spread, features[0] * sizeof *t->spread);
    ek_feature_columns_write(t->feature, t->features, feature->data);
    memcpy(key->data, t->key, t->items * sizeof *t->key);
    memcpy(value->data, t->value, t->items * features[0] * sizeof *t->value);
    return EK_OK;
}

/* Copy the arrays. Return false for values that no training gives. */
static bool copy_arrays(struct ek_item_levels *t, const uint64_t *feature, const uint64_t *key,
                        const float *value, int features)
{
    if (!ek_feature_columns_read(t->feature, feature, t->features, features))
        return false;
    for (size_t i = 0; i < t->items; i++) {
        if (!key[i] || (i && key[i] <= key[i - 1]))
            return false;
        t->key[i] = key[i];
    }
    for (size_t i = 0; i < t->items * (size_t)t->features; i++) {
        if (fabsf(value[i]) > LEVEL_MOST)
            return false;
        t->value[i] = value[i];
    }
    return true;
}

static bool are_spreads(const struct ek_item_levels *t)
{
    for (int a = 0; a < t->features; a++)
        if (!(fabsf(t->spread[a].mean) <= LEVEL_MOST && t->spread[a].sd >= 0 &&
              t->spread[a].sd <= LEVEL_MOST))
            return false;
    return true;
}

int ek_item_levels_read(struct ek_item_levels **out, const struct ek_tensors *file, int features,
                        struct ek_error *e)
{
    const struct ek_tensor *feature = ek_tensors_find(file, "item_level_feature");
    const struct ek_tensor *key = ek_tensors_find(file, "item_key"), *value, *spread;
    *out = NULL;
    if (!feature)
        return EK_OK;
    if (feature->dims != 1 || feature->dtype != EK_U64 || !key || key->dims != 1 ||
        key->dtype != EK_U64 || !feature->shape[0] || feature->shape[0] > (size_t)features ||
        !key->shape[0] || key->shape[0] > EK_ITEM_LEVELS_MAX)
        return ek_fail(e, EK_EFORMAT, "the item levels of the profile have an invalid shape");
    const size_t shape[] = {key->shape[0], feature->shape[0]};
    const size_t pair[] = {feature->shape[0], 2};
    int rc = ek_tensors_expect(file, "item_level", EK_F32, 2, shape, &value, e);
    if (!rc)
        rc = ek_tensors_expect(file, "item_spread", EK_F32, 2, pair, &spread, e);
    if (rc)
        return rc;
    struct ek_item_levels *t;
    if (ek_item_levels_new(&t, shape[0], (int)shape[1]))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    memcpy(t->spread, spread->data, shape[1] * sizeof *t->spread);
    if (!copy_arrays(t, feature->data, key->data, value->data, features) || !are_spreads(t)) {
        ek_item_levels_free(t);
        return ek_fail(e, EK_EFORMAT, "the item levels of the profile are out of order or range");
    }
    ek_item_levels_index(t);
    *out = t;
    return EK_OK;
}
