/* Producer, merged consumer and topic creation for `capture`, the demo and tests. The stage has
 * separate clients. One thread at a time per object. */
#ifndef EK_DAEMON_KAFKA_TOOL_CLIENT_H
#define EK_DAEMON_KAFKA_TOOL_CLIENT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_tool_producer;
struct ek_merged_consumer;
struct ek_property_list;

/* Broker addresses and the librdkafka properties needed for access; NULL: none. */
struct ek_brokers {
    const char *addresses; /* host:port, comma-separated */
    const struct ek_property_list *properties;
};

struct ek_header {
    const char *name;
    const void *value; /* NULL: null value */
    size_t length;
};

enum { EK_HEADERS_MAX = 64 };

/* One message. Pointers are valid until the next call on the consumer. */
struct ek_kafka_record {
    int partition;                /* when sending: -1 selects by key */
    int64_t offset, timestamp_ms; /* -1: unknown; when sending: now */
    const void *key, *bytes;
    size_t key_length, length;
    struct ek_header headers[EK_HEADERS_MAX];
    size_t header_count;
};

/* Create a topic, waiting up to `wait_ms` for brokers, with their default replication factor. An
 * existing topic is no error. `setting` is a topic property and its value, or NULL. Return 0 or
 * EK_EIO. */
int ek_kafka_create_topic(const char *brokers, const char *topic, int partitions,
                          const char *const setting[2], int wait_ms, struct ek_error *e);

/* Records arrive once and in order within a partition. If a broker loses acknowledged records,
 * sending fails from then on. Without the flag, retries may duplicate or reorder records. */
enum { EK_TOOL_PRODUCER_ORDERED = 1 };
/* Create a producer of one topic; the strings are copied. flags: 0 or EK_TOOL_PRODUCER_ORDERED.
 * Return 0, EK_ECONFIG for an invalid property, EK_EIO if librdkafka cannot create the client, or
 * EK_ENOMEM. */
int ek_tool_producer_new(struct ek_tool_producer **out, const char *brokers, const char *topic,
                         unsigned flags, struct ek_error *e);
/* Queue a copy of a record; wait while the queue is full. Return 0, or EK_EIO if it cannot be
 * sent. */
int ek_tool_producer_send(struct ek_tool_producer *s, const struct ek_kafka_record *record,
                          struct ek_error *e);
/* Wait at most wait_ms until all records are acknowledged. Return 0, or EK_EIO with the number of
 * lost records. */
int ek_tool_producer_flush(struct ek_tool_producer *s, int wait_ms, struct ek_error *e);
void ek_tool_producer_free(struct ek_tool_producer *s);

/* Options of a merged consumer. Without flags it reads from the beginning and does not end. */
enum ek_merged_consumer_flag {
    EK_MERGED_CONSUMER_FROM_END = 1,  /* only new records */
    EK_MERGED_CONSUMER_UNTIL_END = 2, /* end at the end offsets found at creation */
    EK_MERGED_CONSUMER_VERBOSE = 4,   /* warn on standard error about a long wait for a broker */
};

/* Create a consumer of all partitions of a topic, without a group, merged by record time. Waits up
 * to `wait_ms` for a broker, and up to 3 s of that for the topic. Return 0, EK_ENOMEM, or EK_EIO;
 * the message distinguishes a missing topic from unreachable brokers. */
int ek_merged_consumer_new(struct ek_merged_consumer **out, const char *brokers, const char *topic,
                           unsigned flags, int wait_ms, struct ek_error *e);
/* Create a consumer with client properties; `brokers` may be freed afterwards. Errors of
 * credentials, TLS or authorization include a remedy. since_ms: begin with the first record of each
 * partition that is not older; -1: any. Return 0, EK_ECONFIG for an invalid property, EK_ENOMEM, or
 * EK_EIO. */
int ek_merged_consumer_open(struct ek_merged_consumer **out, const struct ek_brokers *brokers,
                            const char *topic, unsigned flags, int64_t since_ms, int wait_ms,
                            struct ek_error *e);
/* Read the next message within wait_ms: the oldest of the partitions' next records; *got = 0 if
 * none arrived. Its bytes are valid until the next call. Without EK_MERGED_CONSUMER_UNTIL_END a
 * partition silent for 500 ms (5 s if it has a backlog) is skipped. Return 0 or EK_EIO. */
int ek_merged_consumer_next(struct ek_merged_consumer *t, struct ek_kafka_record *record,
                            int wait_ms, int *got, struct ek_error *e);
/* Return true if every partition was read to its end offset at creation. */
bool ek_merged_consumer_at_end(const struct ek_merged_consumer *t);
void ek_merged_consumer_free(struct ek_merged_consumer *t);

#endif
