/* When it is time for what is done at every tick, and between two ticks where something asks for
 * it, but then not too soon after the last time. Times are of one clock. Value type; begin with the
 * two lengths, and all else 0.
 */
#ifndef EK_DAEMON_PACE_H
#define EK_DAEMON_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct ek_pace {
    int64_t every_ms, gap_ms; /* between ticks; before what is early, at least */
    int64_t due_ms, last_ms;  /* the next tick; the last time it was done, early or not */
    bool asked;
};

enum ek_pace_turn { EK_PACE_WAIT, EK_PACE_EARLY, EK_PACE_TICK };

/* Something should not wait for the next tick. */
void ek_pace_ask(struct ek_pace *p);
/* ms until there is something to do, 0 when there is. */
int64_t ek_pace_left_ms(const struct ek_pace *p, int64_t now_ms);
/* What is to be done now; it counts as done. */
enum ek_pace_turn ek_pace_take(struct ek_pace *p, int64_t now_ms);

#endif
