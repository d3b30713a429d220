/* Impact of unit changes on a ranking metric, per feature, and the best action.
 *
 *   shift      a plausible change of the feature's unit: the conversions of rules/units.yaml
 *              from that unit, or of its quantity if none exists. Money also gets another
 *              currency per list, and a multiplication by the length of the stay. Numbers
 *              without a known unit get a decimal shift by one place, rarely by two. Codes
 *              are renumbered
 *   unnoticed  loss of the metric under the shifts, as their weighted mean. error: its standard
 *              error over paired lists, infinite for fewer than two
 *   routed, silenced  loss under the shifts with that action on the feature
 *   chance     probability of a unit change within a year, by kind. These are judgments, not
 *              measurements (table in shift_impact.c)
 *   action     route or silence, the one with the smaller loss (route if nearly equal), if the
 *              feature is routable and this is better than no action; else alert
 *   left       loss with the action; with alert all of it
 *   expected   chance x unnoticed, the expected cost of no monitoring
 *
 * Features with too many codes to renumber are not measured: their losses are NaN and the action is
 * alert. Losses may be negative. Missing values stay missing. Results do not depend on the number
 * of threads. Memory: one copy of the items per thread.
 */
#ifndef EK_OFFLINE_SELECT_SHIFT_IMPACT_H
#define EK_OFFLINE_SELECT_SHIFT_IMPACT_H

#include "offline/select/importance.h"
#include "schema/manifest.h"
#include "schema/enum_names.h"

enum { EK_SHIFTS_MAX = 12, EK_SHIFT_BYTES = 32 };

/* EK_HARM_NONE: a smaller loss is no harm. EK_HARM_NEAR: losses closer than this count as equal,
 * because a thousand lists cannot separate them. */
#define EK_HARM_NONE 5e-4
#define EK_HARM_NEAR 5e-3

struct ek_shift {
    char how[EK_SHIFT_BYTES +
             EK_NAME_BYTES_MAX]; /* syntax of offline/world/faults.h without the name */
    const char *unit; /* id of the conversion, or query feature if by_query; NULL: none */
    bool by_query;
    double weight, lost;
};

struct ek_shift_impact {
    const char *kind; /* name in the table of chances */
    double chance;
    int shift_count;
    struct ek_shift shift[EK_SHIFTS_MAX];
    double unnoticed, error;
    double routed, silenced; /* NaN if not routable */
    enum ek_action action;
    double left, expected;
};

/* Conclusion about the harm of a shift. */
enum ek_shift_impact_known {
    EK_HARM_NO,     /* loss below EK_HARM_NONE, within a small error */
    EK_HARM_YES,    /* loss of at least two standard errors */
    EK_HARM_UNKNOWN /* undecided or not measured */
};
/* Return whether unmonitored shifts of the feature harm the metric, by the members `unnoticed` and
 * `error`; unknown if NaN. */
enum ek_shift_impact_known ek_shift_impact_known(const struct ek_shift_impact *h);

/* Return the name of kind i of the table, a static string, and set its *chance; NULL after the
 * last. */
const char *ek_shift_impact_kind(int i, double *chance);

/* Set kind, chance and shifts of an item feature. `d` determines the indicators (only 0 and 1).
 * Pointers into the manifest live as long as the manifest. */
void ek_shift_candidates(const struct ek_manifest *m, int item, const struct ek_dataset *d,
                         struct ek_shift_impact *out);
/* Set losses, errors and actions in out [F]. Kind, chance and shifts in it are those set by
 * ek_shift_candidates; the caller may change chances. Metric, threads and callbacks are those of
 * `o`; *whole receives the metric of unchanged data. Return 0, an error of ek_importance_measure,
 * or that of a fault that the data does not support. */
int ek_shift_impact_measure(const struct ek_model *model, const struct ek_manifest *m,
                            const struct ek_dataset *d, const struct ek_importance_options *o,
                            double *whole, struct ek_shift_impact *out, struct ek_error *e);

#endif
