/* The transform of a feature by the distribution of its values, FDM: the range [min, max] is cut
 * into ten equal intervals, p_j is the share of the *different* values that lie in interval j. An
 * interval has its lower end, the last both.
 *
 *   C4  fewer than 3 different values            -> min-max
 *   C2  the first five hold more than 80%        -> log
 *   C3  the last five hold more than 80%         -> reversed (max - x), then log
 *   C1  no interval holds more than 20%          -> min-max
 *   none of these                                -> min-max
 *
 * The paper does not say in which order these are asked, and it matters in one case. C2 and C3
 * exclude each other. C4 excludes the others but for a constant, whose one value lies in the first
 * interval: were C2 asked first, it would have a logarithm of nothing. But C1 and C2 (or C3) meet
 * where five neighbouring intervals hold more than 80% and each of them at most 20%: evenly, on one
 * half of the range. C2 and C3 are asked first, as they say what C1 does not deny, that half of the
 * range is nearly empty; asked the other way round, such features would be min-max. Shares are
 * held against 80% and 20% as whole numbers where values are exact, so 80% is not more than 80%.
 *
 * NaN and infinities are left out; a feature without values is C4. Threads: no state.
 */
#ifndef EK_OFFLINE_SCALE_FDM_H
#define EK_OFFLINE_SCALE_FDM_H

#include "offline/scale/values.h"
#include "schema/transform_names.h"

enum { EK_FDM_INTERVALS = 10 };
enum ek_fdm_category { EK_FDM_NONE, EK_FDM_C1, EK_FDM_C2, EK_FDM_C3, EK_FDM_C4 };

struct ek_fdm {
    enum ek_fdm_category category;
    enum ek_transform_kind scale;
    double min, max;                /* NaN without values */
    double unique;                  /* different values, a guess unless `exact` */
    double share[EK_FDM_INTERVALS]; /* p_j, sum 1 (0 without values) */
    double first, last, most;       /* shares of the two halves, the largest p_j */
    bool exact;
};

void ek_fdm(const struct ek_values *v, struct ek_fdm *out);
/* "C1" .. "C4", "-". */
const char *ek_fdm_name(enum ek_fdm_category c);
/* Why, with the figures, for people: "92% of 812 unique values in the first five of ten intervals".
 * Always terminated. */
void ek_fdm_reason(const struct ek_fdm *f, char *text, size_t size);
/* The same for a narrow column: "92% of 812 in lower half", with '~' before a guess. */
void ek_fdm_brief(const struct ek_fdm *f, char *text, size_t size);

#endif
