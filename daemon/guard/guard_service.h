/* Guard service: one guard behind a mutex for all workers, and the fleet plans it received.
 *
 * Functions without another note may be called from any thread; they wait for the mutex. Event log,
 * metrics and log must outlive the service.
 */
#ifndef EK_DAEMON_GUARD_GUARD_SERVICE_H
#define EK_DAEMON_GUARD_GUARD_SERVICE_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/kafka/partition_offsets.h"
#include "daemon/kafka/producer.h"
#include "evenkeel.h"
#include "fleet/fleet_codec.h"
#include "fleet/plan_record.h"
#include "guard/operator_json.h"

#include <stdbool.h>
#include <stdint.h>

/* Plan records received from the fleet: the most recent record of each of the last EK_FLEET_PLANS
 * versions. A replacement guard replays them, so it scores its first list under the plan of that
 * list's time. {0} is empty. Threads: one at a time. */
struct ek_plan_cache {
    struct ek_buf record[EK_FLEET_PLANS]; /* ring */
    uint64_t version;                     /* of the last record */
    uint64_t count;                       /* versions received */
    int64_t received_ms;                  /* time of the last record */
};

/* Free the records. The cache starts as {0}. */
void ek_plan_cache_release(struct ek_plan_cache *l);
/* Add a copy of a record; it replaces a record of the same version. Return 0, or EK_ENOMEM without
 * storing it. */
int ek_plan_cache_add(struct ek_plan_cache *l, uint64_t version, const void *bytes, size_t length,
                      int64_t now_ms);
/* Return the number of records. */
int ek_plan_cache_count(const struct ek_plan_cache *l);
/* Return record `i`, 0 .. count - 1, oldest first; valid until the next addition. */
const struct ek_buf *ek_plan_cache_get(const struct ek_plan_cache *l, int i);

/* Processes the lists of all workers one by one, in order of arrival. Events go to log, event log,
 * metrics, alerts and the alert topic before the next list, so they are in the order of the lists.
 * Assets, event log, metrics, log and output must outlive it. Threads: any. */
struct ek_guard_service;
struct ek_event;
struct ek_event_log;
struct ek_feature_stats;
struct ek_agreement_cache;
struct ek_pause;
struct ek_feature_history;
struct ek_shadow_scorer;
struct ek_alerts;
struct ek_plan_view;

/* List in flight. `rc` other than 0: not decodable, with the error in `why`; skipped. */
struct ek_guard_service_list {
    struct ek_context *context;
    int rc;
    struct ek_error why;
    const struct ek_inflight *inflight; /* its message */
};

/* Create a service with a new guard of these assets, which must outlive it. Return 0, EK_ENOMEM, or
 * EK_ESTATE for assets that do not fit. */
int ek_guard_service_new(struct ek_guard_service **out, const struct ek_assets *assets,
                         struct ek_event_log *event_log, struct ek_metrics *metrics,
                         struct ek_log *log, struct ek_error *e);
void ek_guard_service_free(struct ek_guard_service *s);

/* Set the outputs of events, which must outlive the service; each may be NULL. Call before the
 * first list. */
void ek_guard_service_set_outputs(struct ek_guard_service *s, struct ek_output *output,
                                  struct ek_alerts *alerts);
/* Set the view of the plan, which must outlive the service. Call before the first list. */
void ek_guard_service_set_plan_view(struct ek_guard_service *s, struct ek_plan_view *view);
/* Return whether this instance decides on the plan: it has no fleet, or leads it and wrote the
 * current plan. */
bool ek_guard_service_is_plan_author(struct ek_guard_service *s);
/* Set a callback for each event, which is valid during the call. It is called with the guard locked
 * and must not call the service. Call before the first list. */
void ek_guard_service_set_listener(struct ek_guard_service *s,
                                   void (*receive)(void *context, const struct ek_event *v),
                                   void *context);
/* Lock the service and return its guard, valid until ek_guard_service_unlock. The caller must
 * neither call other functions of the service meanwhile nor cause events. */
struct ek_guard *ek_guard_service_lock(struct ek_guard_service *s);
/* End ek_guard_service_lock; the guard must not be used afterwards. */
void ek_guard_service_unlock(struct ek_guard_service *s);
/* Return the alert service that ek_guard_service_set_outputs set, not owned by the service; NULL:
 * none. */
struct ek_alerts *ek_guard_service_alerts(const struct ek_guard_service *s);
/* Choose the cells that observe each valid list, by its place in its topic. Call between
 * ek_context_read_message and ek_context_add_statistics. */
void ek_guard_service_choose(struct ek_guard_service *s, struct ek_guard_service_list *lists,
                             size_t count);
/* Call ek_guard_update for each valid list, in order and without other lists in between; for a list
 * that was already counted, or of a revoked partition, ek_guard_peek. Pending results of shadow
 * scoring are added first. All contexts must have the same assets. Return false, without effect, if
 * the guard has other assets: decode the lists again. */
bool ek_guard_service_update(struct ek_guard_service *s, struct ek_guard_service_list *lists,
                             size_t count, int64_t now_ms, struct ek_shadow_scorer *shadow);
/* Set the kill switch, which must outlive the guard. A replacement guard that was saved while
 * paused turns it on. Call before the first list. */
