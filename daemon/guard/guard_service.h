/* The records of a fleet's plan that a guard has heard, for the one that takes its place: it is to
 * score its first list under the plan of that list's time, as all others do.
 *
 * Of each of the last EK_FLEET_PLANS versions the newest record. Owner: the caller; {0} is empty.
 * One thread at a time.
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

struct ek_plan_cache {
    struct ek_buf record[EK_FLEET_PLANS]; /* ring */
    uint64_t version;                     /* of the newest */
    uint64_t count;                       /* versions, ever */
    int64_t heard_ms;                     /* the newest */
};

void ek_plan_cache_release(struct ek_plan_cache *l);
/* Copies a record of that version. EK_ENOMEM: it is not kept. */
int ek_plan_cache_add(struct ek_plan_cache *l, uint64_t version, const void *bytes, size_t length,
                      int64_t now_ms);
/* The records, oldest first: number `i` of ek_plan_cache_count. */
int ek_plan_cache_count(const struct ek_plan_cache *l);
const struct ek_buf *ek_plan_cache_get(const struct ek_plan_cache *l, int i);

/* One guard for the lists of all workers: a list after the other, in the order they come.
 *
 * What the guard has to tell goes to log, journal, counters and the alert topic before the next
 * list is taken, so the order of events is that of the lists.
 * Owner: the caller; assets, journal, metrics, log and output must outlive it. Threads: any.
 */
struct ek_guard_service;
struct ek_event;
struct ek_event_log;
struct ek_feature_stats;
struct ek_agreement_cache;
struct ek_pause;
struct ek_feature_history;
struct ek_shadow_scorer;
struct ek_alerts;

/* One list on its way: `rc` other than 0 is why it cannot be taken. */
struct ek_guard_service_list {
    struct ek_context *context;
    int rc;
    struct ek_error why;
    const struct ek_inflight *inflight; /* of the message */
};

int ek_guard_service_new(struct ek_guard_service **out, const struct ek_assets *assets,
                         struct ek_event_log *event_log, struct ek_metrics *metrics,
                         struct ek_log *log, struct ek_error *e);
void ek_guard_service_free(struct ek_guard_service *s);

/* Where events go besides; NULL before there is one. Before the first list. */
void ek_guard_service_set_outputs(struct ek_guard_service *s, struct ek_output *output,
                                  struct ek_alerts *alerts);
/* Who takes each event besides, as a value, with the guard locked. Before the first list. */
void ek_guard_service_set_listener(struct ek_guard_service *s,
                                   void (*hear)(void *context, const struct ek_event *v),
                                   void *context);
struct ek_alerts *ek_guard_service_alerts(const struct ek_guard_service *s);
/* ek_guard_update for each of these that can be taken, in this order and no other list between; of
 * one that was taken into account before, or whose partition is not ours any more, ek_guard_peek.
 * What the caller has tried before is told first. All of their contexts are of the same assets.
 * False: the guard has others now, and nothing was done: they are to be read again. */
bool ek_guard_service_update(struct ek_guard_service *s, struct ek_guard_service_list *lists,
                             size_t count, int64_t now_ms, struct ek_shadow_scorer *tries);
/* That alone. */
void ek_guard_service_add_trials(struct ek_guard_service *s, struct ek_shadow_scorer *tries);
/* The kill switch of the stage, which must outlive the guard: it follows the guard when another one
 * takes its place. Before the first list. */
void ek_guard_service_set_pause(struct ek_guard_service *s, struct ek_pause *pause);
/* Turns it, at once when it is paused, and tells the guard, who keeps it. False: it was so already.
 * In a fleet the guard is not told: that does the plan, and while it says that all are paused, the
 * pause does not end here. */
bool ek_guard_service_pause(struct ek_guard_service *s, bool paused, const char *who,
                            const char *why);
/* Keeps and tells a decision that is not the guard's own, as ek_guard_add_decision. */
int ek_guard_service_add_decision(struct ek_guard_service *s, const struct ek_decision_record *m);
/* The same of one that was made for the whole fleet, which each instance numbers for itself. */
int ek_guard_service_add_fleet_decision(struct ek_guard_service *s,
                                        const struct ek_decision_record *m);
/* As ek_guard_check_order; *manifest: hash of that of the guard. */
struct ek_order;
int ek_guard_service_check(struct ek_guard_service *s, const struct ek_order *o, uint64_t *manifest,
                           struct ek_error *e);
/* As ek_guard_history. */
int ek_guard_service_history(struct ek_guard_service *s, const struct ek_history_request *w,
                             struct ek_buf *out, struct ek_error *e);
