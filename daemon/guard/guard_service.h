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

/* One guard for the lists of all workers: a list after the other, in the order they come.
 *
 * What the guard has to tell goes to log, journal, counters and the alert topic before the next
 * list is taken, so the order of events is that of the lists.
 * Owner: the caller; assets, journal, metrics, log and output must outlive it. Threads: any.
 */
struct ek_shared_guard;
struct ek_event;
struct ek_journal;
struct ek_board;
struct ek_agreement_board;
struct ek_pause;
struct ek_tracks;
struct ek_tries;
struct ek_alerts;

/* One list on its way: `rc` other than 0 is why it cannot be taken. */
struct ek_shared_list {
    struct ek_context *context;
    int rc;
    struct ek_error why;
    const struct ek_ticket *ticket; /* of the message */
};

int ek_shared_guard_new(struct ek_shared_guard **out, const struct ek_assets *assets,
                        struct ek_journal *journal, struct ek_metrics *metrics, struct ek_log *log,
                        struct ek_error *e);
void ek_shared_guard_free(struct ek_shared_guard *s);

/* Where events go besides; NULL before there is one. Before the first list. */
void ek_shared_guard_tell_to(struct ek_shared_guard *s, struct ek_output *output,
                             struct ek_alerts *alerts);
/* Who takes each event besides, as a value, with the guard locked. Before the first list. */
void ek_shared_guard_listen(struct ek_shared_guard *s,
                            void (*hear)(void *context, const struct ek_event *v), void *context);
struct ek_alerts *ek_shared_guard_alerts(const struct ek_shared_guard *s);
/* ek_guard_update for each of these that can be taken, in this order and no other list between; of
 * one that was taken into account before, or whose partition is not ours any more, ek_guard_peek.
 * What the caller has tried before is told first. All of their contexts are of the same assets.
 * False: the guard has others now, and nothing was done: they are to be read again. */
bool ek_shared_guard_take(struct ek_shared_guard *s, struct ek_shared_list *lists, size_t count,
                          int64_t now_ms, struct ek_tries *tries);
/* That alone. */
void ek_shared_guard_tried(struct ek_shared_guard *s, struct ek_tries *tries);
/* The kill switch of the stage, which must outlive the guard: it follows the guard when another one
 * takes its place. Before the first list. */
void ek_shared_guard_obey(struct ek_shared_guard *s, struct ek_pause *pause);
/* Turns it, at once when it is paused, and tells the guard, who keeps it. False: it was so already.
 * In a fleet the guard is not told: that does the plan, and while it says that all are paused, the
 * pause does not end here. */
bool ek_shared_guard_pause(struct ek_shared_guard *s, bool paused, const char *who,
                           const char *why);
/* Keeps and tells a decision that is not the guard's own, as ek_guard_add_decision. */
int ek_shared_guard_decided(struct ek_shared_guard *s, const struct ek_decision_record *m);
/* The same of one that was made for the whole fleet, which each instance numbers for itself. */
int ek_shared_guard_ordered(struct ek_shared_guard *s, const struct ek_decision_record *m);
/* As ek_guard_check_order; *manifest: hash of that of the guard. */
struct ek_order;
int ek_shared_guard_check(struct ek_shared_guard *s, const struct ek_order *o, uint64_t *manifest,
                          struct ek_error *e);
/* As ek_guard_history. */
int ek_shared_guard_history(struct ek_shared_guard *s, const struct ek_history_request *w,
                            struct ek_buf *out, struct ek_error *e);
/* As ek_guard_pins_json. */
int ek_shared_guard_pins(struct ek_shared_guard *s, struct ek_buf *out);
/* As ek_guard_accepts_json. */
int ek_shared_guard_accepts(struct ek_shared_guard *s, struct ek_buf *out);
/* Calls `work` with the guard while no list is taken, and tells what comes of it. It may put
 * another guard in the place of this one, which it frees then. What work returns. */
int ek_shared_guard_hold(struct ek_shared_guard *s,
                         int (*work)(void *context, struct ek_guard **guard, struct ek_error *e),
                         void *context, struct ek_error *e);
