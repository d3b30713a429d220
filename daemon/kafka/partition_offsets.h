/* Commit offsets of assigned partitions, computed from in-flight messages.
 *
 * In-flight messages of a partition have increasing offsets, with gaps. The position is the offset
 * after the last message that is done together with all before it; it never passes an unfinished
 * one. An in-flight message outlives the assignment: closing the partition revokes its messages,
 * and finishing them has no effect on the position. The table owns partitions and in-flight
 * messages; partitions live as long as the table. One thread, except ek_inflight_is_revoked; the
 * thread that processes a message may use the fields marked so.
 */
#ifndef EK_DAEMON_KAFKA_PARTITION_OFFSETS_H
#define EK_DAEMON_KAFKA_PARTITION_OFFSETS_H

#include "daemon/base/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_partition_offsets;

/* Message rejected by a broker in a transaction that contained no other message. */
struct ek_rejection {
    int64_t offset; /* -1: none */
    int why;        /* error code of the broker */
    int outcome;    /* its `outcome` at that time */
};

struct ek_partition {
    char *topic;
    int partition;
    bool open;             /* currently assigned */
    bool leaving;          /* revocation is pending */
    int64_t next;          /* position: offset to commit; -1 unknown */
    int64_t committed;     /* last committed offset; -1 none */
    int64_t last_seen;     /* offset after the last in-flight message; -1 none since it was
                            * opened */
    int64_t next_expected; /* offset of the next message after a rewind; -1 any */
    int64_t reached;       /* position in the transaction being ended; -1 none */
    int64_t seen;          /* offset after the last list counted by the guard, regardless of
                            * its output. Under the guard's lock, for the partition's worker. */
    bool closed;           /* the guard counts no more lists of it; under the guard's lock */
    int64_t replay_until;  /* outputs below this offset were already committed; update state only */
    char *pointer;         /* checkpoint reference committed with offsets
                            * (daemon/state/checkpoint_ref.h); NULL: none */
    bool pointed;          /* the last commit included the pointer */
    int64_t suspect;       /* a message below this offset voids transactions; 0: none known */
    struct ek_rejection refused; /* the rejected message, once isolated */
    int keeps_partition;         /* output has the same partition count; -1: unknown */
    struct ek_inflight *head, *tail;
    struct ek_partition *next_partition,
        *next_same_partition; /* next in the table; next with the same partition number */
    /* Fingerprints that detect a topic created again; 0: unknown. */
    uint64_t print, last_print, reached_print; /* of the messages before `next`, `last_seen` (or
                                                * `next`) and `reached` */
    int64_t verify_offset; /* the next message is compared with last_print; -1: no */
    bool detached;         /* the client does not fetch it until it is assigned again */
    bool misplaced;        /* its position must be checked against the log */
    bool recreated;        /* the topic was created again: messages are new to the guard */
    atomic_uint epoch;     /* epoch of its in-flight messages; changed by each close */
};

struct ek_inflight {
    struct ek_partition *assignment;
    struct ek_inflight *next;
    int64_t offset;
    uint64_t fetched_ns; /* time of receipt from the consumer */
    uint64_t print;      /* fingerprint of the message */
    size_t loaded;       /* bytes counted as in flight; constant during processing */
    unsigned epoch;
    bool done;
    bool no_output; /* update state only, send no output */
    /* Fields of the processing thread. */
    const void *bytes; /* message value; NULL for a null value */
    size_t length;
    int64_t stamp_ms; /* message timestamp, -1: none */
    int partition;    /* output partition; -1: chosen by key */
    int outcome;      /* private to the producer */
    int refused;      /* broker error if this message voided its transaction, else 0; if set,
                       * `outcome` is that of the previous attempt */
    size_t sent;      /* bytes of the output */
    char *reason;     /* at least once: why the message cannot be read, until its copy is sent to
                       * the dead-letter topic; else NULL. Owned. */
    int code;         /* enum ek_code of the reason */
    void *message;    /* consumed message; destroyed before the in-flight message is finished */
    struct ek_inflight *back; /* next in a list of unsent or finished messages */
};

