/* Fencing of owners that have left the group: with exactly-once delivery the open transaction of a
 * killed instance keeps the committed offsets of its partitions unknown, and hides later outputs,
 * until brokers abort it up to 20 s later. A producer with the same transactional id aborts it at
 * once.
 *
 * The metadata of the last known offset names the owner. It is fenced only if all members of the
 * group are known by their client id, which is their transactional id, and the owner is none of
 * them. A member, however slow, is never fenced. An instance that joins between the query and the
 * fence may be: it continues with a new producer, as after any lost transaction.
 *
 * Nothing waits for brokers, except ek_fence_free. One thread.
 */
#ifndef EK_DAEMON_STAGE_FENCE_H
#define EK_DAEMON_STAGE_FENCE_H

#include "daemon/base/log.h"
#include "daemon/base/wakeup.h"
#include "daemon/config/config.h"
#include "daemon/kafka/errors.h"

struct ek_fence;

struct ek_fence_tools {
    const struct ek_config *config;
    const char *transactional_id; /* of this instance */
    struct ek_log *log;
    const struct ek_wakeup *wakeup; /* signaled when a step has something to do */
};

/* Create a fence. The objects in `tools` must outlive it. Return 0 or EK_ENOMEM. */
int ek_fence_new(struct ek_fence **out, const struct ek_fence_tools *tools, struct ek_error *e);
/* Free the fence; waits up to two seconds for a call of its client. NULL is allowed. */
void ek_fence_free(struct ek_fence *f);

/* Advance the fencing of the owners of `held`: partitions assigned to `consumer` whose committed
 * offsets are not known yet; NULL: none. Return true after an owner was fenced: the offsets can be
 * queried again. */
bool ek_fence_step(struct ek_fence *f, rd_kafka_t *consumer,
                   const rd_kafka_topic_partition_list_t *held);
/* Check the owners of partitions that were opened, by the metadata of their offsets, in the next
 * steps. If the check of an earlier list has not ended, brokers end the transactions of its
 * owners. */
void ek_fence_add_opened(struct ek_fence *f, const rd_kafka_topic_partition_list_t *parts);
/* Return true while a check or a fence is in progress. */
bool ek_fence_is_busy(const struct ek_fence *f);

enum ek_owner_state {
    EK_OWNER_UNKNOWN, /* a member is not identified, or this instance is not a member */
    EK_OWNER_PRESENT, /* the owner is a member */
    EK_OWNER_GONE,
};
/* Return whether the instance with transactional id `owner` is a member of the group with these
 * client ids. */
enum ek_owner_state ek_fence_find_owner(const struct ek_fence_tools *tools, const char *owner,
                                        const char *const *client_ids, size_t count);

#endif
