/* An instance of a fleet: what it writes, at each tick and, where that should not wait for the
 * next, between two; and what it does with the decider's plan.
 *
 * Its findings stay its own; what is done about them is the plan's, which is the same for all.
 * Owner: the caller, who lets it go before the detector. One thread at a time, that of the
 * detector.
 */
#ifndef EK_FLEET_FLEET_INSTANCE_H
#define EK_FLEET_FLEET_INSTANCE_H

#include "fleet/comparison_record.h"
#include "fleet/plan_record.h"
#include "fleet/row_samples.h"

struct ek_fleet_instance;

struct ek_fleet_instance_setup {
    const struct ek_profile *profile; /* of the detector */
    const char *name;                 /* of the instance, 1 to EK_FLEET_NAME_MAX bytes; copied */
    uint64_t start;                   /* larger than in any run of that name before */
    int cells;                        /* in a tick; 0: EK_FLEET_CELLS_DEFAULT_MAX */
};

/* The detector joins the fleet, with EK_FLEET_SHARE_LOCAL of its budget of false alarms. */
int ek_fleet_instance_new(struct ek_fleet_instance **out, struct ek_detector *d,
                          const struct ek_fleet_instance_setup *setup, struct ek_error *e);
void ek_fleet_instance_free(struct ek_fleet_instance *m);

/* A tick: calls write with each record, in order: what was seen since the last one, and what the
 * decider asked for. stream_ms: the highest time of a list. EK_ENOMEM, EK_ELIMIT, or what write
 * returned; then the evidence of the tick is lost, and no more. */
int ek_fleet_instance_report(struct ek_fleet_instance *m, int64_t stream_ms,
                             int (*write)(void *context, const void *bytes, size_t length),
                             void *context, struct ek_error *e);
/* What was tried of the routes in the plan, beside a tick; nothing where nothing was. As
 * ek_fleet_instance_report. */
int ek_fleet_instance_comparisons(struct ek_fleet_instance *m, const struct ek_comparisons *t,
                                  bool drifted,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e);
/* The detector has told this: what has changed should not wait. */
void ek_fleet_instance_add_finding(struct ek_fleet_instance *m, const struct ek_finding *f);
/* Whether something was found since the last tick. */
bool ek_fleet_instance_has_findings(const struct ek_fleet_instance *m);
/* Whether the decider needs lists to tell what something is. */
bool ek_fleet_instance_is_sampled(const struct ek_fleet_instance *m);
/* Between two ticks: a tick before its time where something was found, else the lists that are
 * asked for, as far as there are new ones. As ek_fleet_instance_report. */
int ek_fleet_instance_report_early(struct ek_fleet_instance *m, int64_t stream_ms,
                                   int (*write)(void *context, const void *bytes, size_t length),
                                   void *context, struct ek_error *e);
/* The plans of the fleet here; it takes the records of the plan's log. */
struct ek_instance_plans *ek_fleet_instance_plans(struct ek_fleet_instance *m);

#endif
