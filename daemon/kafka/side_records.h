/* What an event of ours is as a CloudEvent 1.0 (docs/alerts.md): its attributes, which travel as
 * headers beside the JSON.
 *
 * The id is a hash of the event, so that an event that is sent twice has the same one. Value type;
 * texts that are too long are cut. Threads: any.
 */
#ifndef EK_DAEMON_KAFKA_SIDE_RECORDS_H
#define EK_DAEMON_KAFKA_SIDE_RECORDS_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "guard/event.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_CLOUD_SOURCE_BYTES = 400, EK_CLOUD_TYPE_BYTES = 60 };

struct ek_cloud_event {
    char id[17];
    char source[EK_CLOUD_SOURCE_BYTES]; /* a URI reference: "/evenkeel/hotel-ranker" */
    char type[EK_CLOUD_TYPE_BYTES];     /* "evenkeel.finding" */
    char time[EK_RFC3339_BYTES];        /* that of the event, in its stream */
};

/* json: the event. now_ms: for an event without a time. */
void ek_cloud_event_init(struct ek_cloud_event *out, const char *service, const struct ek_event *v,
                         const char *json, int64_t now_ms);

/* Headers of CloudEvents 1.0 in their Kafka binding, binary mode. */
/* For an event of this service, and `json`, which it is; the caller's. NULL without memory. */
rd_kafka_headers_t *ek_kafka_cloud_event(const char *service, const struct ek_event *v,
                                         const char *json, int64_t now_ms);

/* What goes out beside the messages in a transaction of the producer: alerts, and whatever else
 * belongs to no message.
 *
 * A record waits until the transaction ends, is sent as its last part, and is kept until that has
 * been committed; with an aborted one it goes into the next. So each comes out once, whatever
 * becomes of the messages it came of. Order is kept. At most EK_RECORDS_MAX wait, then the oldest
 * goes and is counted as lost.
 * Owner: the caller. Threads: any may add, the rest belongs to the one that ends transactions.
 * The lock inside is a leaf.
 */
enum { EK_RECORDS_MAX = 4096 };

struct ek_txn_records;

struct ek_txn_records *ek_txn_records_new(void);
void ek_txn_records_free(struct ek_txn_records *r);

/* Key and value are copied; headers (NULL: none) belong to the records from then on, but for
 * EK_ENOMEM. */
int ek_txn_records_add(struct ek_txn_records *r, rd_kafka_topic_t *topic, const void *key,
                       size_t key_length, const void *value, size_t length,
                       rd_kafka_headers_t *headers);
bool ek_txn_records_has_pending(struct ek_txn_records *r);
/* Those that had to go because too many waited, ever. */
uint64_t ek_txn_records_dropped_count(struct ek_txn_records *r);

/* Sends what waits into the open transaction; false when the client takes no more of them. */
bool ek_txn_records_send(struct ek_txn_records *r, rd_kafka_t *client);
/* What was sent has come out, or is to be sent again. */
void ek_txn_records_finish(struct ek_txn_records *r, bool committed);

#endif
