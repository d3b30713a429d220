/* The consumer: messages in, contiguous offsets committed.
 * (With exactly once they go with the transactions instead, daemon/stage/transactions.h.)
 *
 * Every message comes with a ticket; its offset is committed once the ticket and all before it in
 * its partition are done (daemon/kafka/partition_offsets.h). When partitions are taken away in good
 * order the hook drains what is in flight first, then the offsets are committed; when they are lost
 * nothing is. Assignment is eager `range` unless the configuration says otherwise. Each partition
 * belongs to one of the readers, which are numbered from 0 and read one by one. A reader that is
 * not read holds its partitions back and no others: the client stops fetching them when it has
 * enough, and keeps what it has. (Pausing them would throw that away.) Owner: the caller. Threads:
 * one, except ek_input_topic_missing.
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
    /* Wait until every lane that is leaving is idle, at most wait_ms. */
    void (*drain)(void *context, int64_t wait_ms);
    /* Partitions were assigned or taken away. */
    void (*assigned)(void *context, bool ready, int partitions);
};

struct ek_input_tools {
    const struct ek_config *config;
    struct ek_partition_offsets *lanes;
    struct ek_checkpoint_store *checkpoint_store; /* of the state; NULL: none is kept */
    struct ek_metrics *metrics;
    struct ek_log *log;
    const struct ek_wakeup *wakeup; /* rings when there is something to serve or to read */
    int readers;
};

/* What `tools` names must outlive it. */
int ek_input_new(struct ek_input **out, const struct ek_input_tools *tools,
                 const struct ek_input_hooks *hooks, struct ek_error *e);

/* Joins the group. */
int ek_input_subscribe(struct ek_input *in, struct ek_error *e);

/* Serves what concerns the consumer as a whole, rebalances above all; never waits. To be called
 * often: a member that is silent for long loses its place. Fails only for good (fatal). */
int ek_input_serve(struct ek_input *in, struct ek_error *e);
/* The tickets of the next messages of a reader, at most `most`, in the order of each partition;
 * never waits. Finish each with ek_partition_offsets_finish. Fails only for good. */
int ek_input_read(struct ek_input *in, int reader, struct ek_inflight **inflights, size_t most,
                  size_t *count, struct ek_error *e);

/* Commits what moved since the last time, without waiting. */
void ek_input_commit(struct ek_input *in);
/* Adds an offset that is to be committed; what goes with it may be NULL. */
void ek_input_add_offset(struct rd_kafka_topic_partition_list_s *list,
                         const struct ek_partition *lane, int64_t offset, const char *pointer);
/* Who we are in the group now, for offsets that go with a transaction. The caller destroys it. */
struct rd_kafka_consumer_group_metadata_s *ek_input_group(struct ek_input *in);
/* Goes back to the committed offsets: tickets that are out become loose, and what was read behind
 * comes again. Fails only for good. */
int ek_input_rewind(struct ek_input *in, struct ek_error *e);
/* Asks, when it is time to, which input topics are there, and in trouble whether it is over. */
void ek_input_poll_topics(struct ek_input *in);
/* True when topic `number` of the configuration was not there at the last look. Any thread. */
bool ek_input_topic_missing(const struct ek_input *in, size_t number);
/* What keeps the consumer from its brokers. Any thread. */
struct ek_kafka_health *ek_input_health(struct ek_input *in);
/* Updates the lags shown in the metrics. */
void ek_input_lags(struct ek_input *in);

/* Leaves the group in good order (the hook drains, offsets are committed), within wait_ms. */
void ek_input_close(struct ek_input *in, int64_t wait_ms);
void ek_input_free(struct ek_input *in);

#endif
