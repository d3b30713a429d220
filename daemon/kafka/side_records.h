/* Control records of the producer: CloudEvents attributes of an event, and the alert records that
 * a transaction sends as its last part. */
#ifndef EK_DAEMON_KAFKA_SIDE_RECORDS_H
#define EK_DAEMON_KAFKA_SIDE_RECORDS_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "guard/event.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CloudEvents 1.0 attributes of an event (docs/alerts.md), sent as headers of its JSON value.
 *
 * The id is a hash of the event, so a repeated event keeps its id. Long strings are truncated.
 */
enum { EK_CLOUD_SOURCE_BYTES = 400, EK_CLOUD_TYPE_BYTES = 60 };

struct ek_cloud_event {
    char id[17];
    char source[EK_CLOUD_SOURCE_BYTES]; /* URI reference: "/evenkeel/hotel-ranker" */
    char type[EK_CLOUD_TYPE_BYTES];     /* "evenkeel.finding" */
    char time[EK_RFC3339_BYTES];        /* event time */
};

/* Set *out to the attributes of an event with its JSON, which is not copied. now_ms is the time of
 * an event without one. */
void ek_cloud_event_init(struct ek_cloud_event *out, const char *service, const struct ek_event *v,
                         const char *json, int64_t now_ms);

/* Return headers in the CloudEvents 1.0 Kafka binding, binary mode, or NULL if out of memory. The
 * caller frees them. */
rd_kafka_headers_t *ek_kafka_cloud_event(const char *service, const struct ek_event *v,
                                         const char *json, int64_t now_ms);

/* Records sent as the last part of a transaction: alerts, which belong to no message.
 *
 * A record is kept until its transaction commits; an aborted one is sent again in the next, so each
 * record is committed once and in order. If more than EK_RECORDS_MAX wait, the oldest is dropped
 * and counted. Any thread may add; all other calls belong to the thread that ends transactions. The
 * internal lock is a leaf.
 */
enum { EK_RECORDS_MAX = 4096 };

struct ek_txn_records;

/* Create an empty queue of records. Return NULL if out of memory. */
struct ek_txn_records *ek_txn_records_new(void);
void ek_txn_records_free(struct ek_txn_records *r);

/* Queue a record; key and value are copied. Takes ownership of `headers` (may be NULL) unless it
 * returns EK_ENOMEM. Return 0 or EK_ENOMEM. A full queue drops its oldest record. */
int ek_txn_records_add(struct ek_txn_records *r, const void *key, size_t key_length,
                       const void *value, size_t length, rd_kafka_headers_t *headers);
/* Return true if records wait for a transaction. */
bool ek_txn_records_has_pending(struct ek_txn_records *r);
/* Return the number of records ever dropped. */
uint64_t ek_txn_records_dropped_count(struct ek_txn_records *r);

/* Send pending records to `topic` in the open transaction. Return false if the client rejects one.
 */
bool ek_txn_records_send(struct ek_txn_records *r, rd_kafka_t *client, rd_kafka_topic_t *topic);
/* Free sent records if committed, else queue them again before the others. */
void ek_txn_records_finish(struct ek_txn_records *r, bool committed);

#endif
