/* librdkafka's mock cluster in this process: for the demonstration and for tests of errors.
 *
 * It keeps 5 MiB or 100,000 messages per partition and drops older ones without a word, so feed it
 * at the pace of its consumer. Topics come into being when somebody asks for them; make those whose
 * number of partitions matters beforehand. Never proof of anything about delivery.
 * Owner: the caller. Threads: the cluster has its own; these calls may come from any.
 */
#ifndef EK_DAEMON_KAFKA_MOCK_CLUSTER_H
#define EK_DAEMON_KAFKA_MOCK_CLUSTER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_mock;

int ek_mock_start(struct ek_mock **out, struct ek_error *e);
/* "127.0.0.1:PORT", for `input.brokers`. Lives as long as the mock. */
const char *ek_mock_brokers(const struct ek_mock *m);
int ek_mock_topic(struct ek_mock *m, const char *topic, int partitions, struct ek_error *e);
/* Each of the next `requests` to produce is answered after answer_ms, every third one with an error
 * that is worth another try; its messages are not kept. */
void ek_mock_disturb(struct ek_mock *m, int requests, int answer_ms);
/* How many of them are still to come. */
size_t ek_mock_disturbances(const struct ek_mock *m);
/* So many of the next requests to produce are refused, as being too large. */
void ek_mock_refuse(struct ek_mock *m, int requests);
/* The next so many transactions are to be aborted: the group refuses their offsets. */
void ek_mock_refuse_offsets(struct ek_mock *m, int transactions);
/* The next commit of offsets has no right to read their topics. */
void ek_mock_forbid_offsets(struct ek_mock *m);
/* The next transaction has no right to write. */
void ek_mock_forbid(struct ek_mock *m);
/* The cluster is gone, and comes back. */
void ek_mock_away(struct ek_mock *m, bool away);
/* Partition 0 of a topic has no leader, and has one again: what is sent there waits for it. */
void ek_mock_lead(struct ek_mock *m, const char *topic, bool lead);
/* After every client of it has closed. NULL is allowed. */
void ek_mock_stop(struct ek_mock *m);

#endif
