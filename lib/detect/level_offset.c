#include "detect/level_offset.h"

#include <math.h>
#include <string.h>

int ek_rebases_add(struct ek_rebases *r, int feature, int cell, double shift_ln, uint64_t row)
{
    if (r->count == EK_REBASES_MAX)
        return EK_ELIMIT;
    r->one[r->count++] = (struct ek_rebase){feature, cell, shift_ln, ++r->version, row};
    return EK_OK;
}

const struct ek_rebase *ek_rebases_of_version(const struct ek_rebases *r, uint64_t version)
{
    for (int i = 0; i < r->count; i++)
        if (r->one[i].version == version)
            return &r->one[i];
    return NULL;
}

void ek_rebases_remove(struct ek_rebases *r, const struct ek_rebase *one)
{
    int at = (int)(one - r->one);
    r->count--;
    memmove(&r->one[at], &r->one[at + 1], (size_t)(r->count - at) * sizeof *r->one);
    r->version++;
}

static bool has(const int16_t *cells, int count, int cell)
{
    int i = 0;
    while (i < count && cells[i] != cell)
        i++;
    return i < count;
}

double ek_rebase_of_list(const struct ek_rebases *r, int feature, const int16_t *cells, int count)
{
    double shift_ln = 0;
    for (int i = 0; i < r->count; i++)
        if (r->one[i].feature == feature && has(cells, count, r->one[i].cell))
            shift_ln += r->one[i].shift_ln;
    return shift_ln;
}

void ek_rebase_list(const struct ek_rebases *r, const int16_t *cells, int count,
                    struct ek_list_reader *read)
{
    for (int i = 0; i < r->count; i++) {
        const struct ek_rebase *one = &r->one[i];
        struct ek_list_stats *record = &read->record[one->feature];
        if (!has(cells, count, one->cell))
            continue;
        record->r = ek_residual_lowered(record->r, one->shift_ln);
        read->list_bets->r[one->feature] = record->r;
    }
}

void ek_rebase_treat(const struct ek_rebases *r, const int16_t *cells, int count,
                     const int *routable_of_item, struct ek_treatment *treatment)
{
    for (int i = 0; i < r->count; i++) {
        const struct ek_rebase *one = &r->one[i];
        int k = routable_of_item[one->feature];
        if (k < 0 || ek_action_masks(treatment[k].action) || !has(cells, count, one->cell))
            continue;
        double before = treatment[k].action == EK_ACT_RESCALE ? treatment[k].value : 1;
        treatment[k] = (struct ek_treatment){EK_ACT_RESCALE, before * exp(one->shift_ln)};
    }
}

static void one_serialize(struct ek_rebase *one, struct ek_serialize *s, int features, int cells)
{
    ek_snap_int(s, &one->feature, 0, features - 1);
    ek_snap_int(s, &one->cell, 0, cells - 1);
    ek_snap_f64(s, &one->shift_ln);
    ek_snap_u64(s, &one->version);
    ek_snap_u64(s, &one->row);
    ek_snap_require(s, fabs(one->shift_ln) <= EK_REBASE_MOST_LN);
}

void ek_rebases_serialize(struct ek_rebases *r, struct ek_serialize *s, int features, int cells)
{
    ek_snap_u64(s, &r->version);
    ek_snap_int(s, &r->count, 0, EK_REBASES_MAX);
    for (int i = 0; i < r->count && !s->rc; i++) {
        one_serialize(&r->one[i], s, features, cells);
        ek_snap_require(s, r->one[i].version > (i ? r->one[i - 1].version : 0));
        ek_snap_require(s, r->one[i].version <= r->version);
    }
}
