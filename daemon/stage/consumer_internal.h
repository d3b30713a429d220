/* Shared definitions of the consumer: consumer.c (reading, assignments), positions.c (where to
 * begin) and commits.c (offsets and lags). */
#ifndef EK_DAEMON_STAGE_CONSUMER_INTERNAL_H
#define EK_DAEMON_STAGE_CONSUMER_INTERNAL_H

#include "daemon/kafka/errors.h"
#include "daemon/stage/consumer.h"
#include "daemon/state/checkpoint_store.h"

struct ek_fence;

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
    int64_t attach_ms;                        /* earliest time to assign detached partitions */
    int64_t restart_ms;                       /* earliest time to restart misplaced partitions */
    int64_t next_log_ms;                      /* next log line about a position that waits */
    rd_kafka_topic_partition_list_t *pending; /* assigned, but not opened yet; NULL: none */
    int64_t pending_ms;      /* earliest time of the next query for their committed offsets */
    int query_ms;            /* its time limit */
    struct ek_fence *fence;  /* NULL: at least once */
    const char *owner;       /* name of this instance in its commits; NULL: at least once */
    unsigned unknown_topics; /* of the watch, when positions were last checked */
    bool closed;
    bool cooperative; /* cooperative rebalance protocol */
};

/* Callback of the client, with its watch as opaque: report errors of a commit, and update the
 * committed offsets. */
void ek_input_on_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                        rd_kafka_topic_partition_list_t *offsets, void *opaque);

/* Return the committed offsets of `parts`, which the caller destroys; retry until they are known,
 * because positions depend on them. NULL if the stage is stopping or the error is fatal. */
rd_kafka_topic_partition_list_t *ek_input_committed(struct ek_input *in,
                                                    const rd_kafka_topic_partition_list_t *parts);

enum {
    EK_INPUT_REQUEST_MS = 1000, /* time limit of a request */
    EK_INPUT_RETRY_MS = 50,     /* wait before it is repeated */
};

/* Set the committed offsets of `parts` in one request of at most wait_ms. Return the first error,
 * of the request or of a partition. */
rd_kafka_resp_err_t ek_input_get_committed(const struct ek_input *in,
                                           rd_kafka_topic_partition_list_t *parts, int wait_ms);
/* Return true if a position that waits for brokers is to be logged now: at intervals. */
bool ek_input_may_log(struct ek_input *in);

/* `opaque` of a resolved position whose preceding message is not in the log. */
#define EK_NO_PROBE ((void *)1)

/* Replace committed offsets by the positions to begin at, and commit those that differ. Wait for
 * brokers; return false if the stage is stopping or the error is fatal. */
bool ek_input_resolve_positions(struct ek_input *in, rd_kafka_topic_partition_list_t *known);
/* Log that a topic was created again, and reading continues at another offset. */
void ek_input_log_recreated(struct ek_input *in, const char *topic, int partition, int64_t was,
                            int64_t now);
/* Return true if waiting for brokers must end. */
bool ek_input_is_stopping(const struct ek_input *in);

/* Stop fetching a partition, with the eager protocol all of them. The client resets the forwarding
 * of their queues when it has stopped, so they are assigned at their positions by the next check.
 * Return an error of the client. */
rd_kafka_resp_err_t ek_input_detach(struct ek_input *in, struct ek_partition *one);
/* Return the number of assigned partitions. */
int ek_input_open_count(struct ek_input *in);
/* Commit the log's start `low` as position of a partition of which no transaction has a message,
 * and wait for the result, at most EK_INPUT_REQUEST_MS. Return true if it is committed. */
bool ek_input_commit_start(struct ek_input *in, const struct ek_partition *assignment, int64_t low);
/* Commit changed positions and wait for the result, at most wait_ms. */
void ek_input_commit_now(struct ek_input *in, int64_t wait_ms);

#endif
