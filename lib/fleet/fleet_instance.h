/* Instance of a fleet: writes evidence reports and row answers, and applies the plan records of the
 * leader.
 *
 * Findings are local; the plan is the same on all instances. Free it before the detector, and use
 * it in the thread of the detector.
 */
#ifndef EK_FLEET_FLEET_INSTANCE_H
#define EK_FLEET_FLEET_INSTANCE_H

#include "fleet/comparison_record.h"
#include "fleet/plan_record.h"
#include "fleet/row_samples.h"

struct ek_fleet_instance;

struct ek_fleet_instance_setup {
    const struct ek_profile *profile; /* of the detector */
    const char *name;                 /* instance name, 1 to EK_FLEET_NAME_MAX bytes; copied */
    uint64_t start;                   /* larger than in all earlier runs of this name */
    int cells;                        /* reported cells; 0: EK_FLEET_CELLS_DEFAULT_MAX */
};

/* Create an instance. The detector, which must outlive it, joins the fleet with
 * EK_FLEET_SHARE_LOCAL of its false-alarm budget. The setup is copied. Return 0 or EK_ENOMEM. */
int ek_fleet_instance_new(struct ek_fleet_instance **out, struct ek_detector *d,
                          const struct ek_fleet_instance_setup *setup, struct ek_error *e);
void ek_fleet_instance_free(struct ek_fleet_instance *m);

/* Write the periodic report: evidence since the last report, and rows that the leader requested.
 * Calls `write` for each record in order. `stream_ms`: latest event time of a list. Return 0,
 * EK_ENOMEM, EK_ELIMIT or the error of `write`; on error only the evidence of this report is
 * lost. */
int ek_fleet_instance_report(struct ek_fleet_instance *m, int64_t stream_ms,
                             int (*write)(void *context, const void *bytes, size_t length),
                             void *context, struct ek_error *e);
/* Write the comparisons of the routes in the plan, in addition to reports; no record without
 * comparisons. `drifted`: the model no longer agrees with upstream, which the record states. Return
 * 0, EK_ENOMEM, EK_ELIMIT or the error of `write`. */
int ek_fleet_instance_comparisons(struct ek_fleet_instance *m, const struct ek_comparisons *t,
                                  bool drifted,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e);
/* Record that the detector has reported a finding, so that the next report is early. An update of
 * its statistics is not urgent and has no effect. */
void ek_fleet_instance_add_finding(struct ek_fleet_instance *m, const struct ek_finding *f);
/* Return whether the detector has found something since the last report. */
bool ek_fleet_instance_has_findings(const struct ek_fleet_instance *m);
/* Return whether the leader requests rows for a diagnosis. */
bool ek_fleet_instance_is_sampled(const struct ek_fleet_instance *m);
/* Write an early report if the detector has found something, else the new requested rows, by calls
 * of `write`. Return 0, EK_ENOMEM, EK_ELIMIT or the error of `write`; on error only the evidence of
 * this report is lost. */
int ek_fleet_instance_report_early(struct ek_fleet_instance *m, int64_t stream_ms,
                                   int (*write)(void *context, const void *bytes, size_t length),
                                   void *context, struct ek_error *e);
/* Return the plans of this instance, which owns them. The caller passes the plan records to them.
 */
struct ek_instance_plans *ek_fleet_instance_plans(struct ek_fleet_instance *m);

#endif
