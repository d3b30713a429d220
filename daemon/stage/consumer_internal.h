/* Shared definitions of the consumer: consumer.c (reading), rebalance.c (assignments), commits.c
 * (offsets and lags). */
#ifndef EK_DAEMON_STAGE_CONSUMER_INTERNAL_H
#define EK_DAEMON_STAGE_CONSUMER_INTERNAL_H

#include "daemon/kafka/errors.h"
#include "daemon/stage/consumer.h"
#include "daemon/state/checkpoint_store.h"

struct ek_input {
    rd_kafka_t *client;
    const struct ek_config *config;
    struct ek_partition_offsets *partitions;
    struct ek_checkpoint_store *checkpoint_store; /* NULL: no checkpoints */
    struct ek_input_hooks hooks;
    struct ek_kafka_watch watch;
    struct ek_topics *topics;
    const struct ek_wakeup *wakeup;
    rd_kafka_queue_t **reader; /* [readers] queues of the readers' partitions */
    int readers;
    int64_t drain_ms, commit_ms; /* time limits of a revocation */
    int64_t nudge_due_ms;
    int64_t attach_ms;   /* earliest time to assign detached partitions */
    int64_t next_log_ms; /* next log line about a position that waits */
    bool closed;
    bool cooperative; /* cooperative rebalance protocol */
};

/* Callback of the client, with its watch as opaque: assign or revoke partitions. */
void ek_input_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                           rd_kafka_topic_partition_list_t *parts, void *opaque);
/* Callback of the client, with its watch as opaque: report errors of a commit, and update the
 * committed offsets. */
void ek_input_on_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                        rd_kafka_topic_partition_list_t *offsets, void *opaque);

/* `opaque` of a resolved position whose preceding message is not in the log. */
#define EK_INPUT_NO_PROBE ((void *)1)
/* Forward a partition's queue to its reader, or back to the client. Return false if out of memory.
 */
bool ek_input_forward(struct ek_input *in, const rd_kafka_topic_partition_t *p, bool to_reader);
/* Return the committed offsets of `parts`, which the caller destroys; retry until they are known,
 * because positions depend on them. NULL if the stage is stopping or the error is fatal. */
rd_kafka_topic_partition_list_t *ek_input_committed(struct ek_input *in,
                                                    const rd_kafka_topic_partition_list_t *parts);
/* Replace committed offsets by the positions to begin at, and commit those that differ. Wait for
 * brokers; return false if the stage is stopping or the error is fatal. */
bool ek_input_resolve_positions(struct ek_input *in, rd_kafka_topic_partition_list_t *known);
/* Find the position of a partition again after the client lost it: messages before the log's start
 * are lost, and a log that ends before the position was created again. */
void ek_input_restart(struct ek_input *in, struct ek_partition *assignment);
/* Assign detached partitions again, and restart misplaced ones. */
void ek_input_restart_misplaced(struct ek_input *in);
/* Return whether the message is the one before the position, read to verify the topic, or of a
 * topic that was created again; it must not be processed. */
bool ek_input_is_probe(struct ek_input *in, struct ek_partition *assignment, int64_t offset,
                       uint64_t print);

/* Return the reader of a partition, constant for a given number of readers. */
int ek_input_find_partition(const struct ek_input *in, const char *topic, int partition);
/* Return the number of assigned partitions. */
int ek_input_open_count(struct ek_input *in);
/* Commit changed positions and wait for the result, at most wait_ms. */
void ek_input_commit_now(struct ek_input *in, int64_t wait_ms);

#endif
