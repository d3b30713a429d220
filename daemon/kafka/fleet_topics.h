/* Consumer and producer of the two fleet topics: evidence reports and the plan log.
 *
 * The consumer belongs to no group. It reads the tail of the plan log, and evidence reports while
 * this instance is the leader. The producer is not transactional, because records must not wait for
 * a message and may be lost: a record not delivered within `fleet.leader_timeout` is counted as
 * lost. Only calls with `wait_ms` block. Errors are logged once until they clear. config, metrics
 * and log must outlive the link. One thread at a time, except ek_fleet_link_wake.
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
    uint64_t sent[EK_TOPIC_NONE], lost[EK_TOPIC_NONE]; /* numbers of records */
};

/* Create consumer and producer, without waiting for a broker. Return 0, EK_ENOMEM, or EK_ECONFIG
 * for invalid properties of clients. */
int ek_fleet_link_new(struct ek_fleet_link **out, const struct ek_config *c,
                      struct ek_metrics *metrics, struct ek_log *log, struct ek_error *e);
void ek_fleet_link_free(struct ek_fleet_link *l);

/* Check brokers and topics, waiting up to wait_ms for each topic. Set *ready to whether both can be
 * used. Return 0, or a fatal error if a topic stays missing, has more than one partition or lacks
 * permission. Wrong topic properties are only logged. */
int ek_fleet_link_prepare(struct ek_fleet_link *l, int wait_ms, bool *ready, struct ek_error *e);

/* Wait at most wait_ms for a record, and set *bytes and *length, valid until the next call. Return
 * its topic, or EK_TOPIC_NONE without a record. */
enum ek_fleet_topic ek_fleet_link_next(struct ek_fleet_link *l, int wait_ms, const void **bytes,
                                       size_t *length);
/* Interrupt the current or next wait in ek_fleet_link_next. Any thread. */
void ek_fleet_link_wake(struct ek_fleet_link *l);
/* Start or stop reading evidence reports; reading starts at the end of the topic. No effect if
 * unchanged. */
void ek_fleet_link_set_reports(struct ek_fleet_link *l, bool enabled);
/* Return true if the plan log is read up to its current end. Queries a broker for at most
 * wait_ms. */
bool ek_fleet_link_at_end(struct ek_fleet_link *l, int wait_ms);

/* Queue a copy of a record. A record that cannot be queued is counted as lost and logged. */
void ek_fleet_link_send(struct ek_fleet_link *l, enum ek_fleet_topic topic, const char *key,
                        const void *bytes, size_t length);
/* Return the numbers of sent and lost records by topic since the start. */
struct ek_fleet_traffic ek_fleet_link_traffic(const struct ek_fleet_link *l);

#endif
