/* Leader election: the owner of the first input partition leads the fleet.
 *
 * It starts when it acquires the partition, and again when the plan is stale, since a suspended
 * process may lead briefly after it lost the partition. It resigns a grace period after losing the
 * partition, so a rebalance that returns it has no effect. Two leaders at a time are harmless
 * (fleet/plan_record.h). Times are from one monotonic clock. Value type.
 */
#ifndef EK_DAEMON_FLEET_LEADER_ELECTION_H
#define EK_DAEMON_FLEET_LEADER_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

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

/* Update the election by the view of this instance, and return the action to take;
 * EK_ELECTION_START until ek_leader_election_started. */
enum ek_leader_election_action ek_leader_election_step(struct ek_leader_election *d,
                                                       const struct ek_leader_election_view *v);
/* Record that this instance leads, after EK_ELECTION_START. */
void ek_leader_election_started(struct ek_leader_election *d);

#endif
