/* Feature history: evidence and estimated factor of features over time.
 *
 * Each step adds a sample for every feature and cell while there is capacity, otherwise for those
 * with an open change or at least half the evidence (in ln) of an alarm. A track holds
 * EK_TRACE_SAMPLES samples; older ones are thinned out. Threads: any, except _step, which belongs
 * to the guard's thread; it never waits for a reader but skips the sample.
 */
#ifndef EK_DAEMON_VIEWS_FEATURE_HISTORY_H
#define EK_DAEMON_VIEWS_FEATURE_HISTORY_H

#include "base/buf.h"
#include "detect/detector.h"

enum {
    EK_FEATURE_HISTORY_SIZE = 512,
    EK_TRACE_SAMPLES = 240,
    EK_TRACE_CHECKS = 2048 /* features without a track checked per step */
};

struct ek_feature_history;

/* Create a history without tracks. Return NULL if memory runs out. */
struct ek_feature_history *ek_feature_history_new(void);
void ek_feature_history_free(struct ek_feature_history *t);
/* Remove all tracks. */
void ek_feature_history_clear(struct ek_feature_history *t);
/* Add a sample to each track, and start tracks; some are skipped if memory runs out. */
void ek_feature_history_step(struct ek_feature_history *t, const struct ek_detector *d,
                             int features);
/* Append the track of a feature in a segment as a JSON object (docs/http.md), or null if there is
 * none. dimension NULL: all traffic. Return 0 or EK_ENOMEM. */
int ek_feature_history_json(struct ek_feature_history *t, int feature, const char *dimension,
                            const char *value, struct ek_buf *out);

#endif
