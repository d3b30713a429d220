/* What the guard has learnt, kept in a topic: written as bases, and found again by what goes with
 * the committed offsets.
 *
 * A base is written every state.checkpoint_interval, soon after an event, and before partitions are
 * taken away. With exactly once it is part of a transaction; else it is acknowledged first. Either
 * way the offsets that are committed with it carry its pointer (daemon/state/checkpoint_ref.h), and
 * say how far it has seen each partition. From an assignment on, the states of the partitions that
 * came are joined; a list that lies before the committed offset and behind what the state has seen
 * is read for the guard alone, and one that the state has seen is sent and not counted. So each
 * list counts once, whatever happened in between. The state of an instance is kept under its home,
 * one of its partitions, in the partition of the topic with the same number. Whoever gets the home
 * gets the state. Owner: the caller; what it is made with must outlive it. Threads: the one that
 * reads, except where a function says otherwise.
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
    struct ek_partition_offsets *lanes;
    struct ek_guard_service *guard;
    struct ek_output *output;
    struct ek_metrics *metrics;
    struct ek_event_log *event_log;
    struct ek_feature_stats *board;
    struct ek_agreement_cache *agreement;
    struct ek_log *log;
    void *context;
    bool (*stopping)(void *context); /* nobody waits for a restore any more */
};

int ek_checkpoint_store_new(struct ek_checkpoint_store **out,
                            const struct ek_checkpoint_store_tools *tools, struct ek_error *e);
void ek_checkpoint_store_free(struct ek_checkpoint_store *k);

/* The next base is to have all: the guard has other assets. */
void ek_checkpoint_store_force_full(struct ek_checkpoint_store *k);
/* Whether a base is to be written now. */
bool ek_checkpoint_store_is_due(const struct ek_checkpoint_store *k);
/* Sends a base. False when the client took not all of it: with exactly once the transaction is
 * void. What else can go wrong is told, and tried again later. */
bool ek_checkpoint_store_save(struct ek_checkpoint_store *k);
/* The base that was sent is there, or is not and never will be. Without one: nothing. */
void ek_checkpoint_store_finish(struct ek_checkpoint_store *k, bool kept);
/* At least once: settles it when it was acknowledged or refused. Whether it was acknowledged now:
 * then the offsets are to be committed. */
bool ek_checkpoint_store_poll(struct ek_checkpoint_store *k);
/* What goes with the offsets of a lane that are committed together with the base that was sent, or
 * now; NULL: nothing. */
const char *ek_checkpoint_store_ref(const struct ek_checkpoint_store *k,
                                    const struct ek_partition *lane,
                                    char text[EK_CHECKPOINT_REF_BYTES]);
/* Whether the offsets of a lane must be committed with the base that was sent. */
bool ek_checkpoint_store_covers(const struct ek_checkpoint_store *k,
                                const struct ek_partition *lane);

/* At least once: whether the offsets of a lane must wait for a base, since nothing of what they say
 * is in one yet. */
bool ek_checkpoint_store_blocks_commit(const struct ek_checkpoint_store *k,
                                       const struct ek_partition *lane);

/* Lanes are leaving and have nothing in flight: a base is to be written at once, after which their
 * lists do not count here. And whether that has been done. */
void ek_checkpoint_store_start_drain(struct ek_checkpoint_store *k);
bool ek_checkpoint_store_is_drained(const struct ek_checkpoint_store *k);
/* Lanes that are leaving are about to be closed. lost: they may be somebody else's already. */
void ek_checkpoint_store_remove_closed(struct ek_checkpoint_store *k, bool lost);

/* Lanes were opened for these partitions, with their committed offsets and metadata; none of their
 * messages was read yet. Gets back their states; the offsets become those to read from. Brokers
 * that are away are waited for, until nobody does any more: then no list is to be read. Fails only
 * for good: EK_ECONFIG where another version of the program is needed, EK_EIO where a right is
 * missing. */
int ek_checkpoint_store_restore(struct ek_checkpoint_store *k,
                                struct rd_kafka_topic_partition_list_s *parts, struct ek_error *e);
/* What a restore takes is not to be had from brokers, and why: told (log, /ready, a metric) until
 * it is, which NULL says. False: nobody waits any more. */
bool ek_checkpoint_store_retry_restore(struct ek_checkpoint_store *k, const char *why);
/* How far a lane was seen; its tickets must be loose. */
int64_t ek_checkpoint_store_last_seen(struct ek_checkpoint_store *k,
                                      const struct ek_partition *lane);

/* For metrics, status and /ready. Any thread. */
struct ek_kafka_health *ek_checkpoint_store_health(struct ek_checkpoint_store *k);
int ek_checkpoint_store_metrics(struct ek_checkpoint_store *k, struct ek_buf *out);
int ek_checkpoint_store_json(struct ek_checkpoint_store *k, struct ek_buf *out);

#endif
