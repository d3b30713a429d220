/* The stream's own time: what holds are measured in.
 *
 * Partitions and producers are not in step, so lists come out of order: the clock never goes back
 * by less than a day. It follows a list that is up to EK_EVENT_CLOCK_STEP_MS ahead. A list further
 * away is taken for a wrong clock somewhere: there the clock goes only when more than half of the
 * last EK_EVENT_CLOCK_LISTS are, and then as far as more than half of them agree. Until so many
 * came it goes back by less than a day as well, for the first of all may have been the wrong one.
 * Units: milliseconds since 1970. No allocation, no failure.
 */
#ifndef EK_GUARD_GUARD_H
#define EK_GUARD_GUARD_H

#include "base/serialize.h"

#include <stdint.h>

enum { EK_EVENT_CLOCK_LISTS = 64, EK_EVENT_CLOCK_STEP_MS = 60000 };

struct ek_event_clock {
    int64_t now_ms;
    int64_t last_ms[EK_EVENT_CLOCK_LISTS]; /* a ring of the times of lists */
    int next;                              /* in it */
    int seen;                              /* lists, up to the length of it */
    int started;
};

/* A list of that time came, below 0 counts as 0; returns the stream's time. */
int64_t ek_event_clock_list(struct ek_event_clock *c, int64_t time_ms);
/* Time passed without a list. More than a day at once did not pass: somebody has set a clock. */
int64_t ek_event_clock_advance(struct ek_event_clock *c, int64_t elapsed_ms);
/* Goes on from now_ms, seen and started, as if all lists had come at now_ms. */
void ek_event_clock_restored(struct ek_event_clock *c);
/* The times of the last lists, the oldest first, as distances from now_ms, which stay the same when
 * time passes without lists. now_ms, seen and started are those of the clock that was written. */
void ek_event_clock_serialize(struct ek_event_clock *c, struct ek_serialize *s);

#endif
