/* Fleet membership of this instance: evidence reports, plans, leader election, operator commands
 * and the rate limiter of reports. A separate thread runs it. */
#ifndef EK_DAEMON_FLEET_FLEET_H
#define EK_DAEMON_FLEET_FLEET_H

#include "base/buf.h"
#include "daemon/guard/asset_ref.h"
#include "daemon/guard/guard_service.h"
#include "fleet/command_record.h"
#include "guard/operator_commands.h"

#include <stdbool.h>
#include <stdint.h>

/* Schedule of a periodic action that can be requested early, but not within `gap_ms` of the last
 * run. Times are from one monotonic clock. Initialize the two lengths and zero the rest. */
struct ek_rate_limiter {
    int64_t every_ms, gap_ms; /* period; shortest time before an early run */
    int64_t due_ms, last_ms;  /* next periodic run; last run of either kind */
    bool requested;           /* an early run is requested */
};

enum ek_rate_limiter_event { EK_RATE_WAIT, EK_RATE_EARLY, EK_RATE_REPORT };

/* Request an early run: it is due gap_ms after the last one. */
void ek_rate_limiter_request(struct ek_rate_limiter *p);
/* Return the milliseconds until the next run; 0 if one is due. */
int64_t ek_rate_limiter_wait_ms(const struct ek_rate_limiter *p, int64_t now_ms);
/* Return the run that is due and count it as done at now_ms; EK_RATE_WAIT if none is due. */
enum ek_rate_limiter_event ek_rate_limiter_next(struct ek_rate_limiter *p, int64_t now_ms);

/* Reports the evidence of this instance, receives plans, and leads the fleet while it owns the
 * first partition of the input.
 *
 * It has a separate thread, so it delays reading and scoring only by the guard's lock, which is
 * held while a report is copied or a plan is applied. If the fleet fails, lists are processed under
 * the last plan. The tools must outlive it, except the assets. Threads: one, except
 * ek_fleet_set_candidate, _status, _metrics and the functions for assets.
 */
struct ek_fleet;

struct ek_fleet_tools {
    const struct ek_config *config; /* with fleet topics */
    struct ek_asset_ref *assets;
    struct ek_guard_service *guard;
    struct ek_metrics *metrics;
    struct ek_log *log;
};

/* Create the membership and join the guard to the fleet. The tools are copied; their objects must
 * outlive it. Return 0, EK_ENOMEM, or EK_ECONFIG for invalid properties of clients. */
int ek_fleet_new(struct ek_fleet **out, const struct ek_fleet_tools *tools, struct ek_error *e);
/* Connect and check the topics of the fleet for at most wait_ms. Set *ready to true when done, to
 * false if brokers have not responded yet: call again. Return 0, EK_ESTATE if a topic stays missing
 * or has several partitions, or EK_EIO for another final error, such as a missing permission. */
int ek_fleet_prepare(struct ek_fleet *f, int wait_ms, bool *ready, struct ek_error *e);
/* Start the thread. Return 0, or EK_EIO if it does not start. */
int ek_fleet_start(struct ek_fleet *f, struct ek_error *e);
/* Return true after the plan topic was read to its end. Any thread. */
bool ek_fleet_has_read_plan(const struct ek_fleet *f);
/* Set whether this instance owns the first partition of the first input topic. */
void ek_fleet_set_candidate(struct ek_fleet *f, bool own);
/* Stage new assets for the leader, until ek_fleet_commit_assets or ek_fleet_discard_assets. The
 * fleet retains `assets`. Return 0, or EK_ENOMEM with nothing staged. */
int ek_fleet_stage_assets(struct ek_fleet *f, struct ek_asset_ref *assets, struct ek_error *e);
/* Switch the leader to the staged assets. A leader with new assets continues from the last plan
 * record, as a new leader does. */
void ek_fleet_commit_assets(struct ek_fleet *f);
/* Discard the staged assets, if any. */
void ek_fleet_discard_assets(struct ek_fleet *f);
/* Stop the thread and wait for it, less than a second. */
void ek_fleet_stop(struct ek_fleet *f);
/* Free the membership, after ek_fleet_stop. NULL is allowed. */
void ek_fleet_free(struct ek_fleet *f);
/* Return the name of this instance; valid as long as `f`. */
const char *ek_fleet_name(const struct ek_fleet *f);

/* Submit a copy of an operator command to the leader, without waiting, and set *number to its
 * number in ek_fleet_command_results. Return 0, EK_EUSAGE for an unknown name, EK_ESTATE for an
 * impossible command, or EK_ENOMEM. Any thread. */
