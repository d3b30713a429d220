#include "daemon/commands/record_totals.h"

void ek_record_totals_init(struct ek_record_totals *t)
{
    *t = (struct ek_record_totals){.first_ms = -1, .last_ms = -1};
}

void ek_record_totals_add(struct ek_record_totals *t, size_t length, int64_t time_ms)
{
    t->messages++;
    t->bytes += length;
    t->largest = length > t->largest ? length : t->largest;
    if (time_ms >= 0 && (t->first_ms < 0 || time_ms < t->first_ms))
        t->first_ms = time_ms;
    t->last_ms = time_ms > t->last_ms ? time_ms : t->last_ms;
}
