#include "daemon/fleet/pace.h"

void ek_pace_ask(struct ek_pace *p)
{
    p->asked = true;
}

int64_t ek_pace_left_ms(const struct ek_pace *p, int64_t now_ms)
{
    int64_t early_ms = p->last_ms + p->gap_ms;
    int64_t at_ms = p->asked && early_ms < p->due_ms ? early_ms : p->due_ms;
    return at_ms > now_ms ? at_ms - now_ms : 0;
}

enum ek_pace_turn ek_pace_take(struct ek_pace *p, int64_t now_ms)
{
    if (ek_pace_left_ms(p, now_ms))
        return EK_PACE_WAIT;
    p->asked = false;
    p->last_ms = now_ms;
    if (now_ms < p->due_ms)
        return EK_PACE_EARLY;
    int64_t next_ms = p->due_ms + p->every_ms;
    p->due_ms = next_ms > now_ms ? next_ms : now_ms + p->every_ms; /* late ones are left out */
    return EK_PACE_TICK;
}