/* Create an empty table. Return NULL if out of memory. */
struct ek_partition_offsets *ek_partition_offsets_new(void);
/* Free the table with its in-flight messages. Their consumed messages must already be destroyed. */
void ek_partition_offsets_free(struct ek_partition_offsets *l);

/* Open a partition at position `next`; an open one is closed first. Return the partition, valid as
 * long as the table, or NULL if out of memory. */
struct ek_partition *ek_partition_offsets_open(struct ek_partition_offsets *l, const char *topic,
                                               int partition, int64_t next);
/* Return an open partition, owned by the table, or NULL. */
struct ek_partition *ek_partition_offsets_find(struct ek_partition_offsets *l, const char *topic,
                                               int partition);
/* Return a partition, open or closed, owned by the table, or NULL. */
struct ek_partition *ek_partition_offsets_known(struct ek_partition_offsets *l, const char *topic,
                                                int partition);
/* Close a partition and revoke its in-flight messages. */
void ek_partition_offsets_close(struct ek_partition_offsets *l, struct ek_partition *assignment);
/* Revoke the in-flight messages and restart at the committed offset; the partition stays open. */
void ek_partition_offsets_rewind(struct ek_partition_offsets *l, struct ek_partition *assignment);
/* Revoke the in-flight messages and restart at `offset` of a topic that was created again. */
void ek_partition_offsets_reset(struct ek_partition_offsets *l, struct ek_partition *assignment,
                                int64_t offset);
/* Continue at a later offset: the messages before it are gone. */
void ek_partition_skip_to(struct ek_partition *assignment, int64_t offset);
/* Set the offset of the next message; it may be below the committed offset, and gaps are
 * allowed. */
void ek_partition_expect_offset(struct ek_partition *assignment, int64_t from);
/* Set a copy of the checkpoint reference committed with offsets; NULL clears it. Return 0 or
 * EK_ENOMEM. */
int ek_partition_set_checkpoint(struct ek_partition *assignment, const char *pointer);
/* Return the next partition, owned by the table, closed ones included; NULL starts and ends the
 * iteration. */
struct ek_partition *ek_partition_offsets_each(struct ek_partition_offsets *l,
                                               struct ek_partition *after);

/* Set the fingerprint of the newest in-flight message of a partition. */
void ek_partition_offsets_set_print(struct ek_partition *assignment, struct ek_inflight *t,
                                    uint64_t print);
/* Add an in-flight message at `offset`, above all others of the partition. It sets an unknown
 * position. Return the message, owned by the table, or NULL if out of memory. */
struct ek_inflight *ek_partition_offsets_start(struct ek_partition_offsets *l,
                                               struct ek_partition *assignment, int64_t offset);
/* Set the bytes that the message counts as in flight. */
void ek_partition_offsets_add_bytes(struct ek_partition_offsets *l, struct ek_inflight *t,
                                    size_t bytes);
/* Return true if the partition was closed since the message was added. Any thread. */
bool ek_inflight_is_revoked(const struct ek_inflight *t);
/* Mark a message as acknowledged, which advances the position. The table then owns and frees it:
 * the caller must not use it afterwards. */
void ek_partition_offsets_finish(struct ek_partition_offsets *l, struct ek_inflight *t);

/* Return the number of unfinished messages, revoked ones included. */
size_t ek_partition_offsets_in_flight(const struct ek_partition_offsets *l);
/* Return the bytes of the unfinished messages, revoked ones included. */
size_t ek_partition_offsets_bytes(const struct ek_partition_offsets *l);
/* Return true if the partitions with a pending revocation have no unfinished message. */
bool ek_partition_offsets_is_drained(struct ek_partition_offsets *l);

/* Log an event about one message: `topic=scored partition=2 offset=17 class=format message="..."`.
 * `class` may be NULL. The text is empty if memory runs out. For the processing thread. */
void ek_inflight_log(struct ek_log *l, enum ek_log_level level, const char *event,
                     const struct ek_inflight *t, const char *class, const char *text);

#endif
