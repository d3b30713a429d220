/* Whether this instance decides for its fleet: the owner of the first partition does.
 *
 * It begins when it gets the partition, and once more when another one that took its place has
 * fallen silent: who was stopped at a bad moment may begin after it has lost the partition, and
 * ends again when it notices. It ends when the partition has been away for a moment, so that a
 * rebalance that gives it back changes nothing. Two that decide at the same time do no harm
 * (guard/fleet_plan.h). Times are of one clock. Value type.
 */
#ifndef EK_DAEMON_FLEET_LEADER_ELECTION_H
#define EK_DAEMON_FLEET_LEADER_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

struct ek_leader_election {
    uint64_t gain;   /* number of the time that the partition was got; 0: never */
    bool due;        /* to begin since then */
    int64_t lost_ms; /* when it was seen to be gone; -1: it is ours */
};

struct ek_leader_election_view {
    uint64_t gain; /* how often the partition was got so far; 0: it is not ours now */
    bool decides;
    int64_t age_ms;              /* of the last plan that was heard */
    int64_t silent_ms, grace_ms; /* for how long the plan may be silent, and the partition away */
    int64_t now_ms;
};

enum ek_leader_election_action { EK_ELECTION_NONE, EK_ELECTION_START, EK_ELECTION_RESIGN };

/* What is to be done now: EK_ELECTION_START until it was done. */
enum ek_leader_election_action ek_leader_election_step(struct ek_leader_election *d,
                                                       const struct ek_leader_election_view *v);
void ek_leader_election_started(struct ek_leader_election *d);

#endif
