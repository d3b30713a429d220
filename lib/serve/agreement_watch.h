/* Bets that the mean of values in 0 .. 1 lies above a bound.
 *
 * A bet multiplies its money by e = 1 + stake (x - bound), with stakes below 1 / bound, so e is
 * never negative. While each value expects at most `bound`, given those before it, e expects at
 * most 1, whatever the law of the values (Waudby-Smith and Ramdas 2024). The evidence is
 * Shiryaev-Roberts', R <- (R + 1) e, the mean over bets with stakes of several sizes: then R - n is
 * a supermartingale, the mean time until R reaches A is at least A values, and the chance that it
 * does within n values at most n / A.
 * Value type, no memory of its own. No time, no randomness.
 */
#ifndef EK_SERVE_AGREEMENT_WATCH_H
#define EK_SERVE_AGREEMENT_WATCH_H

#include "assets/model.h"
#include "base/serialize.h"
#include "lists/list.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_MEAN_EVALUES = 5, EK_MEAN_UNITS = 20 };

struct ek_mean_evalues {
    double bound;
    double r[EK_MEAN_EVALUES];
    /* Product of e since the value from which on it is largest (Page 1954), and the number of that.
     */
    double run[EK_MEAN_EVALUES];
    uint64_t since[EK_MEAN_EVALUES];
};

/* bound: above 0, below 1. */
void ek_mean_evalues_start(struct ek_mean_evalues *b, double bound);
/* Takes value x, which has that number. */
void ek_mean_evalues_add(struct ek_mean_evalues *b, double x, uint64_t number);
/* Values that came elsewhere, summed, in any order: adds ln e of a value, rounded down to units of
 * 2^-EK_MEAN_UNITS, to sum [EK_MEAN_EVALUES]; */
void ek_mean_evalues_sum(int64_t *sum, double bound, double x);
/* and takes the sums of so many values at once: R <- (R + n) exp(sum). R - n is a supermartingale
 * still. Which value came first is not known of them. */
void ek_mean_evalues_add_sums(struct ek_mean_evalues *b, const int64_t *sum, uint64_t n);
double ek_mean_evalues_evidence(const struct ek_mean_evalues *b);
/* Where the values began that made the bet with the most evidence win, and in *most its evidence.
 */
uint64_t ek_mean_evalues_since(const struct ek_mean_evalues *b, double *most);

/* Whether model and upstream scorer still rank alike (docs/detection.md).
 *
 * While nothing is routed nobody sees the model's scores, so nobody would see that the upstream
 * scorer has become another one, until lists are routed and come out in the order of the old. So of
 * every so many lists one is scored by the model as well, if it is clean, and the two orders are
 * compared (lib/score/agreement.h). The figures are held against those the model was stored with,
 * by bets that hold a budget of false alarms.
 *
 * Which lists are taken depends on their number alone: one at a fixed random place in each block of
 * `every`, which follows from the size of the model so that all of it costs less than 2% of the
 * guard. Owner: the caller. One thread at a time. Allocates only while lists grow. Deterministic.
 */
struct ek_agreement_watch;

enum {
    EK_AGREEMENT_WINDOW = 128,      /* compared lists that the figures of now are the mean of */
    EK_AGREEMENT_REFERENCE_MIN = 50 /* lists behind the model's figures; with fewer none is held */
};

enum ek_agreement_state {
    EK_AGREEMENT_UNKNOWN, /* the model does not say how alike they were */
    EK_AGREEMENT_HOLDS,
    EK_AGREEMENT_DRIFTED
};
/* "unknown", "holds", "drifted". */
const char *ek_agreement_state_name(enum ek_agreement_state s);

struct ek_agreement_view {
    enum ek_agreement_state state;
    int every;                               /* of so many lists one is looked at */
    uint64_t lists;                          /* that were compared since the start */
    int recent;                              /* lists behind `now`, at most EK_AGREEMENT_WINDOW */
    uint64_t since_query;                    /* the first of them */
    double now[EK_AGREEMENT_STATISTICS];     /* NaN before the first list */
    double trained[EK_AGREEMENT_STATISTICS]; /* as the model says; NaN when it does not */
    double least[EK_AGREEMENT_STATISTICS];   /* what is still taken for the same; NaN when it is not
                                                tested */
};

/* false_alarms: lists of traffic per false alarm, at least. The model must outlive the watch. */
int ek_agreement_watch_new(struct ek_agreement_watch **out, const struct ek_model *m,
                           uint64_t false_alarms, struct ek_error *e);
void ek_agreement_watch_free(struct ek_agreement_watch *w);
/* Counts a list; whether it is its turn. */
bool ek_agreement_watch_is_due(struct ek_agreement_watch *w);
/* Takes a list whose turn it is. student [items]: scores of the model with nothing routed; number:
 * of the query. *changed: the state is another one now. EK_ENOMEM: nothing was taken. */
int ek_agreement_watch_list(struct ek_agreement_watch *w, const struct ek_list *q,
                            const double *student, uint64_t number, bool *changed,
                            struct ek_error *e);
/* After a change to drifted, `now` is that of the lists since it began, as far as they are kept. */
void ek_agreement_watch_view(const struct ek_agreement_watch *w, struct ek_agreement_view *out);

/* How far model and upstream are apart on clean lists, in the share of pairs that they have in
 * opposite order: its root mean square over the last lists, once they are
 * EK_AGREEMENT_REFERENCE_MIN or the model has drifted, else as the model says. 0 when the model
 * does not say: it was not taught by the upstream scorer, and what differs is no fault of it. */
double ek_agreement_gap(const struct ek_agreement_watch *w);

/* All that it has seen. Reading, into a new one: what one of another model, or of another budget,
 * had seen is left out. */
void ek_agreement_watch_serialize(struct ek_agreement_watch *w, struct ek_serialize *s);

struct ek_guard;
/* That of a guard; NULL without a model, or with one that always routes the same features. */
const struct ek_agreement_watch *ek_guard_agreement(const struct ek_guard *g);
/* ek_agreement_gap of it; NaN where there is none. */
double ek_guard_gap(const struct ek_guard *g);

#endif
