/* Feature importance by permutation and routing, and the helpers of measures per feature. Internal
 * to offline/select, except the importance. */
#ifndef EK_OFFLINE_SELECT_IMPORTANCE_H
#define EK_OFFLINE_SELECT_IMPORTANCE_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/train/evaluate.h"
#include "schema/enum_names.h"
#include "schema/manifest.h"
#include "score/metrics.h"

/* Copy of a dataset in which one item feature can be changed and restored.
 *
 * Internal to offline/select; one per thread. The copy owns only x, so the original must outlive
 * it.
 */
struct ek_column {
    struct ek_dataset data; /* owns x */
    float *was;             /* [N] */
    size_t feature;
};

/* Feature importance: the decrease of a ranking metric when a feature is destroyed or rerouted.
 *
 *   permutation  values shuffled among the items of a list, missing ones included. If a
 *                feature is constant within every list, whole lists exchange values
 *                (Breiman 2001). Mean and sd over the repeats
 *   routed       the feature takes the wide path in all lists
 *   silenced     the model ignores the feature
 *
 * A loss below 0 is a gain. `routed` and `silenced` are NaN for features that are not routable.
 * ek_evaluate defines the metric and the policy for missing values. The result depends on the seed
 * but not on the number of threads. Memory: one copy of the items per thread.
 */
struct ek_importance {
    double lost, sd; /* by permutation; sd over the repeats with divisor n */
    double routed, silenced;
};

struct ek_importance_options {
    struct ek_metric metric;
    enum ek_gain gain;
    enum ek_empty empty;
    int repeats; /* >= 1 */
    uint64_t seed;
    /* Run task(arg, i) for i = 0 .. count-1, possibly in parallel. NULL: sequentially. */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    /* Called by the threads of `run` after each of `count` features. May be NULL. */
    void (*done)(void *context, int count);
    void *context;
};

/* Set all members of *o: NDCG@3, gain 2^y - 1, lists without a positive label skipped, 5 repeats,
 * and 0 (no threads, no callbacks) for the others. */
void ek_importance_defaults(struct ek_importance_options *o);
/* Set out [F] to the importance of all item features, and *whole to the metric of unchanged data.
 * Return 0, EK_ENOMEM, an error of ek_evaluate, or EK_EUSAGE if `repeats` is below 1 or no list
 * counts. */
int ek_importance_measure(const struct ek_model *m, const struct ek_dataset *d,
                          const struct ek_importance_options *o, double *whole,
                          struct ek_importance *out, struct ek_error *e);

/* Helpers for measures per feature: the metric of a model, and a loop over features that may use
 * threads. Internal to offline/select. */

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
 *              measurements (table in importance.c)
 *   action     route or silence, the one with the smaller loss (route if nearly equal), if the
 *              feature is routable and this is better than no action; else alert
 *   left       loss with the action; with alert all of it
 *   expected   chance x unnoticed, the expected cost of no monitoring
 *
 * Features with too many codes to renumber are not measured: their losses are NaN and the action is
 * alert. Losses may be negative. Missing values stay missing. Results do not depend on the number
 * of threads. Memory: one copy of the items per thread.
 */

enum { EK_SHIFTS_MAX = 12, EK_SHIFT_BYTES = 32 };

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
