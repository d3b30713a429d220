/* Wide columns of a list: z, zero and sign columns of the routable features, for rankers that were
 * trained with them (docs/repair.md#wide-columns).
 *
 * z is ln|x| less its mean over the usable values of the list (finite, not zero), a multiple of
 * 2^-16, and 0 for zeros. The flags of zeros and negative values are 1 or 0. All are NaN for a
 * missing value. The numbers are those of evenkeel.wide_columns of the Python package.
 */
#ifndef EK_SERVE_WIDE_COLUMNS_H
#define EK_SERVE_WIDE_COLUMNS_H

#include "assets/profile.h"
#include "lists/list.h"
#include "schema/manifest.h"

struct ek_wide_columns {
    int count;           /* z columns, then zero columns, then sign columns */
    int z, zeros;        /* number of z and zero columns */
    int *feature;        /* [count] item feature */
    const char **name;   /* [count] as "z:price", "zero:price", "neg:price" */
    struct ek_buf names; /* of `name` */
};

/* Select z of each routable feature, and flags for those that have zeros or negative values in the
 * profile, but not only. Return 0, EK_ENOMEM, or EK_ECONFIG if no feature is routable or a feature
 * has the name of a column. */
int ek_wide_columns_new(struct ek_wide_columns **out, const struct ek_manifest *m,
                        const struct ek_profile *p, struct ek_error *e);
void ek_wide_columns_free(struct ek_wide_columns *w);
/* Set out [n, count] to the columns of a list with the item values [n, item features]. With
 * log_means, z is that of the values in `q`, to which these means belong. `whole`: the items are
 * the whole list; else z needs log_means, and is NaN without. */
void ek_wide_columns_compute(const struct ek_wide_columns *w, const struct ek_manifest *m,
                             const struct ek_list *q, const double *values, bool whole,
                             double *out);

#endif
