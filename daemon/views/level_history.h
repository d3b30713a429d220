/* Level of a feature in a segment over the last hour of event time, a value per minute, relative to
 * training or the accepted level. Plain values; one thread at a time. */
#ifndef EK_DAEMON_VIEWS_LEVEL_HISTORY_H
#define EK_DAEMON_VIEWS_LEVEL_HISTORY_H

#include "base/buf.h"
#include "guard/live_sketches.h"

#include <stdint.h>

enum { EK_LEVEL_MINUTES = 60 };

/* Finite nonzero values: their number, and the sum of ln|x|. */
struct ek_level_sum {
    double items, log_sum;
};

struct ek_level_history {
    int64_t minute;                    /* newest one; 0: none */
    struct ek_level_sum before, total; /* up to that minute; up to the previous addition */
    float log_level[EK_LEVEL_MINUTES]; /* by minute modulo EK_LEVEL_MINUTES; NaN: no values */
};

/* Set the level of the minute of time_ms from the statistics since the start, which at the first
 * call and after a restart of the statistics are only noted. */
void ek_level_history_add(struct ek_level_history *h, const struct ek_feature_view *life,
                          const struct ek_values *training, int64_t time_ms);
/* Append `"levels":{"from_ms":..,"level":[..]}` up to the newest minute, or `"levels":null`, with a
 * leading comma. Return 0 or EK_ENOMEM. */
int ek_level_history_json(const struct ek_level_history *h, struct ek_buf *out);

#endif
