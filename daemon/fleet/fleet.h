/* When it is time for what is done at every tick, and between two ticks where something asks for
 * it, but then not too soon after the last time. Times are of one clock. Value type; begin with the
 * two lengths, and all else 0.
 */
#ifndef EK_DAEMON_FLEET_FLEET_H
#define EK_DAEMON_FLEET_FLEET_H

#include "base/buf.h"
#include "daemon/guard/asset_ref.h"
#include "daemon/guard/guard_service.h"
#include "guard/operator_commands.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_rate_limiter {
    int64_t every_ms, gap_ms; /* between ticks; before what is early, at least */
    int64_t due_ms, last_ms;  /* the next tick; the last time it was done, early or not */
    bool asked;
};

enum ek_rate_limiter_event { EK_RATE_WAIT, EK_RATE_EARLY, EK_RATE_REPORT };

/* Something should not wait for the next tick. */
void ek_rate_limiter_request(struct ek_rate_limiter *p);
/* ms until there is something to do, 0 when there is. */
int64_t ek_rate_limiter_wait_ms(const struct ek_rate_limiter *p, int64_t now_ms);
/* What is to be done now; it counts as done. */
enum ek_rate_limiter_event ek_rate_limiter_next(struct ek_rate_limiter *p, int64_t now_ms);

/* This instance in its fleet: says what it sees, hears the plan, and decides while it has the first
 * partition of the input.
 *
 * A thread of its own does all of it (and the plan is looked at for silence by it), so nothing here
 * is in the way of reading and scoring, but for the guard's lock, which is held while a tick is
 * copied out of it or a plan is taken in. The fleet may fail in any way, and the lists go on under
 * the last plan.
 * Owner: the caller; what it is made with must outlive it, but for the assets. Threads:
 * ek_fleet_set_candidate, _status, _metrics and what changes the assets from any, the rest from the
 * one that made it.
 */
struct ek_fleet;

struct ek_fleet_tools {
    const struct ek_config *config; /* with a fleet.topic */
    struct ek_asset_ref *assets;
    struct ek_guard_service *guard;
    struct ek_metrics *metrics;
    struct ek_log *log;
};

/* The guard joins. */
int ek_fleet_new(struct ek_fleet **out, const struct ek_fleet_tools *tools, struct ek_error *e);
/* As ek_output_prepare, of the topics of the fleet. */
int ek_fleet_prepare(struct ek_fleet *f, int wait_ms, bool *ready, struct ek_error *e);
int ek_fleet_start(struct ek_fleet *f, struct ek_error *e);
/* Whether the plan's log has been read to its end, since the start. */
bool ek_fleet_has_read_plan(const struct ek_fleet *f);
/* Whether the first partition of the first input topic is ours now. */
void ek_fleet_set_candidate(struct ek_fleet *f, bool own);
/* Makes a decider of these assets, to take the place of the one in use; EK_ENOMEM. And lets it, as
 * if another instance had begun to decide: from the plan and the findings of the log; or takes it
 * back. */
int ek_fleet_stage_assets(struct ek_fleet *f, struct ek_asset_ref *assets, struct ek_error *e);
void ek_fleet_commit_assets(struct ek_fleet *f);
void ek_fleet_discard_assets(struct ek_fleet *f);
/* Asks the thread to end; and waits for it, which takes part of a second. */
void ek_fleet_stop(struct ek_fleet *f);
/* NULL is allowed. */
void ek_fleet_free(struct ek_fleet *f);
/* Of this instance; a view. */
const char *ek_fleet_name(const struct ek_fleet *f);

/* Has the decider do what a person says, at once or as soon as it is heard; *number is that of the
 * order, for ek_fleet_commands_json_all. EK_EUSAGE, EK_ESTATE for what cannot be meant; EK_ENOMEM.
 * Any thread. */
int ek_fleet_submit_command(struct ek_fleet *f, const struct ek_order *o, uint64_t *number,
                            struct ek_error *e);
/* Appends what came of the last orders that were given here; of the plan, the pins of people and
 * what is accepted: JSON arrays. EK_ENOMEM. Any thread. */
int ek_fleet_commands_json_all(struct ek_fleet *f, struct ek_buf *out);
int ek_fleet_pins(struct ek_fleet *f, struct ek_buf *out);
int ek_fleet_accepts(struct ek_fleet *f, struct ek_buf *out);
/* Appends an object for the status; series for /metrics. */
int ek_fleet_status(struct ek_fleet *f, struct ek_buf *out);
int ek_fleet_metrics(struct ek_fleet *f, struct ek_buf *out);

#endif
