/* What is normal now where somebody has said so: shifts of ln x, by feature and cell.
 *
 * A list's residual is lowered by the shifts of all its cells, once, before anybody reads it: then
 * it is normal for that list in every cell it has. Each accept is an entry of its own, so that any
 * of them can be taken back; several of one place add up. Entries are applied one after the other,
 * in the order of their versions, to a list as to the rows that are remembered, so that both come
 * to the same bits. Versions rise with each change and never come again. The
 * cells are held by whoever has it. Value type; starts as {0}. No failure but those named.
 */
#ifndef EK_DETECT_LEVEL_OFFSET_H
#define EK_DETECT_LEVEL_OFFSET_H

#include "base/serialize.h"
#include "detect/list_stats_builder.h"
#include "schema/enum_names.h"

enum { EK_LEVEL_OFFSETS_MAX = 256 };
/* No shift is larger: a float's range spans less. */
#define EK_OFFSET_MAX_LN 200.0

struct ek_level_offset {
    int feature, cell; /* item feature and cell numbers */
    double shift_ln;
    uint64_t version; /* of the accept */
    uint64_t row;     /* of the history: the first that it lowered */
};

struct ek_level_offsets {
    uint64_t version; /* of the last change; 0: never one */
    int count;
    struct ek_level_offset one[EK_LEVEL_OFFSETS_MAX]; /* versions rise */
};

/* EK_ELIMIT: all is as it was. */
int ek_level_offsets_add(struct ek_level_offsets *r, int feature, int cell, double shift_ln,
                         uint64_t row);
/* NULL: there is none of that version. */
const struct ek_level_offset *ek_level_offsets_find_version(const struct ek_level_offsets *r,
                                                            uint64_t version);
/* Takes one of them back, which is a change like others. */
void ek_level_offsets_remove(struct ek_level_offsets *r, const struct ek_level_offset *one);
/* What is normal for a feature of a list of these cells (-1: none). */
double ek_level_offset_find(const struct ek_level_offsets *r, int feature, const int16_t *cells,
                            int count);
/* Lowers what the reader has of its list, which has these cells. */
void ek_level_offset_list(const struct ek_level_offsets *r, const int16_t *cells, int count,
                          struct ek_list_stats_builder *read);
/* For a model, which knows the scale of training: features that nothing is done to are divided back
 * to it, and `repair` divides by what is normal, too; what is routed needs no scale. treatment by
 * routable number; routable_of_item [F]. */
void ek_level_offset_apply(const struct ek_level_offsets *r, const int16_t *cells, int count,
                           const int *routable_of_item, struct ek_treatment *treatment);
void ek_level_offsets_serialize(struct ek_level_offsets *r, struct ek_serialize *s, int features,
                                int cells);

#endif
