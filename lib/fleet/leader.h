/* The decider of a fleet: makes one plan of what all instances say.
 *
 * Every instance may have one, follow the plan's log with it and let it take ticks, so that it is
 * ready; one of them decides, whoever owns the first partition. Findings that instances confirmed
 * are merged by feature and cell: the oldest gives the numbers as long as its instance lives, and
 * all are one episode of the fleet. One that nobody proposes any more has recovered, and its entry
 * in the plan ends as the rules have it. What no instance could see alone is found by the pooled
 * evidence (guard/fleet_pool.h), and what it is by the lists of all (guard/fleet_case.h).
 * Whoever begins to decide goes on with the plan and the findings of the log, at the next version;
 * what nobody proposes within EK_FLEET_EXPIRED_MS has recovered meanwhile.
 * It may look at what has come at any moment. That an instance ends a tick early because its
 * evidence is high raises no false alarm: R takes the step (R + n) exp(sum) (decide/tick.h), and
 * then it is the large sums that have few lists n. Signs of life, and numbers that every list
 * changes, wait for the tick. Times: clock_ms is the caller's, the plan is in the time of the
 * stream. Owner: the caller. One thread at a time. Manifest, profile, rules must outlive it.
 */
#ifndef EK_FLEET_LEADER_H
#define EK_FLEET_LEADER_H

#include "fleet/plan_record.h"
#include "fleet/pool.h"

/* What part of the budget of false alarms goes to what one instance sees on its own, and to what
 * all see together. A list of evidence is dearer for one than for all. */
#define EK_FLEET_SHARE_LOCAL  (7. / 8)
#define EK_FLEET_SHARE_POOLED (1. / 8)

enum {
    EK_FLEET_LEAD_MS = 2000, /* of stream time between a decision and when it holds */
    EK_FLEET_ALARMS_MAX = 64 /* of the pooled evidence, in a tick */
};

struct ek_leader_setup {
    const struct ek_manifest *manifest;
    const struct ek_profile *profile;
    const struct ek_rules *rules;
    bool have_model;  /* without one nothing is routed */
    const char *name; /* of the instance, at most EK_FLEET_NAME_MAX bytes; copied */
    int places;       /* cells by name that are pooled; 0: EK_FLEET_PLACES_DEFAULT_MAX */
};

struct ek_leader;

int ek_leader_new(struct ek_leader **out, const struct ek_leader_setup *setup, struct ek_error *e);
void ek_leader_free(struct ek_leader *d);

/* The next record of the plan's log, its own ones too. One of a later decider ends its deciding.
 * EK_EFORMAT, EK_ENOMEM. */
int ek_leader_apply_record(struct ek_leader *d, const void *bytes, size_t length,
                           struct ek_error *e);
/* A record of an instance, as ek_fleet_pool_add has it; an order of people is carried out by one
 * that decides, and told with the next record. */
int ek_leader_receive(struct ek_leader *d, const void *bytes, size_t length, int64_t clock_ms,
                      struct ek_error *e);
/* Begins to decide, after the log was read to its end; nothing for one that does already. */
void ek_leader_start(struct ek_leader *d, int64_t clock_ms);
/* Ends it: another instance does. */
void ek_leader_stop(struct ek_leader *d);
bool ek_leader_is_active(const struct ek_leader *d);
/* Lets a tick pass; to be called once a second or so. One that decides adds the record to write,
 * once it knows the time of the stream.
 * EK_ENOMEM, EK_ELIMIT of the buffer. */
int ek_leader_advance(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out,
                      struct ek_error *e);
/* Between two ticks: looks at what has come, and adds a record only when that changes the plan, or
 * shows that something has begun or is over. As ek_leader_advance else. */
int ek_leader_check(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out, struct ek_error *e);

/* Answers to orders of people (guard/fleet_orders.h), to be written behind the record that the last
 * tick or look has added; each is handed to `write`. What it returned, where that is not 0. */
int ek_leader_write_replies(struct ek_leader *d,
                            int (*write)(void *context, const void *bytes, size_t length),
                            void *context);

/* The next that was found, oldest first; 0 when there is none. Episodes are those of the fleet, the
 * cell is a place of the pool, texts are good as long as the decider. The last EK_EPISODES_MAX are
 * kept. */
int ek_leader_next(struct ek_leader *d, struct ek_finding *out);
const struct ek_fleet_pool *ek_leader_pool(const struct ek_leader *d);
/* The plan as decided, its cells places of the pool; and its version in the log. */
const struct ek_plan *ek_leader_plan(const struct ek_leader *d);
uint64_t ek_leader_version(const struct ek_leader *d);

#endif
