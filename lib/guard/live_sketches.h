/* What traffic looks like beside training: the figures of one feature in one cell over one span.
 *
 * Counts and shares are of items. Quantiles and moments leave out what has none (see
 * num/sketch.h); a figure is NaN, and null in JSON, where nothing came that it could be of.
 * Plain values, no ownership.
 */
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

enum { EK_QUANTILES = 7 };
/* Rising; 0.01 .. 0.99, the middle one is the median. */
extern const double ek_quantile_share[EK_QUANTILES];
enum { EK_MEDIAN = EK_QUANTILES / 2 };

/* Of live traffic or of training. */
struct ek_values {
    uint64_t items;
    double missing, zero, negative, infinite; /* shares of the items */
    double log_mean, log_sd;                  /* of ln|x| over finite non-zero values */
    double quantile[EK_QUANTILES];            /* of x over finite values */
};

/* What was said to be normal in the cell, beside what was trained. */
struct ek_accepted_view {
    double factor; /* of the scale; 1: as trained */
    bool in_part;  /* other scales are normal for some of its lists, as for lists of a segment */
};

struct ek_feature_view {
    uint64_t lists;
    struct ek_values values;
    double
        scale_ratio; /* geometric mean of |x| over what is normal: that of training, or accepted */
    struct ek_divergence divergence;
    struct ek_accepted_view accepted;
};

/* How far psi is above what chance makes of that many items; -inf without items. For sorting. */
double ek_feature_view_moved(const struct ek_feature_view *v);
/* Appends a JSON object. EK_ENOMEM. */
int ek_values_json(struct ek_buf *out, const struct ek_values *v);
int ek_feature_view_json(struct ek_buf *out, const struct ek_feature_view *v);

/* Live sketches of the traffic, per cell and item feature, and how they differ from training.
 *
 * They describe; findings do not come from them. All lists count, repeats too. Time is the
 * stream's: a list belongs to the window of the stream's time when it came. Only cells whose number
 * is below the rules' windows.max_segments have sketches. A cell takes memory with its first list:
 * 320 KiB of address space per feature, of which some 20 KB are touched. Closed windows are packed
 * a few features per list, those of one cell after those of the other. Owner: the caller. One
 * thread at a time. Manifest, profile, rules and cells must outlive it.
 */
/* The window that is open with the one before; all that are kept; since the start. */
enum ek_span { EK_SPAN_RECENT, EK_SPAN_RETAINED, EK_SPAN_LIFE, EK_SPANS };
const char *ek_span_name(enum ek_span span);

/* What live sketches may take, on average over the cells that may have some: of an item feature,
 * and of each closed window of it, and of a cell besides. Traffic takes a half of that; what takes
 * more are values of any magnitude, which nobody's features have. When all together take more, the
 * cell that takes most loses its sketches, and begins anew with its next list. */
enum {
    EK_LIVE_SKETCHES_FEATURE_BYTES = 48 << 10,
    EK_LIVE_SKETCHES_WINDOW_BYTES = 2 << 10,
    EK_LIVE_SKETCHES_CELL_BYTES = 64 << 10
};
/* cells: that there can be. */
size_t ek_live_sketches_max_bytes(int features, const struct ek_window_rule *rule, int cells);

struct ek_live_sketches;

int ek_live_sketches_new(struct ek_live_sketches **out, const struct ek_profile *p,
                         const struct ek_rules *rules, const struct ek_cells *cells,
                         struct ek_error *e);
void ek_live_sketches_free(struct ek_live_sketches *t);
/* What is normal now: figures of a cell are beside training at that scale. Must outlive it. */
void ek_live_sketches_add_offset(struct ek_live_sketches *t,
                                 const struct ek_level_offsets *rebases);
/* A cell that changed hands begins anew. */
void ek_live_sketches_reset_cell(struct ek_live_sketches *t, int cell);
/* One list, or one item, of these cells (-1: none), at the stream's time. EK_ENOMEM: some of the
 * cells may not have counted it. */
int ek_live_sketches_list(struct ek_live_sketches *t, const int16_t *cells, int count,
                          int64_t time_ms, const struct ek_list *q, struct ek_error *e);
/* Bytes of all sketches: never more than ek_live_sketches_max_bytes. */
size_t ek_live_sketches_bytes(const struct ek_live_sketches *t);
/* How often a cell has lost its sketches, for they took too much. */
uint64_t ek_live_sketches_dropped(const struct ek_live_sketches *t);
/* The stream's time went on without a list. */
void ek_live_sketches_time(struct ek_live_sketches *t, int64_t time_ms);

int ek_live_sketches_features(const struct ek_live_sketches *t);
/* Cells that may have sketches: 0 .. that - 1. */
int ek_live_sketches_cells(const struct ek_live_sketches *t);
/* Names of a cell; NULL for all traffic, value NULL for "other". */
void ek_live_sketches_cell(const struct ek_live_sketches *t, int cell, const char **dimension,
                           const char **value);
/* The figures of a feature in a cell; 0 when the cell has no sketches. Costs some 200
 * microseconds. */
int ek_live_sketches_view(struct ek_live_sketches *t, int cell, int feature,
                          struct ek_feature_view out[EK_SPANS]);
/* The values that came lately beside those of training, at the scale that is normal in the cell; 0
 * when the cell has no sketches. Some 50 microseconds. */
int ek_live_sketches_histogram(struct ek_live_sketches *t, int cell, int feature,
                               struct ek_histogram *out);
/* Those of training; [features], as long as the traffic lives, for any thread. */
const struct ek_values *ek_live_sketches_training(const struct ek_live_sketches *t);

/* The sketches of a cell, for the state: NULL when it has none. With ek_live_sketches_open it gets
 * some. EK_ENOMEM. Who has put something into them says so with _filled: from then on they count,
 * and where all together take too much, the largest go, these perhaps. */
struct ek_windows *ek_live_sketches_windows(const struct ek_live_sketches *t, int cell);
int ek_live_sketches_open(struct ek_live_sketches *t, int cell, struct ek_error *e);
void ek_live_sketches_filled(struct ek_live_sketches *t, int cell);

/* That of a guard, which owns it. */
struct ek_live_sketches *ek_guard_traffic(struct ek_guard *g);

#endif
