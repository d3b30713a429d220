/* Live sketches of the traffic per cell and feature, and the statistics of a feature that they
 * give, compared with training. Statistics are read from the sketches on request; nothing else is
 * stored. One thread at a time. */
#ifndef EK_GUARD_LIVE_SKETCHES_H
#define EK_GUARD_LIVE_SKETCHES_H

#include "assets/profile.h"
#include "base/buf.h"
#include "detect/cells.h"
#include "detect/level_offset.h"
#include "evenkeel.h"
#include "lists/list.h"
#include "num/divergence.h"
#include "num/histogram.h"
#include "num/windows.h"
#include "rules/rules.h"

#include <stdbool.h>

/* Statistics of one feature in one cell over one time span, compared with training.
 *
 * Counts and fractions refer to items. Quantiles and moments ignore missing values (num/sketch.h).
 * A statistic without data is NaN, in JSON null. Plain values.
 */
enum { EK_QUANTILES = 7 };
/* Increasing, 0.01 to 0.99; the middle one is the median. */
extern const double ek_quantile_share[EK_QUANTILES];
enum { EK_MEDIAN = EK_QUANTILES / 2 };

/* Statistics of live traffic or of training. */
struct ek_values {
    uint64_t items;
    double missing, zero, negative, infinite; /* fractions of the items */
    double log_mean, log_sd;                  /* of ln|x| over finite nonzero values */
    double quantile[EK_QUANTILES];            /* of x over finite values */
};

/* Accepted level of the cell. */
struct ek_accepted_view {
    double factor; /* scale factor; 1: as trained */
    bool in_part;  /* lists of other segments in the cell have other levels */
};

struct ek_feature_view {
    uint64_t lists;
    struct ek_values values;
    double scale_ratio; /* geometric mean of |x| relative to training or the accepted level */
    struct ek_divergence divergence;
    struct ek_accepted_view accepted;
};

/* Return psi minus its expectation by chance for this number of items, for sorting; -inf without
 * items. */
double ek_feature_view_moved(const struct ek_feature_view *v);
/* Append the statistics as a JSON object. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of
 * `out`. */
int ek_values_json(struct ek_buf *out, const struct ek_values *v);
/* Append the view as a JSON object. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of `out`. */
int ek_feature_view_json(struct ek_buf *out, const struct ek_feature_view *v);

/* Live sketches of the traffic per cell and watched feature, and their divergence from training.
 *
 * For display only; they cause no findings. All lists count, including duplicates. A query feature
 * has one value per list, or per item if messages hold one. A list counts in
 * the window of the event time at its arrival. Only cells below windows.max_segments of the rules
 * have sketches. The first list of a cell reserves 320 KiB of address space per feature, of which
 * about 20 KB are touched. Closed windows are packed in small steps with each list, cell by cell.
 *
 * Manifest, profile, rules and cells must outlive it.
 */
/* recent: current and previous window, since the last change of the feature; retained: all windows;
 * life: since the start. */
enum ek_span { EK_SPAN_RECENT, EK_SPAN_RETAINED, EK_SPAN_LIFE, EK_SPANS };
/* Return the name of a span, a static string: "current", "retained", "lifetime". */
const char *ek_span_name(enum ek_span span);

/* Memory limit, as an average over cells: per item feature, per closed window of a feature, and per
 * cell. Normal traffic uses half of it; only values of arbitrary magnitudes use more. Above the
 * limit, the cell with the most memory loses its sketches and restarts with its next list. */
enum {
    EK_LIVE_SKETCHES_FEATURE_BYTES = 48 << 10,
    EK_LIVE_SKETCHES_WINDOW_BYTES = 2 << 10,
    EK_LIVE_SKETCHES_CELL_BYTES = 64 << 10
};
/* Return the memory limit in bytes. `cells`: maximum number of cells. */
size_t ek_live_sketches_max_bytes(int features, const struct ek_window_rule *rule, int cells);

enum { EK_LIVE_SKETCHES_CHANGES = 256 };

struct ek_live_sketches;

