/* Rank impact of routes: `/api/v1/impact` and the rank metrics.
 *
 * The guard is locked while they are written. Functions append to `out` and return 0 or EK_ENOMEM.
 */
#ifndef EK_DAEMON_GUARD_IMPACT_METRICS_H
#define EK_DAEMON_GUARD_IMPACT_METRICS_H

#include "base/json.h"
#include "daemon/guard/guard_service.h"
#include "guard/guard_trials.h"

enum { EK_IMPACT_ROUTES = 64 }; /* on /metrics: the first routes of the plan */

/* Append the response of /api/v1/impact of a guard. Return 0 or EK_ENOMEM. */
int ek_impact_write(const struct ek_guard *g, struct ek_buf *out);
/* Append the routes of one feature of a guard as a JSON array. Return 0 or EK_ENOMEM. */
int ek_impact_routes_write(const struct ek_guard *g, const char *feature, struct ek_buf *out);
/* Append the routes of one feature as a JSON array. Return 0 or EK_ENOMEM. */
int ek_impact_json(struct ek_guard_service *guard, const char *feature, struct ek_buf *out);
/* Append the response of /api/v1/impact. Return 0 or EK_ENOMEM. */
int ek_impact_page(struct ek_guard_service *guard, struct ek_buf *out);
/* Append the metric families. Return 0 or EK_ENOMEM. */
int ek_impact_metrics(struct ek_guard_service *guard, struct ek_buf *out);

/* Append the means as members of the open object; statistics are null without lists. */
void ek_json_add_rank_sums(struct ek_json_writer *w, const struct ek_rank_sums *s);
/* Append the guardrail of a route, its value and its limit under `key`; null unless `present`. */
void ek_json_add_guardrail(struct ek_json_writer *w, const char *key,
                           const struct ek_impact_view *v, bool present);

#endif