/* As _hold, for an operator command: calls `write` with the decision of that kind that comes of it;
 * what write returns, if not 0, is EK_ENOMEM here. */
int ek_shared_guard_order(struct ek_shared_guard *s, enum ek_decision_kind what,
                          int (*work)(void *context, struct ek_guard **guard, struct ek_error *e),
                          int (*write)(void *context, const struct ek_decision_record *m),
                          void *context, struct ek_error *e);
/* Other assets for the guard, the boards, and the state that is got back from now on. */
struct ek_shared_turn {
    const struct ek_assets *assets;
    struct ek_board *board;
    struct ek_agreement_board *agreement;
    struct ek_tracks *tracks;
    void (*turned)(void *context); /* called before any list is taken with them */
    void *context;
};
/* As ek_guard_set_assets; what comes of it is told. After a failure all is as it was. */
int ek_shared_guard_turn(struct ek_shared_guard *s, const struct ek_shared_turn *turn,
                         enum ek_restore_result *fit, struct ek_error *e);
/* The assets of the guard, which stay those until ek_shared_guard_let: for who makes another guard
 * to take its place. */
const struct ek_assets *ek_shared_guard_keep(struct ek_shared_guard *s);
void ek_shared_guard_let(struct ek_shared_guard *s);
/* An event that is not the guard's, told like those. */
void ek_shared_guard_tell(struct ek_shared_guard *s, const struct ek_event *v);
/* The guard's clock, to be given as now_ms: that on the wall as it was at the beginning, and nobody
 * sets it. Any thread. */
int64_t ek_shared_guard_clock_ms(const struct ek_shared_guard *s);
/* As ek_guard_advance; the metrics and the board of agreement follow. */
int ek_shared_guard_tick(struct ek_shared_guard *s, struct ek_agreement_board *agreement,
                         struct ek_error *e);
/* ek_board_step for a board of the guard's traffic. */
int ek_shared_guard_show(struct ek_shared_guard *s, struct ek_board *board);
/* ek_tracks_step of the guard. */
void ek_shared_guard_track(struct ek_shared_guard *s, struct ek_tracks *tracks);
/* How the guard takes part in a fleet: as in struct ek_fleet_instance_setup, and whom it tells that
 * the fleet should hear of something before the next tick, from any thread, perhaps often. */
struct ek_shared_member {
    const char *name; /* good as long as the guard is used */
    int cells;
    void (*found)(void *context);
    void *context;
};
/* The guard, and whichever takes its place, is an instance of a fleet (guard/guard_fleet.h). Before
 * the first list. */
int ek_shared_guard_join(struct ek_shared_guard *s, const struct ek_shared_member *member,
                         struct ek_error *e);
/* As ek_guard_write_report; `write` must not wait for anything. */
int ek_shared_guard_tell_fleet(struct ek_shared_guard *s, bool early,
                               int (*write)(void *context, const void *bytes, size_t length),
                               void *context, struct ek_error *e);
/* As ek_guard_is_sampled. */
bool ek_shared_guard_is_asked(struct ek_shared_guard *s);
/* As ek_guard_receive_plan. Findings and plans are alerts where we decide and the plan that counts
 * is ours. *counts: it is not of a lower term, nor of a version that was there before. */
int ek_shared_guard_hear_plan(struct ek_shared_guard *s, const void *bytes, size_t length,
                              int64_t now_ms, bool decides, bool *counts, struct ek_error *e);
/* How things stand with the plan of the fleet. */
struct ek_shared_fleet {
    int64_t age_ms; /* of the last record that counted; -1: none came */
    uint64_t version, term, late, missed, lists;
    char decider[EK_FLEET_NAME_MAX + 1];
};
void ek_shared_guard_fleet(struct ek_shared_guard *s, int64_t now_ms, struct ek_shared_fleet *out);
/* For making such a board; of the guard, not locked. */
struct ek_guard *ek_shared_guard_inner(struct ek_shared_guard *s);
uint64_t ek_shared_guard_queries(struct ek_shared_guard *s);

#endif
