/* Kafka consumer that commits the offsets of finished messages. With exactly-once delivery,
 * transactions commit them (daemon/stage/transactions.h).
 *
 * Each message is tracked as an in-flight message (daemon/kafka/partition_offsets.h). A revocation
 * first calls the drain hook, then commits; a lost assignment commits nothing. The default assignor
 * is eager `range`. Each partition belongs to one reader, numbered from 0. An unread reader holds
 * back only its partitions: the client stops fetching them when its queue is full. (Pausing them
 * would drop fetched messages.) One thread, except ek_input_topic_missing.
 */
#ifndef EK_DAEMON_STAGE_CONSUMER_H
#define EK_DAEMON_STAGE_CONSUMER_H

#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/base/wakeup.h"
#include "daemon/config/config.h"
#include "daemon/kafka/kafka_health.h"
#include "daemon/kafka/partition_offsets.h"

struct ek_input;
struct ek_checkpoint_store;
struct rd_kafka_consumer_group_metadata_s;
struct rd_kafka_topic_partition_list_s;

struct ek_input_hooks {
    void *context;
    /* Wait at most wait_ms until all partitions being revoked have no message in flight. */
    void (*drain)(void *context, int64_t wait_ms);
    /* Called after an assignment or revocation. ready: partitions were assigned or remain;
     * partitions: number now open. */
    void (*assigned)(void *context, bool ready, int partitions);
    /* Each of these may be NULL. Return true to give up waiting for brokers. */
    bool (*stopping)(void *context);
    /* Messages from `from` to before `to` were gone before they were read. */
    void (*lost)(void *context, const char *topic, int partition, int64_t from, int64_t to);
    /* The topic was created again, and reading begins at `offset`. */
    void (*reset)(void *context, struct ek_partition *assignment, int64_t offset);
};

struct ek_input_tools {
    const struct ek_config *config;
    struct ek_partition_offsets *partitions;
    struct ek_checkpoint_store *checkpoint_store; /* NULL: no checkpoints */
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_wakeup *wakeup; /* signaled on events and messages */
    int readers;
    const char *transactional_id; /* NULL: at least once */
};

/* Create the consumer. The objects in `tools` must outlive it. Return 0, EK_ENOMEM, or EK_ECONFIG
 * for invalid properties of clients. */
int ek_input_new(struct ek_input **out, const struct ek_input_tools *tools,
                 const struct ek_input_hooks *hooks, struct ek_error *e);

/* Join the group. Return 0, or EK_EIO. */
int ek_input_subscribe(struct ek_input *in, struct ek_error *e);

/* Serve client events, mainly rebalances, without waiting. Call it more often than
 * `max.poll.interval.ms`. Return 0, or an error, which is fatal. */
int ek_input_serve(struct ek_input *in, struct ek_error *e);
/* Read up to `most` messages of a reader without waiting, in order within each partition, into
 * inflights [most], and set *count. Finish each with ek_partition_offsets_finish. Return 0, or an
 * error, which is fatal; messages read before it are set. */
int ek_input_read(struct ek_input *in, int reader, struct ek_inflight **inflights, size_t most,
                  size_t *count, struct ek_error *e);

/* Commit changed positions without waiting. */
void ek_input_commit(struct ek_input *in);
/* Append the offset of a partition to a list to commit. Its metadata begins with `pointer`, which
 * may be NULL. */
void ek_input_add_offset(const struct ek_input *in, struct rd_kafka_topic_partition_list_s *list,
                         const struct ek_partition *assignment, int64_t offset,
                         const char *pointer);
/* Return the group metadata for a transaction. The caller destroys it. */
struct rd_kafka_consumer_group_metadata_s *ek_input_group(struct ek_input *in);
/* Seek back to the committed offsets and revoke in-flight messages. Return 0, or an error, which is
 * fatal. */
int ek_input_rewind(struct ek_input *in, struct ek_error *e);
/* Get the committed offsets from brokers and continue there, after a transaction whose result is
 * unknown. No message may be in flight. Waits for brokers. Return 0, or an error, which is fatal.
 */
int ek_input_refresh_committed(struct ek_input *in, struct ek_error *e);
/* Check for missing input topics, and for recovery of the connection if it is unhealthy. Call it in
 * each step: it keeps the intervals itself, and blocks for at most about a second per check. */
void ek_input_poll_topics(struct ek_input *in);
/* Return true if topic `number` was missing at the last check. Any thread. */
bool ek_input_topic_missing(const struct ek_input *in, size_t number);
/* Return whether a broker answers within wait_ms. Any thread, until ek_input_close. */
bool ek_input_answers(struct ek_input *in, int wait_ms);
/* Return the connectivity state, which the consumer owns. Any thread. */
struct ek_kafka_health *ek_input_health(struct ek_input *in);
/* Set the lag metrics of the assigned partitions. */
void ek_input_update_lags(struct ek_input *in);

/* Leave the group within wait_ms, after the drain hook and a commit. */
void ek_input_close(struct ek_input *in, int64_t wait_ms);
void ek_input_free(struct ek_input *in);

#endif