int ek_fleet_submit_command(struct ek_fleet *f, const struct ek_order *o, uint64_t *number,
                            struct ek_error *e);
/* Append the results of the last commands submitted here as a JSON array. Return 0 or EK_ENOMEM.
 * Any thread. */
int ek_fleet_command_results(struct ek_fleet *f, struct ek_buf *out);
/* Append the pins of operators in the plan as a JSON array. Return 0 or EK_ENOMEM. Any thread. */
int ek_fleet_pins(struct ek_fleet *f, struct ek_buf *out);
/* Append the accepted shifts of the plan as a JSON array. Return 0 or EK_ENOMEM. Any thread. */
int ek_fleet_accepts(struct ek_fleet *f, struct ek_buf *out);
/* Append the status as a JSON object. Return 0 or EK_ENOMEM. Any thread. */
int ek_fleet_status(struct ek_fleet *f, struct ek_buf *out);
/* Append the metric families. Return 0 or EK_ENOMEM. Any thread. */
int ek_fleet_metrics(struct ek_fleet *f, struct ek_buf *out);

/* Leader election: the owner of the first input partition leads the fleet.
 *
 * It starts when it acquires the partition, and again when the plan is stale, since a suspended
 * process may lead briefly after it lost the partition. It resigns a grace period after losing the
 * partition, so a rebalance that returns it has no effect. Two leaders at a time are harmless
 * (fleet/plan_record.h). Times are from one monotonic clock. Value type.
 */
struct ek_leader_election {
    uint64_t acquisition; /* acquisition of the partition; 0: none */
    bool is_start_due;    /* has not started since then */
    int64_t lost_ms;      /* time of the loss; -1: owned */
};

struct ek_leader_election_view {
    uint64_t acquisition; /* acquisitions so far; 0: not owned */
    bool is_leader;
    int64_t age_ms;               /* of the last received plan */
    int64_t max_age_ms, grace_ms; /* limits for the plan's age and a loss of the partition */
    int64_t now_ms;
};

enum ek_leader_election_action { EK_ELECTION_NONE, EK_ELECTION_START, EK_ELECTION_RESIGN };

/* Update the election by the view of this instance. Return the action to take: EK_ELECTION_START,
 * repeatedly until ek_leader_election_started; EK_ELECTION_RESIGN; or EK_ELECTION_NONE. */
enum ek_leader_election_action ek_leader_election_step(struct ek_leader_election *d,
                                                       const struct ek_leader_election_view *v);
/* Record that this instance leads, after EK_ELECTION_START. */
void ek_leader_election_started(struct ek_leader_election *d);

/* Operator commands submitted to this instance of a fleet, sent to the leader until it replies.
 *
 * The last 16 are stored with their results. Threads: any.
 */
struct ek_fleet_commands;

enum {
    EK_COMMANDS_RETRY_MS = 500,   /* interval of retries */
    EK_COMMANDS_TIMEOUT_MS = 5000 /* then the command is lost and not retried */
};

/* Create an empty list of commands. instance: copied name of this instance; start: identifies this
 * process. Return 0 or EK_ENOMEM. */
int ek_fleet_commands_new(struct ek_fleet_commands **out, const char *instance, uint64_t start);
void ek_fleet_commands_free(struct ek_fleet_commands *o);

/* Add a command with a copy of `order` for assets with the hash `manifest`; it replaces the oldest
 * one when 16 are stored. Set *number to its number, from 1. It is sent by the next
 * ek_fleet_commands_send_due. Return 0, or EK_ENOMEM without adding it. */
int ek_fleet_commands_submit(struct ek_fleet_commands *o, const struct ek_order *order,
                             uint64_t manifest, int64_t now_ms, uint64_t *number);
/* Call `send` with the record of each command that is due: a new one, and one without a reply for
 * EK_COMMANDS_RETRY_MS. The bytes are valid during the call. */
void ek_fleet_commands_send_due(struct ek_fleet_commands *o, int64_t now_ms,
                                void (*send)(void *context, const void *bytes, size_t length),
                                void *context);
/* Store a reply; replies to other instances are ignored. */
void ek_fleet_commands_receive(struct ek_fleet_commands *o, const struct ek_fleet_reply *r);
/* Append all commands with their results as a JSON array, oldest first. Return 0 or EK_ENOMEM. */
int ek_fleet_commands_json(struct ek_fleet_commands *o, struct ek_buf *out);

#endif
