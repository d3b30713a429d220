/* In-process mock cluster of librdkafka for the demo and for error tests.
 *
 * It keeps 5 MiB or 100,000 messages per partition and silently drops older ones, so produce at the
 * pace of the consumer. Topics are created on first use; create those with a required partition
 * count first. It proves no delivery guarantees. Any thread.
 */
#ifndef EK_DAEMON_KAFKA_MOCK_CLUSTER_H
#define EK_DAEMON_KAFKA_MOCK_CLUSTER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_mock;

/* Start a cluster of one broker. Return 0, EK_EIO or EK_ENOMEM. */
int ek_mock_start(struct ek_mock **out, struct ek_error *e);
/* Return "127.0.0.1:PORT" for `input.brokers`, valid until ek_mock_stop. */
const char *ek_mock_brokers(const struct ek_mock *m);
/* Create a topic with this number of partitions. Return 0 or EK_EIO. */
int ek_mock_topic(struct ek_mock *m, const char *topic, int partitions, struct ek_error *e);
/* Delay the response to each of the next `requests` produce requests by answer_ms. Every third one
 * fails with a retriable error, and its messages are not stored. */
void ek_mock_disturb(struct ek_mock *m, int requests, int answer_ms);
/* Return the number of pending disturbances. */
size_t ek_mock_disturbances(const struct ek_mock *m);
/* Count down `registrations` of producers that are idempotent or transactional. */
void ek_mock_await_registrations(struct ek_mock *m, int registrations);
/* Return how many of them have not taken place. */
size_t ek_mock_registrations_left(const struct ek_mock *m);
/* Reject the next `requests` produce requests as too large. */
void ek_mock_refuse(struct ek_mock *m, int requests);
/* Reject the next `requests` for offsets of partitions, as by a broker that does not lead them. */
void ek_mock_refuse_ranges(struct ek_mock *m, int requests);
/* Make the next `transactions` abort: the group rejects their offsets. */
void ek_mock_refuse_offsets(struct ek_mock *m, int transactions);
/* Reject the next offset commit for missing permission on its topics. */
void ek_mock_forbid_offsets(struct ek_mock *m);
/* Reject the next transaction for missing write permission. */
void ek_mock_forbid(struct ek_mock *m);
/* Answer requests for a topic as if it was deleted. */
void ek_mock_hide_topic(struct ek_mock *m, const char *topic);
/* Stop the broker if `away`, else start it again. */
void ek_mock_away(struct ek_mock *m, bool away);
/* Restore the leader of partition 0 of a topic if `lead`, else remove it. Records for it wait
 * meanwhile. */
void ek_mock_lead(struct ek_mock *m, const char *topic, bool lead);
/* Free the cluster after all its clients have closed. NULL is allowed. */
void ek_mock_stop(struct ek_mock *m);

#endif
