/* Lists per minute over the last hour of event time, and the current rate. Threads: any. */
#ifndef EK_DAEMON_VIEWS_TRAFFIC_HISTORY_H
#define EK_DAEMON_VIEWS_TRAFFIC_HISTORY_H

#include "base/buf.h"

#include <stdint.h>

enum { EK_TRAFFIC_MINUTE_MS = 60000, EK_TRAFFIC_MINUTES = 60, EK_TRAFFIC_SAMPLES = 11 };

struct ek_traffic_history;

/* Totals of a process; a restored state increases only the lists, and a message counts when it is
 * consumed, its list when it is observed. */
struct ek_traffic_sample {
    uint64_t lists, messages;
    int64_t event_ms; /* of the last list; -1: none */
    int64_t now_ms, wall_ms;
};

/* Create an empty history. Return NULL if memory runs out. */
struct ek_traffic_history *ek_traffic_history_new(void);
void ek_traffic_history_free(struct ek_traffic_history *h);
/* Add the lists since the previous sample, evenly between its event time and this one. A time in
 * the future counts as the wall time. The rate is that of the last EK_TRAFFIC_SAMPLES samples. */
void ek_traffic_history_add(struct ek_traffic_history *h, const struct ek_traffic_sample *s);
/* Return the current lists per second. */
double ek_traffic_history_rate(struct ek_traffic_history *h);
/* Append the start of the first minute and the lists per minute as a JSON object, null before the
 * first list. Return 0 or EK_ENOMEM. */
int ek_traffic_history_json(struct ek_traffic_history *h, struct ek_buf *out);

#endif
