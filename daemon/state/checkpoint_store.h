/* What the guard has learnt, kept in a topic: written as bases, and found again by what goes with
 * the committed offsets.
 *
 * A base is written every state.every, soon after an event, and before partitions are taken away.
 * With exactly once it is part of a transaction; else it is acknowledged first. Either way the
 * offsets that are committed with it carry its pointer (daemon/state/checkpoint_ref.h), and say how
 * far it has seen each partition. From an assignment on, the states of the partitions that came are
 * joined; a list that lies before the committed offset and behind what the state has seen is read
 * for the guard alone, and one that the state has seen is sent and not counted. So each list counts
 * once, whatever happened in between.
 * The state of an instance is kept under its home, one of its partitions, in the partition of the
 * topic with the same number. Whoever gets the home gets the state.
 * Owner: the caller; what it is made with must outlive it. Threads: the one that reads, except
 * where a function says otherwise.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_STORE_H
#define EK_DAEMON_STATE_CHECKPOINT_STORE_H

#include "daemon/guard/guard_service.h"
#include "daemon/kafka/kafka_health.h"
#include "daemon/state/checkpoint_ref.h"
#include "daemon/views/agreement_cache.h"
#include "daemon/views/feature_stats.h"

struct ek_keeper;
struct rd_kafka_topic_partition_list_s;

struct ek_keeper_tools {
    const struct ek_config *config; /* with a state topic */
    struct ek_lanes *lanes;
    struct ek_shared_guard *guard;
    struct ek_output *output;
    struct ek_metrics *metrics;
    struct ek_journal *journal;
    struct ek_board *board;
    struct ek_agreement_board *agreement;
    struct ek_log *log;
    void *context;
    bool (*stopping)(void *context); /* nobody waits for a restore any more */
};

int ek_keeper_new(struct ek_keeper **out, const struct ek_keeper_tools *tools, struct ek_error *e);
void ek_keeper_free(struct ek_keeper *k);

/* The next base is to have all: the guard has other assets. */
void ek_keeper_begin_whole(struct ek_keeper *k);
/* Whether a base is to be written now. */
bool ek_keeper_due(const struct ek_keeper *k);
/* Sends a base. False when the client took not all of it: with exactly once the transaction is
 * void. What else can go wrong is told, and tried again later. */
bool ek_keeper_save(struct ek_keeper *k);
/* The base that was sent is there, or is not and never will be. Without one: nothing. */
void ek_keeper_settle(struct ek_keeper *k, bool kept);
/* At least once: settles it when it was acknowledged or refused. Whether it was acknowledged now:
 * then the offsets are to be committed. */
bool ek_keeper_serve(struct ek_keeper *k);
/* What goes with the offsets of a lane that are committed together with the base that was sent, or
 * now; NULL: nothing. */
const char *ek_keeper_pointer(const struct ek_keeper *k, const struct ek_lane *lane,
                              char text[EK_POINTER_BYTES]);
/* Whether the offsets of a lane must be committed with the base that was sent. */
bool ek_keeper_concerns(const struct ek_keeper *k, const struct ek_lane *lane);

/* At least once: whether the offsets of a lane must wait for a base, since nothing of what they say
 * is in one yet. */
bool ek_keeper_holds(const struct ek_keeper *k, const struct ek_lane *lane);

/* Lanes are leaving and have nothing in flight: a base is to be written at once, after which their
 * lists do not count here. And whether that has been done. */
void ek_keeper_part(struct ek_keeper *k);
bool ek_keeper_parted(const struct ek_keeper *k);
/* Lanes that are leaving are about to be closed. lost: they may be somebody else's already. */
void ek_keeper_left(struct ek_keeper *k, bool lost);

/* Lanes were opened for these partitions, with their committed offsets and metadata; none of their
 * messages was read yet. Gets back their states; the offsets become those to read from. Brokers
 * that are away are waited for, until nobody does any more: then no list is to be read. Fails only
 * for good: EK_ECONFIG where another version of the program is needed, EK_EIO where a right is
 * missing. */
int ek_keeper_restore(struct ek_keeper *k, struct rd_kafka_topic_partition_list_s *parts,
                      struct ek_error *e);
/* What a restore takes is not to be had from brokers, and why: told (log, /ready, a metric) until
 * it is, which NULL says. False: nobody waits any more. */
bool ek_keeper_wait(struct ek_keeper *k, const char *why);
/* How far a lane was seen; its tickets must be loose. */
int64_t ek_keeper_seen(struct ek_keeper *k, const struct ek_lane *lane);

/* For metrics, status and /ready. Any thread. */
struct ek_trouble *ek_keeper_trouble(struct ek_keeper *k);
int ek_keeper_metrics(struct ek_keeper *k, struct ek_buf *out);
int ek_keeper_json(struct ek_keeper *k, struct ek_buf *out);

#endif
