/* The stream's own time: what holds are measured in.
 *
 * Partitions and producers are not in step, so lists come out of order: the clock never goes back
 * by less than a day. A list from more than a day ahead or behind is taken for a wrong clock
 * somewhere, unless EK_STREAM_CLOCK_LISTS of them come in a row: then the stream really is there.
 * Units: milliseconds since 1970. No allocation, no failure.
 */
#ifndef EK_GUARD_STREAM_CLOCK_H
#define EK_GUARD_STREAM_CLOCK_H

#include <stdint.h>

enum { EK_STREAM_CLOCK_LISTS = 64 };

struct ek_stream_clock {
    int64_t now_ms;
    int strangers; /* lists in a row from more than a day away */
    int started;
};

/* A list of that time came; returns the stream's time. */
int64_t ek_stream_clock_list(struct ek_stream_clock *c, int64_t time_ms);
/* Time passed without a list. More than a day at once did not pass: somebody has set a clock. */
int64_t ek_stream_clock_pass(struct ek_stream_clock *c, int64_t elapsed_ms);

#endif
