/* Feature transform by distribution of values, FDM.
 *
 * The range [min, max] is divided into ten equal intervals; p_j is the fraction of *distinct*
 * values in interval j. An interval includes its lower end, the last one both ends.
 *
 *   C4  fewer than 3 distinct values            -> min-max
 *   C2  more than 80% in the first five         -> log
 *   C3  more than 80% in the last five          -> reversed (max - x), then log
 *   C1  no interval has more than 20%           -> min-max
 *   none of these                               -> min-max
 *
 * The paper leaves the order of these tests open. C4 precedes C2, because the log of a constant
 * would be undefined. C2 and C3 exclude each other. C1 and C2 (or C3) overlap if five adjacent
 * intervals have more than 80% and none more than 20%. C2 and C3 precede C1, because C1 does not
 * exclude that half of the range is nearly empty. Exact counts are compared as whole numbers, so
 * 80% is not more than 80%.
 *
 * NaN and infinities are ignored; a feature without values is C4.
 */
#ifndef EK_OFFLINE_SCALE_FDM_H
#define EK_OFFLINE_SCALE_FDM_H

#include "offline/scale/values.h"
#include "schema/enum_names.h"

enum { EK_FDM_INTERVALS = 10 };
enum ek_fdm_category { EK_FDM_NONE, EK_FDM_C1, EK_FDM_C2, EK_FDM_C3, EK_FDM_C4 };

struct ek_fdm {
    enum ek_fdm_category category;
    enum ek_transform_kind scale;
    double min, max;                /* NaN without values */
    double unique;                  /* distinct values, estimated unless `exact` */
    double share[EK_FDM_INTERVALS]; /* p_j, sum 1 (0 without values) */
    double first, last, most;       /* fractions of the two halves; largest p_j */
    bool exact;
};

/* Set *out to the category of a feature by its values, the selected transform, and the numbers that
 * give the reason. */
void ek_fdm(const struct ek_values *v, struct ek_fdm *out);
/* Return the name of a category, a static string: "C1" .. "C4" or "-". */
const char *ek_fdm_name(enum ek_fdm_category c);
/* Write the reason as text: "92% of 812 unique values in the first five of ten intervals". Always
 * terminated. */
void ek_fdm_reason(const struct ek_fdm *f, char *text, size_t size);
/* Write the reason for a narrow column: "92% of 812 in lower half", with '~' before an estimate. */
void ek_fdm_brief(const struct ek_fdm *f, char *text, size_t size);

#endif