/* As ek_guard_pins_json. */
int ek_guard_service_pins(struct ek_guard_service *s, struct ek_buf *out);
/* As ek_guard_accepts_json. */
int ek_guard_service_accepts(struct ek_guard_service *s, struct ek_buf *out);
/* Calls `work` with the guard while no list is taken, and tells what comes of it. It may put
 * another guard in the place of this one, which it frees then. What work returns. */
int ek_guard_service_with_guard(struct ek_guard_service *s,
                                int (*work)(void *context, struct ek_guard **guard,
                                            struct ek_error *e),
                                void *context, struct ek_error *e);
/* As _hold, for an operator command: calls `write` with the decision of that kind that comes of it;
 * what write returns, if not 0, is EK_ENOMEM here. */
int ek_guard_service_run_command(struct ek_guard_service *s, enum ek_decision_kind what,
                                 int (*work)(void *context, struct ek_guard **guard,
                                             struct ek_error *e),
                                 int (*write)(void *context, const struct ek_decision_record *m),
                                 void *context, struct ek_error *e);
/* Other assets for the guard, the boards, and the state that is got back from now on. */
struct ek_guard_service_assets {
    const struct ek_assets *assets;
    struct ek_feature_stats *board;
    struct ek_agreement_cache *agreement;
    struct ek_feature_history *tracks;
    void (*turned)(void *context); /* called before any list is taken with them */
    void *context;
};
/* As ek_guard_set_assets; what comes of it is told. After a failure all is as it was. */
int ek_guard_service_set_assets(struct ek_guard_service *s,
                                const struct ek_guard_service_assets *turn,
                                enum ek_restore_result *fit, struct ek_error *e);
/* The assets of the guard, which stay those until ek_guard_service_unlock_assets: for who makes
 * another guard to take its place. */
const struct ek_assets *ek_guard_service_lock_assets(struct ek_guard_service *s);
void ek_guard_service_unlock_assets(struct ek_guard_service *s);
/* An event that is not the guard's, told like those. */
void ek_guard_service_add_event(struct ek_guard_service *s, const struct ek_event *v);
/* The guard's clock, to be given as now_ms: that on the wall as it was at the beginning, and nobody
 * sets it. Any thread. */
int64_t ek_guard_service_clock_ms(const struct ek_guard_service *s);
/* As ek_guard_advance; the metrics and the board of agreement follow. */
int ek_guard_service_advance(struct ek_guard_service *s, struct ek_agreement_cache *agreement,
                             struct ek_error *e);
/* ek_feature_stats_update for a board of the guard's traffic. */
int ek_guard_service_update_stats(struct ek_guard_service *s, struct ek_feature_stats *board);
/* ek_feature_history_step of the guard. */
void ek_guard_service_update_history(struct ek_guard_service *s, struct ek_feature_history *tracks);
/* How the guard takes part in a fleet: as in struct ek_fleet_instance_setup, and whom it tells that
 * the fleet should hear of something before the next tick, from any thread, perhaps often. */
struct ek_guard_service_member {
    const char *name; /* good as long as the guard is used */
    int cells;
    void (*found)(void *context);
    void *context;
};
/* The guard, and whichever takes its place, is an instance of a fleet (guard/guard_fleet.h). Before
 * the first list. */
int ek_guard_service_join(struct ek_guard_service *s, const struct ek_guard_service_member *member,
                          struct ek_error *e);
/* As ek_guard_write_report; `write` must not wait for anything. */
int ek_guard_service_write_report(struct ek_guard_service *s, bool early,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e);
/* As ek_guard_is_sampled. */
bool ek_guard_service_is_sampled(struct ek_guard_service *s);
/* As ek_guard_receive_plan. Findings and plans are alerts where we decide and the plan that counts
 * is ours. *counts: it is not of a lower term, nor of a version that was there before. */
int ek_guard_service_receive_plan(struct ek_guard_service *s, const void *bytes, size_t length,
                                  int64_t now_ms, bool decides, bool *counts, struct ek_error *e);
/* How things stand with the plan of the fleet. */
struct ek_guard_service_fleet {
    int64_t age_ms; /* of the last record that counted; -1: none came */
    uint64_t version, term, late, missed, lists;
    char decider[EK_FLEET_NAME_MAX + 1];
};
void ek_guard_service_fleet_state(struct ek_guard_service *s, int64_t now_ms,
                                  struct ek_guard_service_fleet *out);
/* For making such a board; of the guard, not locked. */
struct ek_guard *ek_guard_service_guard(struct ek_guard_service *s);
uint64_t ek_guard_service_list_count(struct ek_guard_service *s);

#endif
