/* How this instance stands in its fleet, for people: an object of the status, series for /metrics.
 * Value type. */
#ifndef EK_DAEMON_FLEET_FIGURES_H
#define EK_DAEMON_FLEET_FIGURES_H

#include "base/buf.h"
#include "daemon/config/instance.h"
#include "daemon/kafka/kafka_fleet.h"
#include "daemon/guard/shared_guard.h"
#include "fleet/fleet_pool.h"

struct ek_fleet_figures {
    char name[EK_INSTANCE_BYTES]; /* of this instance; "": nothing is known yet */
    struct ek_shared_fleet heard;
    int64_t age_ms; /* of the plan; since lists came where none was heard */
    bool cut_off, decides;
    int instances, shared; /* heard of by who decides; names that two processes go by */
    struct ek_fleet_pool_counts counts; /* of records taken by it */
    struct ek_fleet_traffic traffic;
};

int ek_fleet_figures_json(const struct ek_fleet_figures *f, struct ek_buf *out);
int ek_fleet_figures_metrics(const struct ek_fleet_figures *f, struct ek_buf *out);

#endif
