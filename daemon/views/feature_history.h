/* How features went over time: the evidence against each, and what is known of its change.
 *
 * A sample is taken with each tick of the guard, of every feature in every cell while there is
 * room, and beyond that of those that are of interest: with an open change, or half the way (in ln)
 * to an alarm. A track holds so many samples, the older ones further and further apart. Owner: the
 * caller. Threads: _step is for that of the guard and never waits for a reader, who may miss a
 * sample by that; the others are for any.
 */
#ifndef EK_DAEMON_VIEWS_FEATURE_HISTORY_H
#define EK_DAEMON_VIEWS_FEATURE_HISTORY_H

#include "base/buf.h"
#include "detect/detector.h"

enum {
    EK_FEATURE_HISTORY_SIZE = 512,
    EK_TRACK_SAMPLES = 240,
    EK_TRACK_LOOKS = 2048 /* at features without a track, of one step */
};

struct ek_feature_history;

/* NULL without memory. */
struct ek_feature_history *ek_feature_history_new(void);
/* NULL is allowed. */
void ek_feature_history_free(struct ek_feature_history *t);
/* All begins anew. */
void ek_feature_history_clear(struct ek_feature_history *t);
/* A sample of each. What there is no memory for is not shown. */
void ek_feature_history_step(struct ek_feature_history *t, const struct ek_detector *d,
                             int features);
/* Appends a JSON object (docs/format/features.md), or null. dimension NULL: all traffic. */
int ek_feature_history_json(struct ek_feature_history *t, int feature, const char *dimension,
                            const char *value, struct ek_buf *out);

#endif