void ek_guard_service_set_pause(struct ek_guard_service *s, struct ek_pause *pause);
/* Pause or resume. Pausing takes effect at once; the guard stores it in its checkpoint. Return
 * false if unchanged. In a fleet it concerns this instance only and is not stored, and a resume has
 * no effect while the plan pauses the fleet. */
bool ek_guard_service_pause(struct ek_guard_service *s, bool paused, const char *actor,
                            const char *reason);
/* Store a copy of a decision from outside the guard in its decision log, and report its event.
 * Return 0 or EK_ENOMEM. */
int ek_guard_service_add_decision(struct ek_guard_service *s, const struct ek_decision_record *m);
/* Store a copy of a decision of the leader under the next number of this instance, and report its
 * event. Return 0 or EK_ENOMEM. */
int ek_guard_service_add_fleet_decision(struct ek_guard_service *s,
                                        const struct ek_decision_record *m);
/* Call `work` with the guard locked, and report its events. It may replace the guard, and then
 * frees the old one. Return the result of `work`. */
int ek_guard_service_with_guard(struct ek_guard_service *s,
                                int (*work)(void *context, struct ek_guard **guard,
                                            struct ek_error *e),
                                void *context, struct ek_error *e);
/* Call `work`, which executes an operator command, with the guard locked, report its events, and
 * call `write` with each resulting decision of kind `what`. Return 0, the error of `work`, or
 * EK_ENOMEM if `write` fails; the command is then executed. */
int ek_guard_service_run_command(struct ek_guard_service *s, enum ek_decision_kind what,
                                 int (*work)(void *context, struct ek_guard **guard,
                                             struct ek_error *e),
                                 int (*write)(void *context, const struct ek_decision_record *m),
                                 void *context, struct ek_error *e);
/* New assets, with the views to update. */
struct ek_guard_service_assets {
    const struct ek_assets *assets;
    struct ek_feature_stats *board;
    struct ek_agreement_cache *agreement;
    struct ek_feature_history *history;
    void (*on_switch)(void *context); /* called before the first list with the new assets */
    void *context;
};
/* Switch the guard to other assets, which must outlive it, and report its events. Set *fit to the
 * restored part of the state. Return 0, EK_ENOMEM, or EK_ESTATE if manifest or message layout
 * differ; on error nothing changes. */
int ek_guard_service_set_assets(struct ek_guard_service *s,
                                const struct ek_guard_service_assets *next,
                                enum ek_restore_result *fit, struct ek_error *e);
/* Return the guard's assets, valid until ek_guard_service_unlock_assets;
 * ek_guard_service_set_assets waits until then. For building a replacement guard. */
const struct ek_assets *ek_guard_service_lock_assets(struct ek_guard_service *s);
/* End ek_guard_service_lock_assets. */
void ek_guard_service_unlock_assets(struct ek_guard_service *s);
/* Report an event from outside the guard, which is not kept: log it, and pass it to outputs and
 * listener. */
void ek_guard_service_add_event(struct ek_guard_service *s, const struct ek_event *v);
/* Return the time to pass as now_ms: wall time at creation, advanced monotonically. */
int64_t ek_guard_service_clock_ms(const struct ek_guard_service *s);
/* Advance event time of the guard by the time since the last call, report the resulting events, and
 * update the metrics and the agreement cache. Return 0 or an error of ek_guard_advance. */
int ek_guard_service_advance(struct ek_guard_service *s, struct ek_agreement_cache *agreement,
                             struct ek_error *e);
/* Membership in a fleet. */
struct ek_guard_service_member {
    const char *name; /* borrowed for the service's lifetime; NULL: no fleet */
    int cells;        /* as in struct ek_fleet_instance_setup */
    /* Called for evidence to report before the next interval; from any thread, often. */
    void (*found)(void *context);
    void *context;
};
/* Make the guard and its replacements an instance of a fleet (guard/guard_fleet.h). Call before the
 * first list. Return 0 or EK_ENOMEM; on error the guard is unchanged. */
int ek_guard_service_join(struct ek_guard_service *s, const struct ek_guard_service_member *member,
                          struct ek_error *e);
/* Write an evidence report by calls of `write`; early: between two report intervals
 * (ek_guard_write_report). `write` is called with the guard locked and must not block. Return 0,
 * EK_ENOMEM, EK_ELIMIT or the error of `write`. */
int ek_guard_service_write_report(struct ek_guard_service *s, bool early,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e);
/* Apply a plan record of the fleet and report the resulting events. This instance sends alerts of
 * findings and plans if it is the leader and wrote the current plan. Set *counts to whether term
 * and version are not obsolete. Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_guard_service_receive_plan(struct ek_guard_service *s, const void *bytes, size_t length,
                                  int64_t now_ms, bool is_leader, bool *counts, struct ek_error *e);
/* Status of the fleet's plan on this instance. */
struct ek_guard_service_fleet {
    int64_t age_ms; /* since the last valid record; -1: none */
    uint64_t version, term, late, unresolved, lists;
    char leader[EK_FLEET_NAME_MAX + 1];
};
/* Set *out to the status of the plan at the monotonic time now_ms. Any thread. */
void ek_guard_service_fleet_state(struct ek_guard_service *s, int64_t now_ms,
                                  struct ek_guard_service_fleet *out);

#endif
