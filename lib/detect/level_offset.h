/* Accepted level shifts (ln), by item feature and segment.
 *
 * The shifts of all segments of a list are subtracted once from its residuals, before any other
 * use. Each accept is a separate entry and can be reverted; several entries of one segment add up.
 * Entries apply in version order, to new lists and to rows of the history, so both get identical
 * bits. Versions increase with each change and are never reused. The owner of the entries retains
 * their cells. Value type; initialize to {0}.
 */
#ifndef EK_DETECT_LEVEL_OFFSET_H
#define EK_DETECT_LEVEL_OFFSET_H

#include "base/serialize.h"
#include "detect/list_stats_builder.h"
#include "schema/enum_names.h"

enum { EK_LEVEL_OFFSETS_MAX = 256 };
/* Limit of |shift_ln|; the ln range of a float is smaller. */
#define EK_OFFSET_MAX_LN 200.0

struct ek_level_offset {
    int feature, cell;
    double shift_ln;
    uint64_t version; /* of the accept */
    uint64_t row;     /* first history row it applied to */
};

struct ek_level_offsets {
    uint64_t version; /* of the last change; 0: none yet */
    int count;
    struct ek_level_offset one[EK_LEVEL_OFFSETS_MAX]; /* [count] by ascending version */
};

/* Append an entry with the next version. Return 0, or EK_ELIMIT if full; then nothing changes. */
int ek_level_offsets_add(struct ek_level_offsets *r, int feature, int cell, double shift_ln,
                         uint64_t row);
/* Return the entry of this version, valid until the next change, or NULL. */
const struct ek_level_offset *ek_level_offsets_find_version(const struct ek_level_offsets *r,
                                                            uint64_t version);
/* Remove an entry of r, which increments r->version. */
void ek_level_offsets_remove(struct ek_level_offsets *r, const struct ek_level_offset *one);
/* Return the sum of the shifts (ln) of a feature over cells [count], -1 for none. */
double ek_level_offset_find(const struct ek_level_offsets *r, int feature, const int16_t *cells,
                            int count);
/* Subtract the shifts from the residuals in `read`, for a list in cells [count]. */
void ek_level_offset_list(const struct ek_level_offsets *r, const int16_t *cells, int count,
                          struct ek_list_stats_builder *read);
/* Add the shifts to the treatment of a list, because the model expects the scale of training. An
 * untreated feature gets `repair`, an existing `repair` is multiplied, a masked feature stays
 * unchanged. treatment [routable features]; routable_of_item [F], -1 for none. */
void ek_level_offset_apply(const struct ek_level_offsets *r, const int16_t *cells, int count,
                           const int *routable_of_item, struct ek_treatment *treatment);
/* Read or write the accepted shifts; `features` and `cells` are exclusive upper bounds. Errors are
 * in s->rc. */
void ek_level_offsets_serialize(struct ek_level_offsets *r, struct ek_serialize *s, int features,
                                int cells);

#endif
