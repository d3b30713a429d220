/* What has been tried, for people: `/api/v1/impact` and the metrics of ranks.
 *
 * No list is taken while one of them is written. Append to `out`; EK_ENOMEM.
 */
#ifndef EK_DAEMON_GUARD_IMPACT_METRICS_H
#define EK_DAEMON_GUARD_IMPACT_METRICS_H

#include "base/json.h"
#include "daemon/guard/guard_service.h"
#include "guard/guard_trials.h"

enum { EK_IMPACT_ROUTES = 64 }; /* routes on /metrics, the first of the plan */

/* The routes of one feature as a JSON array. */
int ek_impact_json(struct ek_guard_service *guard, const char *feature, struct ek_buf *out);
int ek_impact_page(struct ek_guard_service *guard, struct ek_buf *out);
int ek_impact_metrics(struct ek_guard_service *guard, struct ek_buf *out);

/* The members of an object about these lists; nothing is known of no lists. */
void ek_json_add_rank_sums(struct ek_json_writer *w, const struct ek_rank_sums *s);
/* The guardrail of a route, null unless `is`. */
void ek_json_add_guardrail(struct ek_json_writer *w, const char *key,
                           const struct ek_impact_view *v, bool is);

#endif
