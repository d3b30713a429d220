/* A plain producer, a plain consumer and topic creation: for `capture`, the demonstration and the
 * tests. The stage has its own clients.
 *
 * Owner: the caller. Threads: one at a time per object. Times in milliseconds.
 */
#ifndef EK_DAEMON_KAFKA_TOOL_CLIENT_H
#define EK_DAEMON_KAFKA_TOOL_CLIENT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_tool_producer;
struct ek_merged_consumer;
struct ek_property_list;

/* Where the brokers are, and the librdkafka properties it takes to get in; NULL: none. */
struct ek_brokers {
    const char *addresses; /* host:port with commas between */
    const struct ek_property_list *properties;
};

struct ek_header {
    const char *name;
    const void *value; /* NULL when there is none */
    size_t length;
};

enum { EK_HEADERS_MAX = 64 };

/* One message of a topic. Views are valid until the next call on the object they came from. */
struct ek_kafka_record {
    int partition;                /* when sending: -1 lets the key decide */
    int64_t offset, timestamp_ms; /* -1: unknown; when sending: now */
    const void *key, *bytes;
    size_t key_length, length;
    struct ek_header headers[EK_HEADERS_MAX];
    size_t header_count;
};

/* Waits up to `wait_ms` for the brokers, then makes the topic, with as many copies as they make
 * unless told otherwise; one that is there already is fine.
 * `setting` is a property of the topic and its value, or NULL. EK_EIO. */
int ek_kafka_create_topic(const char *brokers, const char *topic, int partitions,
                          const char *const setting[2], int wait_ms, struct ek_error *e);

/* What is sent to a partition comes out once and in that order whatever brokers do, but for brokers
 * that lost what they had acknowledged: after that nothing can be sent. Without it a request that
 * is repeated may come twice, and behind later ones. */
enum { EK_TOOL_PRODUCER_ORDERED = 1 };
int ek_tool_producer_new(struct ek_tool_producer **out, const char *brokers, const char *topic,
                         unsigned flags, struct ek_error *e);
/* Queues a copy; waits while the queue is full. EK_EIO when it cannot be sent. */
int ek_tool_producer_send(struct ek_tool_producer *s, const struct ek_kafka_record *record,
                          struct ek_error *e);
/* Waits until all is acknowledged; EK_EIO with the number of lost ones when something was not. */
int ek_tool_producer_flush(struct ek_tool_producer *s, int wait_ms, struct ek_error *e);
void ek_tool_producer_free(struct ek_tool_producer *s);

/* What a tap reads: without flags from the beginning, and on and on. */
enum ek_merged_consumer_flag {
    EK_MERGED_CONSUMER_FROM_END = 1, /* only what comes from now on */
    EK_MERGED_CONSUMER_UNTIL_END =
        2, /* nothing behind where the partitions end when the tap is made */
    EK_MERGED_CONSUMER_VERBOSE =
        4, /* says on standard error that it waits for a broker, if it has to for long */
};

/* Reads all partitions of a topic, outside of any group, merged by the time of their records: the
 * oldest of the next records of all partitions comes first, the order within a partition stays.
 * With EK_MERGED_CONSUMER_UNTIL_END each partition is waited for until it has been read to its end;
 * without, one that is silent for half a second (five while it has old records) is no longer. Waits
 * up to `wait_ms` for a broker, up to three seconds of them for the topic. EK_EIO, which tells a
 * topic that is not there from brokers that do not answer. */
int ek_merged_consumer_new(struct ek_merged_consumer **out, const char *brokers, const char *topic,
                           unsigned flags, int wait_ms, struct ek_error *e);
/* The same where it takes properties to get in. `brokers` is not needed afterwards. An error that
 * has to do with credentials, TLS or rights says so. EK_ECONFIG for a property. */
int ek_merged_consumer_open(struct ek_merged_consumer **out, const struct ek_brokers *brokers,
                            const char *topic, unsigned flags, int wait_ms, struct ek_error *e);
/* The next message within wait_ms: *got = 0 when none came. EK_EIO. */
int ek_merged_consumer_next(struct ek_merged_consumer *t, struct ek_kafka_record *record,
                            int wait_ms, int *got, struct ek_error *e);
/* True when every partition was read up to where it ended when the tap was made. */
bool ek_merged_consumer_at_end(const struct ek_merged_consumer *t);
void ek_merged_consumer_free(struct ek_merged_consumer *t);

#endif
