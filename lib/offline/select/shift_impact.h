/* What a change of unit of a feature would cost, and what is best done about it: what is worth
 * watching.
 *
 *   shift      a change that the unit of the feature makes plausible: the conversions of
 *              rules/units.yaml from that very unit (of its quantity where none is); amounts of
 *              money also another currency per list, and the length of the stay times; numbers
 *              without a known unit a lost decimal place, and rarely two; codes are numbered anew
 *   unnoticed  metric lost under the shifts, as a mean by their weights; error: its standard error
 *              over the lists, each held against itself (infinite for fewer than two)
 *   routed, silenced  what is lost under them when the feature is
 *   chance     that its unit changes in a year, by its kind. These are judgements, not
 *              measurements, and stand in one table (shift_impact.c)
 *   action     route or silence, whichever loses less (of nearly equals: route), where the feature
 *              is routable and that is better than nothing; else alert
 *   left       metric lost once the action is taken: with alert all of it
 *   expected   chance x unnoticed: what it costs not to watch
 *
 * Codes of too many values to be numbered anew are not measured: all figures are NaN, and the
 * action is alert. Losses may be below 0. Missing values stay missing. Deterministic, whatever the
 * threads. Shapes: F item features. Memory: a copy of the items for each thread. Owner: the caller.
 * Threads: `run` may use some.
 */
#ifndef EK_OFFLINE_SELECT_SHIFT_IMPACT_H
#define EK_OFFLINE_SELECT_SHIFT_IMPACT_H

#include "offline/select/importance.h"
#include "schema/manifest.h"
#include "schema/enum_names.h"

enum { EK_SHIFTS_MAX = 12, EK_SHIFT_BYTES = 32 };

/* Less than this of the metric is no harm; and as far apart may two losses be that count as equal,
 * which a thousand lists cannot tell. */
#define EK_HARM_NONE 5e-4
#define EK_HARM_NEAR 5e-3

struct ek_shift {
    char how[EK_SHIFT_BYTES +
             EK_NAME_BYTES_MAX]; /* as offline/world/faults.h spells it, less the name */
    const char *unit; /* id of the conversion, or query feature's name if by_query; NULL: none */
    bool by_query;
    double weight, lost;
};

struct ek_shift_impact {
    const char *kind; /* a word of the table of chances */
    double chance;
    int shift_count;
    struct ek_shift shift[EK_SHIFTS_MAX];
    double unnoticed, error;
    double routed, silenced; /* NaN where not routable */
    enum ek_action action;
    double left, expected;
};

/* What the lists tell of the harm. */
enum ek_shift_impact_known {
    EK_HARM_NO,     /* as good as none: nothing is lost, and it cannot be much by the error */
    EK_HARM_YES,    /* more than two errors */
    EK_HARM_UNKNOWN /* cannot be told, or was not measured */
};
enum ek_shift_impact_known ek_shift_impact_known(const struct ek_shift_impact *h);

/* Kind i of the table and its chance; NULL behind the last. */
const char *ek_shift_impact_kind(int i, double *chance);

/* Kind, chance and shifts of an item feature. `d` tells which features are indicators (nothing but
 * 0 and 1). What points into the manifest lives as long as that. */
void ek_shift_candidates(const struct ek_manifest *m, int item, const struct ek_dataset *d,
                         struct ek_shift_impact *out);
/* out [F]: kind, chance and shifts filled by ek_shift_candidates (a chance may be changed). Metric,
 * threads and callbacks from `o`; *whole as there. Errors as ek_importance_measure, and those of a
 * fault that the data does not allow. */
int ek_shift_impact_measure(const struct ek_model *model, const struct ek_manifest *m,
                            const struct ek_dataset *d, const struct ek_importance_options *o,
                            double *whole, struct ek_shift_impact *out, struct ek_error *e);

#endif
