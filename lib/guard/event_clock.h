/* Event-time clock of a guard, for minimum durations.
 *
 * Partitions and producers are not synchronized, so lists arrive out of order, and the clock does
 * not step back by less than a day. It follows a list up to EK_EVENT_CLOCK_STEP_MS ahead. A list
 * further away may have a wrong time: the clock follows only if more than half of the last
 * EK_EVENT_CLOCK_LISTS lists are there, to the time on which more than half agree. Before that many
 * lists, steps back from EK_EVENT_CLOCK_STEP_MS are possible, because the first list may be wrong.
 *
 * Units: milliseconds since 1970. No allocation.
 */
#ifndef EK_GUARD_EVENT_CLOCK_H
#define EK_GUARD_EVENT_CLOCK_H

#include "base/serialize.h"

#include <stdint.h>

enum { EK_EVENT_CLOCK_LISTS = 64, EK_EVENT_CLOCK_STEP_MS = 60000 };

struct ek_event_clock {
    int64_t now_ms;
    int64_t last_ms[EK_EVENT_CLOCK_LISTS]; /* ring of list times */
    int next;                              /* index in the ring */
    int seen;                              /* lists, up to the size of the ring */
    int started;
};

/* Update the clock by the time of a list; a negative time counts as 0. Return the event time. */
int64_t ek_event_clock_list(struct ek_event_clock *c, int64_t time_ms);
/* Advance the clock by elapsed_ms without a list. Zero, less, and more than a day, which counts as
 * a clock step, are ignored. Return the event time. */
int64_t ek_event_clock_advance(struct ek_event_clock *c, int64_t elapsed_ms);
/* Restore the ring from now_ms, seen and started, as if all lists had the time now_ms. */
void ek_event_clock_restored(struct ek_event_clock *c);
/* Read or write the list times, oldest first, as distances from now_ms, which stay constant without
 * lists. When reading, now_ms, seen and started must be those of the written clock. Errors are in
 * s->rc. */
void ek_event_clock_serialize(struct ek_event_clock *c, struct ek_serialize *s);

#endif
