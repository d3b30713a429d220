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
    struct ek_partition_offsets *lanes;
    struct ek_checkpoint_store *checkpoint_store; /* NULL: no checkpoints */
    struct ek_input_hooks hooks;
    struct ek_kafka_watch watch;
    struct ek_topics *topics;
    const struct ek_wakeup *wakeup;
    rd_kafka_queue_t **reader; /* [readers] queues of the readers' partitions */
    int readers;
    int64_t drain_ms, commit_ms; /* time limits of a revocation */
    int64_t nudge_due_ms;
    bool closed;
    bool cooperative; /* cooperative rebalance protocol */
};

/* Callbacks of the client; their opaque is its watch. */
void ek_input_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                           rd_kafka_topic_partition_list_t *parts, void *opaque);
void ek_input_on_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                        rd_kafka_topic_partition_list_t *offsets, void *opaque);

/* Return the reader of a partition, constant for a given number of readers. */
int ek_input_find_partition(const struct ek_input *in, const char *topic, int partition);
/* Return the number of assigned partitions. */
int ek_input_open_count(struct ek_input *in);
/* Commit and wait for the result, at most wait_ms. */
void ek_input_commit_now(struct ek_input *in, int64_t wait_ms);

#endif
