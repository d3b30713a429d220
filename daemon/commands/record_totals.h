/* What records come to: how many, how large, and when. Value type. */
#ifndef EK_DAEMON_RECORD_TOTALS_H
#define EK_DAEMON_RECORD_TOTALS_H

#include <stddef.h>
#include <stdint.h>

struct ek_record_totals {
    uint64_t messages, bytes, largest; /* largest: bytes of that message */
    int64_t first_ms, last_ms;         /* earliest and latest; -1 without any */
};

void ek_record_totals_init(struct ek_record_totals *t);
/* length: bytes of it; time_ms below 0: it has none. */
void ek_record_totals_add(struct ek_record_totals *t, size_t length, int64_t time_ms);

#endif
