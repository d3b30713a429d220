/* Checkpoint store: writes the guard's state to the state topic and restores it.
 *
 * A checkpoint is written every state.checkpoint_interval, soon after an event, and before a
 * revocation. It is part of a transaction, or, at least once, must be acknowledged. Offsets
 * committed afterwards carry a reference to it (daemon/state/checkpoint_ref.h) with the offset the
 * guard has counted in each partition.
 *
 * An assignment merges the checkpoints of its partitions. Lists below the committed offset that the
 * checkpoint lacks only update the guard; lists in the checkpoint above the committed offset are
 * sent and not counted again. So each list counts once.
 *
 * An instance stores its state under its home, one of its partitions, in the state topic partition
 * with that number modulo the partitions of the state topic. The next owner of the home restores
 * it. The objects in `tools` must outlive the store. For the reading thread, unless noted.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_STORE_H
#define EK_DAEMON_STATE_CHECKPOINT_STORE_H

#include "daemon/guard/guard_service.h"
#include "daemon/kafka/kafka_health.h"
#include "daemon/state/checkpoint_ref.h"
#include "daemon/views/agreement_cache.h"
#include "daemon/views/feature_stats.h"

struct ek_checkpoint_store;
struct rd_kafka_topic_partition_list_s;

struct ek_checkpoint_store_tools {
    const struct ek_config *config; /* with a state topic */
    struct ek_partition_offsets *partitions;
    struct ek_guard_service *guard;
    struct ek_output *output;
    struct ek_metrics *metrics;
    struct ek_event_log *event_log;
    struct ek_feature_stats *board;
    struct ek_agreement_cache *agreement;
    struct ek_log *log;
    void *context;
    bool (*stopping)(void *context); /* returns true to cancel a restore */
    /* Messages flow without checkpoints, because of `text`; NULL: no longer. May be NULL. */
    void (*degraded)(void *context, const char *text);
};

/* Create a store without a checkpoint. The tools are copied; their objects must outlive it. Return
 * 0, EK_ECONFIG for invalid properties of clients, or EK_ENOMEM. */
int ek_checkpoint_store_new(struct ek_checkpoint_store **out,
                            const struct ek_checkpoint_store_tools *tools, struct ek_error *e);
void ek_checkpoint_store_free(struct ek_checkpoint_store *k);

/* Make the next checkpoint full, because the guard has other assets. */
void ek_checkpoint_store_force_full(struct ek_checkpoint_store *k);
/* Return true if a checkpoint must be written now. */
bool ek_checkpoint_store_is_due(const struct ek_checkpoint_store *k);
/* Send a checkpoint. Return false if the client rejects part of it, which voids an open
 * transaction. Other errors are logged and retried later. */
bool ek_checkpoint_store_save(struct ek_checkpoint_store *k);
/* Continue without checkpoints, because the state topic does not take them (`why` is logged), and
 * retry with a growing pause. */
void ek_checkpoint_store_suspend(struct ek_checkpoint_store *k, const char *why);
/* Return true if a checkpoint was sent and has no result yet. */
bool ek_checkpoint_store_is_sent(const struct ek_checkpoint_store *k);
/* Set the result of the sent checkpoint: stored if `kept`, else lost. No effect without one. */
void ek_checkpoint_store_finish(struct ek_checkpoint_store *k, bool kept);
/* At least once: finish the sent checkpoint if acknowledged or rejected. Return true if it was
 * acknowledged; offsets must then be committed. */
bool ek_checkpoint_store_poll(struct ek_checkpoint_store *k);
/* Return the reference to commit with a partition's offset, of the sent checkpoint if it covers the
 * partition; NULL: none. It is in `text` or belongs to the partition. */
const char *ek_checkpoint_store_ref(const struct ek_checkpoint_store *k,
                                    const struct ek_partition *assignment,
                                    char text[EK_CHECKPOINT_REF_BYTES]);
/* Return true if the sent checkpoint covers the partition: its offset must be committed with it. */
bool ek_checkpoint_store_covers(const struct ek_checkpoint_store *k,
                                const struct ek_partition *assignment);

/* At least once: return true if the partition's offset must wait for its first checkpoint. */
bool ek_checkpoint_store_blocks_commit(const struct ek_checkpoint_store *k,
                                       const struct ek_partition *assignment);

/* Request a checkpoint before a revocation; partitions being revoked must have no message in
 * flight, and their lists no longer count here. ek_checkpoint_store_is_drained returns true after
 * it is finished. */
void ek_checkpoint_store_start_drain(struct ek_checkpoint_store *k);
/* Return true if the requested checkpoint is acknowledged or was given up. */
bool ek_checkpoint_store_is_drained(const struct ek_checkpoint_store *k);
/* Prepare for closing the partitions being revoked: give up a pending checkpoint, and report state
 * that was not stored. lost: another member may already own them. */
void ek_checkpoint_store_remove_closed(struct ek_checkpoint_store *k, bool lost);

/* Restore the checkpoints of opened partitions, given their committed offsets and metadata, before
 * any message is read. Replace the offsets by those to read from. Retry while brokers do not
 * respond. Return 0, EK_ENOMEM, EK_ECONFIG if another program version is needed, or EK_EIO for a
 * missing permission; errors are fatal. If `stopping` cancels it, return 0 with unchanged offsets:
 * read no list then. */
int ek_checkpoint_store_restore(struct ek_checkpoint_store *k,
                                struct rd_kafka_topic_partition_list_s *parts, struct ek_error *e);
/* Report that a restore waits for brokers, for the reason `why`, in log, /ready and metric; NULL
 * clears it. Return false if the restore is canceled. */
bool ek_checkpoint_store_retry_restore(struct ek_checkpoint_store *k, const char *why);
/* Return the end of the offsets that the guard has counted in a partition, whose messages must be
 * revoked; -1 if unknown. */
int64_t ek_checkpoint_store_last_seen(struct ek_checkpoint_store *k,
                                      const struct ek_partition *assignment);

/* Return the connectivity state of the store's clients; valid as long as the store. Any thread. */
struct ek_kafka_health *ek_checkpoint_store_health(struct ek_checkpoint_store *k);
/* Append the metric families. Return 0 or EK_ENOMEM. Any thread. */
int ek_checkpoint_store_metrics(struct ek_checkpoint_store *k, struct ek_buf *out);
/* Append the status as a JSON object. Return 0 or EK_ENOMEM. Any thread. */
int ek_checkpoint_store_json(struct ek_checkpoint_store *k, struct ek_buf *out);

#endif
