/* Agreement watch of a guard: sequential tests that the model still ranks as the upstream ranker
 * does. */
#ifndef EK_SERVE_AGREEMENT_WATCH_H
#define EK_SERVE_AGREEMENT_WATCH_H

#include "assets/model.h"
#include "base/serialize.h"
#include "lists/list.h"

#include <stdbool.h>
#include <stdint.h>

/* Sequential test that the mean of values in 0 to 1 is above a bound.
 *
 * An e-value is e = 1 + stake (x - bound), with stake < 1 / bound, so e is not negative. While the
 * expectation of each value, given the earlier values, is at most `bound`, that of e is at most 1
 * for any distribution (Waudby-Smith and Ramdas 2024). The evidence is the Shiryaev-Roberts
 * statistic R <- (R + 1) e, averaged over several stakes. R - n is a supermartingale: the mean
 * number of values until R reaches A is at least A, and the probability within n values is at most
 * n / A.
 *
 * Value type; no allocation, clock or randomness.
 */
enum { EK_MEAN_EVALUES = 5, EK_MEAN_UNITS = 20 };

struct ek_mean_evalues {
    double bound;
    double r[EK_MEAN_EVALUES];
    /* Largest product of e over the last values (Page 1954), and the number of its first value. */
    double run[EK_MEAN_EVALUES];
    uint64_t since[EK_MEAN_EVALUES];
};

/* Start a test without evidence. `bound`: the mean that the values may have under the null
 * hypothesis, 0 < bound < 1. */
void ek_mean_evalues_start(struct ek_mean_evalues *b, double bound);
/* Update the evidence by value x, 0 .. 1. `number` identifies it, for ek_mean_evalues_since. */
void ek_mean_evalues_add(struct ek_mean_evalues *b, double x, uint64_t number);
/* Add ln e of a value to sum [EK_MEAN_EVALUES], rounded down to units of 2^-EK_MEAN_UNITS. Sums of
 * several sources add up in any order. */
void ek_mean_evalues_sum(int64_t *sum, double bound, double x);
/* Add the sums of n values: R <- (R + n) exp(sum). R - n remains a supermartingale; the first value
 * is unknown. */
void ek_mean_evalues_add_sums(struct ek_mean_evalues *b, const int64_t *sum, uint64_t n);
/* Return the evidence: the mean of R over stakes. */
double ek_mean_evalues_evidence(const struct ek_mean_evalues *b);
/* Return the first value of the run with the most evidence; *most is its evidence. */
uint64_t ek_mean_evalues_since(const struct ek_mean_evalues *b, double *most);

/* Agreement of model and upstream ranker (docs/detection.md).
 *
 * Without a route the model's scores are unused, so a change of the upstream ranker would be
 * noticed only by routed lists. So a fraction of clean lists is also scored by the model, and both
 * orders are compared (score/agreement.h). Sequential tests with a false-alarm budget compare the
 * statistics with the reference in the model file.
 *
 * Only the list number decides which lists are compared: one at a random index, with a fixed seed,
 * per block of `every` lists. `every` follows from the size of the model, so that the cost is below
 * 2% of the guard. Memory grows only with the list size. Deterministic.
 */
struct ek_agreement_watch;

enum {
    EK_AGREEMENT_WINDOW = 128,      /* compared lists in the current statistics */
    EK_AGREEMENT_REFERENCE_MIN = 50 /* minimum lists of the reference */
};

enum ek_agreement_state {
    EK_AGREEMENT_UNKNOWN, /* the model has no reference */
    EK_AGREEMENT_HOLDS,
    EK_AGREEMENT_DRIFTED
};
/* Return the name of a state, a static string: "unknown", "holds", "drifted". */
const char *ek_agreement_state_name(enum ek_agreement_state s);

struct ek_agreement_view {
    enum ek_agreement_state state;
    int every;                               /* lists per comparison */
    uint64_t lists;                          /* compared since the start */
    int recent;                              /* lists in `now`, at most EK_AGREEMENT_WINDOW */
    uint64_t since_query;                    /* the first of them */
    double now[EK_AGREEMENT_STATISTICS];     /* current statistics; NaN before the first list */
    double trained[EK_AGREEMENT_STATISTICS]; /* reference in the model; NaN: none */
    double least[EK_AGREEMENT_STATISTICS];   /* threshold; NaN: not tested */
    bool is_upstream;                        /* the model is the user's own ranker */
};

/* Create a watch. `false_alarms`: minimum mean number of lists per false alarm. The model must
 * outlive the watch. Return 0 or EK_ENOMEM. */
int ek_agreement_watch_new(struct ek_agreement_watch **out, const struct ek_model *m,
                           uint64_t false_alarms, struct ek_error *e);
void ek_agreement_watch_free(struct ek_agreement_watch *w);
/* Count a list. Return whether to compare it: one list of each group of equal size, chosen at
 * random. */
bool ek_agreement_watch_is_due(struct ek_agreement_watch *w);
/* Add a list to compare. `student` [items]: model scores without a route; `number`: of the list.
 * *changed: the state has changed. Return 0, or EK_ENOMEM; on error the list is ignored. */
int ek_agreement_watch_list(struct ek_agreement_watch *w, const struct ek_list *q,
                            const double *student, uint64_t number, bool *changed,
                            struct ek_error *e);
/* Set *out to the statistics of the watch. After a change to drifted, `now` covers the retained
 * lists since it began. */
void ek_agreement_watch_view(const struct ek_agreement_watch *w, struct ek_agreement_view *out);

/* Return the root mean square fraction of discordant pairs between model and upstream on clean
 * lists. It uses the last lists if they are EK_AGREEMENT_REFERENCE_MIN or the model has drifted,
 * else the reference. 0 without a reference: the model was not distilled from upstream, so
 * differences are no error. */
double ek_agreement_gap(const struct ek_agreement_watch *w);

/* Read or write the state. Read into a new watch; the state of another model or budget is skipped.
 * Errors are in s->rc. */
void ek_agreement_watch_serialize(struct ek_agreement_watch *w, struct ek_serialize *s);

struct ek_guard;
/* Return the agreement watch of a guard, which owns it. NULL: no model, or a model that always
 * routes the same features. */
const struct ek_agreement_watch *ek_guard_agreement(const struct ek_guard *g);
/* Return the result of ek_agreement_gap for the guard's watch, NaN without one. */
double ek_guard_gap(const struct ek_guard *g);

#endif
