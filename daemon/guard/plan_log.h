/* The records of a fleet's plan that a guard has heard, for the one that takes its place: it is to
 * score its first list under the plan of that list's time, as all others do.
 *
 * Of each of the last EK_FLEET_PLANS versions the newest record. Owner: the caller; {0} is empty.
 * One thread at a time.
 */
#ifndef EK_DAEMON_PLAN_LOG_H
#define EK_DAEMON_PLAN_LOG_H

#include "base/buf.h"
#include "fleet/fleet_plan.h"

struct ek_plan_log {
    struct ek_buf record[EK_FLEET_PLANS]; /* ring */
    uint64_t version;                     /* of the newest */
    uint64_t count;                       /* versions, ever */
    int64_t heard_ms;                     /* the newest */
};

void ek_plan_log_release(struct ek_plan_log *l);
/* Copies a record of that version. EK_ENOMEM: it is not kept. */
int ek_plan_log_add(struct ek_plan_log *l, uint64_t version, const void *bytes, size_t length,
                    int64_t now_ms);
/* The records, oldest first: number `i` of ek_plan_log_count. */
int ek_plan_log_count(const struct ek_plan_log *l);
const struct ek_buf *ek_plan_log_at(const struct ek_plan_log *l, int i);

#endif
