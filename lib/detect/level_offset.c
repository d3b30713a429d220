#include "detect/level_offset.h"

#include <math.h>
#include <string.h>

int ek_level_offsets_add(struct ek_level_offsets *r, int feature, int cell, double shift_ln,
                         uint64_t row)
{
    if (r->count == EK_LEVEL_OFFSETS_MAX)
        return EK_ELIMIT;
    r->one[r->count++] = (struct ek_level_offset){feature, cell, shift_ln, ++r->version, row};
    return EK_OK;
}

const struct ek_level_offset *ek_level_offsets_find_version(const struct ek_level_offsets *r,
                                                            uint64_t version)
{
    for (int i = 0; i < r->count; i++)
        if (r->one[i].version == version)
            return &r->one[i];
    return NULL;
}

void ek_level_offsets_remove(struct ek_level_offsets *r, const struct ek_level_offset *one)
{
    int at = (int)(one - r->one);
    r->count--;
    memmove(&r->one[at], &r->one[at + 1], (size_t)(r->count - at) * sizeof *r->one);
    r->version++;
}

static bool has_cell(const int16_t *cells, int count, int cell)
{
    int i = 0;
    while (i < count && cells[i] != cell)
        i++;
    return i < count;
}

double ek_level_offset_find(const struct ek_level_offsets *r, int feature, const int16_t *cells,
                            int count)
{
    double shift_ln = 0;
    for (int i = 0; i < r->count; i++)
        if (r->one[i].feature == feature && has_cell(cells, count, r->one[i].cell))
            shift_ln += r->one[i].shift_ln;
    return shift_ln;
}

void ek_level_offset_list(const struct ek_level_offsets *r, const int16_t *cells, int count,
                          struct ek_list_stats_builder *read)
{
    for (int i = 0; i < r->count; i++) {
        const struct ek_level_offset *one = &r->one[i];
        struct ek_list_stats *record = &read->record[one->feature];
        if (!has_cell(cells, count, one->cell))
            continue;
        record->r = ek_residual_lowered(record->r, one->shift_ln);
        read->list_bets->r[one->feature] = record->r;
    }
}

void ek_level_offset_apply(const struct ek_level_offsets *r, const int16_t *cells, int count,
                           const int *routable_of_item, struct ek_treatment *treatment)
{
    for (int i = 0; i < r->count; i++) {
        const struct ek_level_offset *one = &r->one[i];
        int k = routable_of_item[one->feature];
        if (k < 0 || ek_action_masks(treatment[k].action) || !has_cell(cells, count, one->cell))
            continue;
        double before = treatment[k].action == EK_ACT_REPAIR ? treatment[k].value : 1;
        treatment[k] = (struct ek_treatment){EK_ACT_REPAIR, before * exp(one->shift_ln)};
    }
}

static void offset_serialize(struct ek_level_offset *one, struct ek_serialize *s, int features,
                             int cells)
{
    ek_serialize_int(s, &one->feature, 0, features - 1);
    ek_serialize_int(s, &one->cell, 0, cells - 1);
    ek_serialize_f64(s, &one->shift_ln);
    ek_serialize_u64(s, &one->version);
    ek_serialize_u64(s, &one->row);
    ek_serialize_require(s, fabs(one->shift_ln) <= EK_OFFSET_MAX_LN);
}

void ek_level_offsets_serialize(struct ek_level_offsets *r, struct ek_serialize *s, int features,
                                int cells)
{
    ek_serialize_u64(s, &r->version);
    ek_serialize_int(s, &r->count, 0, EK_LEVEL_OFFSETS_MAX);
    for (int i = 0; i < r->count && !s->rc; i++) {
        offset_serialize(&r->one[i], s, features, cells);
        ek_serialize_require(s, r->one[i].version > (i ? r->one[i - 1].version : 0));
        ek_serialize_require(s, r->one[i].version <= r->version);
    }
}
