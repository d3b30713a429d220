/* The two topics of a fleet: what its instances say, and the log of the plan.
 *
 * A consumer of its own, which belongs to no group, reads the plan's log, from where its last
 * records are, and the ticks while somebody here decides. A producer of its own writes. It is no
 * transactional one: what instances say belongs to no message, must not wait for one, and may be
 * lost. Nothing here waits for a broker but where it says so; a record that does not get out within
 * fleet.leader_timeout is lost and counted. No error ends anything: each is told once, until it is
 * over. Owner: the caller; config, metrics and log must outlive it. Threads: one at a time, but for
 * ek_fleet_link_wake.
 */
#ifndef EK_DAEMON_KAFKA_FLEET_TOPICS_H
#define EK_DAEMON_KAFKA_FLEET_TOPICS_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/config/config.h"

struct ek_fleet_link;

enum ek_fleet_topic { EK_TOPIC_EVIDENCE, EK_TOPIC_PLAN, EK_TOPIC_NONE };

struct ek_fleet_traffic {
    uint64_t sent[EK_TOPIC_NONE], lost[EK_TOPIC_NONE]; /* records */
};

int ek_fleet_link_new(struct ek_fleet_link **out, const struct ek_config *c,
                      struct ek_metrics *metrics, struct ek_log *log, struct ek_error *e);
void ek_fleet_link_free(struct ek_fleet_link *l);

/* Looks for brokers and topics, for at most some wait_ms each; *ready tells whether they are as
 * they must be. Fails for good when one has been missing for long enough, has more than one
 * partition or may not be used. What else is wrong with them is told in the log. */
int ek_fleet_link_prepare(struct ek_fleet_link *l, int wait_ms, bool *ready, struct ek_error *e);

/* The next record, within wait_ms: of which topic, or EK_TOPIC_NONE when none came. The bytes are
 * good until the next call. */
enum ek_fleet_topic ek_fleet_link_next(struct ek_fleet_link *l, int wait_ms, const void **bytes,
                                       size_t *length);
/* Ends a wait in ek_fleet_link_next, the next one if there is none. Any thread. */
void ek_fleet_link_wake(struct ek_fleet_link *l);
/* Whether ticks are read, too, from their end on. */
void ek_fleet_link_set_reports(struct ek_fleet_link *l, bool hear);
/* Whether the plan's log was read to where it ends now. Asks a broker, for at most wait_ms. */
bool ek_fleet_link_at_end(struct ek_fleet_link *l, int wait_ms);

/* Queues a copy. */
void ek_fleet_link_send(struct ek_fleet_link *l, enum ek_fleet_topic topic, const char *key,
                        const void *bytes, size_t length);
struct ek_fleet_traffic ek_fleet_link_traffic(const struct ek_fleet_link *l);

#endif
