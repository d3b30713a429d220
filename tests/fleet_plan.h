/* Plan record with some entries and all other parts empty. */
#ifndef EK_TESTS_FLEET_PLAN_H
#define EK_TESTS_FLEET_PLAN_H

#include "fleet/plan_record.h"
#include "tests/check.h"

/* Write the part of a record after its entries: no modes, desired plan, rollouts, pins, limits,
 * accepted shifts, decisions, findings or requests. */
static inline void fleet_plan_end(struct ek_serialize *w)
{
    struct ek_fleet_limits none = {.free_ms = -1};
    for (int i = 0; i < 4; i++)
        ek_record_write(w, 0);
    ek_fleet_limits_walk(w, &none);
    ek_record_write(w, 0);
    ek_serialize_u64(w, &(uint64_t){0});
    for (int i = 0; i < 4; i++)
        ek_record_write(w, 0);
    ck_assert_int_eq(ek_record_writer_finish(w), EK_OK);
}

static inline void fleet_plan_write(struct ek_buf *out, const struct ek_fleet_plan_head *head,
                                    const struct ek_fleet_entry *entry, int entries)
{
    struct ek_serialize w;
    ek_fleet_plan_start(&w, out, head);
    ek_record_write(&w, (uint64_t)entries);
    for (int i = 0; i < entries; i++) {
        struct ek_fleet_entry e = entry[i];
        ek_fleet_entry_walk(&w, &head->dimensions, &e);
    }
    fleet_plan_end(&w);
}

#endif