/* Create empty live sketches. Manifest, profile and cells must outlive them. Return 0 or
 * EK_ENOMEM. */
int ek_live_sketches_new(struct ek_live_sketches **out, const struct ek_manifest *m,
                         const struct ek_profile *p, const struct ek_rules *rules,
                         const struct ek_cells *cells, struct ek_error *e);
void ek_live_sketches_free(struct ek_live_sketches *t);
/* Set the accepted levels; statistics are then relative to them. `rebases` is not copied and must
 * outlive the sketches. */
void ek_live_sketches_add_offset(struct ek_live_sketches *t,
                                 const struct ek_level_offsets *rebases);
/* Clear a cell that gets another segment value. */
void ek_live_sketches_reset_cell(struct ek_live_sketches *t, int cell);
/* Add a list or an item to these cells (-1: none) at this event time. Return 0, or EK_ENOMEM; some
 * cells may then lack it. */
int ek_live_sketches_list(struct ek_live_sketches *t, const int16_t *cells, int count,
                          int64_t time_ms, const struct ek_list *q, struct ek_error *e);
/* Separate the lists so far from the next ones of a feature in a cell, because it changed or
 * recovered: recent values are then those of the next lists. The last EK_LIVE_SKETCHES_CHANGES
 * calls count. Return 0, or EK_ENOMEM without a change. */
int ek_live_sketches_separate(struct ek_live_sketches *t, int cell, int feature,
                              struct ek_error *e);
/* Return the bytes of all sketches, at most ek_live_sketches_max_bytes. */
size_t ek_live_sketches_bytes(const struct ek_live_sketches *t);
/* Return how often a cell has lost its sketches to the limit. */
uint64_t ek_live_sketches_dropped(const struct ek_live_sketches *t);
/* Set the event time, without a list. */
void ek_live_sketches_time(struct ek_live_sketches *t, int64_t time_ms);

/* Return the number of watched features. */
int ek_live_sketches_features(const struct ek_live_sketches *t);
/* Return the number of cells that may have sketches. */
int ek_live_sketches_cells(const struct ek_live_sketches *t);
/* Set *dimension and *value to the names of a cell, valid until the cell is reused. NULL: all
 * traffic; value NULL: other. */
void ek_live_sketches_cell(const struct ek_live_sketches *t, int cell, const char **dimension,
                           const char **value);
/* Set out [span] to the statistics of a feature in a cell. Return 1, or 0 if the cell has no
 * sketches; `out` is then unchanged. Takes about 200 microseconds. */
int ek_live_sketches_view(struct ek_live_sketches *t, int cell, int feature,
                          struct ek_feature_view out[EK_SPANS]);
/* Set *out to the histogram of recent values and of training at the accepted level. Return 1, or 0
 * if the cell has no sketches; *out is then unchanged. Takes about 50 microseconds. */
int ek_live_sketches_histogram(struct ek_live_sketches *t, int cell, int feature,
                               struct ek_histogram *out);
/* Return whether the values of a segment dimension have levels of their own in training, so that
 * their difference from all of training is no shift. The profile decides; any thread. */
bool ek_live_sketches_differ(const struct ek_live_sketches *t, const char *dimension);
/* Return the training statistics [features]; valid as long as the sketches, for any thread. */
const struct ek_values *ek_live_sketches_training(const struct ek_live_sketches *t);

/* Return the sketches of a cell, for checkpoints, or NULL. The live sketches own them. */
struct ek_windows *ek_live_sketches_windows(const struct ek_live_sketches *t, int cell);
/* Create empty sketches of a cell, for a restore, unless they exist. Return 0 or EK_ENOMEM. */
int ek_live_sketches_open(struct ek_live_sketches *t, int cell, struct ek_error *e);
/* Count the memory of a cell's sketches after the caller changed them. If all exceed their limit
 * the largest are dropped, also these. */
void ek_live_sketches_filled(struct ek_live_sketches *t, int cell);

/* Return the live sketches of a guard, which owns them. */
struct ek_live_sketches *ek_guard_traffic(struct ek_guard *g);

#endif
