/* Which offsets may be committed: one lane per assigned partition, one ticket per message in
 * flight.
 *
 * Invariants: tickets of a lane are taken in the order of their offsets, which may have gaps. The
 * position of a lane is the offset behind the last ticket before which all are done; it never moves
 * past one that is not. A ticket outlives its lane: when the partition is taken away its tickets
 * are cut loose, and finishing them moves nothing.
 * Units: offsets, bytes that messages hold. Owner: the table owns lanes and tickets, and lanes live
 * as long as it does. Threads: one, except ek_inflight_is_revoked; whoever has a ticket to work on
 * may use the fields that say so.
 */
#ifndef EK_DAEMON_KAFKA_PARTITION_OFFSETS_H
#define EK_DAEMON_KAFKA_PARTITION_OFFSETS_H

#include "daemon/base/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_partition_offsets;

/* A message that a broker has refused in a transaction of its own. */
struct ek_rejection {
    int64_t offset; /* -1: none */
    int why;        /* what the broker said */
    int outcome;    /* of its ticket then */
};

struct ek_partition {
    char *topic;
    int partition;
    bool open;             /* assigned to us now */
    bool leaving;          /* about to be taken away */
    int64_t next;          /* position: what a commit would say; -1 unknown */
    int64_t committed;     /* what the last commit said; -1 none */
    int64_t last_seen;     /* behind the last ticket; -1 none since it was opened */
    int64_t next_expected; /* of the next ticket after going back; -1 any */
    int64_t reached;       /* what the transaction that is being ended says; -1 none */
    int64_t seen;         /* behind the last list that the guard has counted, whatever became of its
                           * output; of the worker that has the partition, under the guard's lock */
    bool closed;          /* lists count here no more; under the guard's lock */
    int64_t replay_until; /* what comes below is for the guard alone: its output was sent before */
    char *pointer;        /* goes with its commits (daemon/state/checkpoint_ref.h); NULL: nothing */
    bool pointed;         /* the last commit had it */
    int64_t suspect;      /* a message before this offset voids transactions; 0: none known */
    struct ek_rejection refused; /* the one, once it is found */
    int keeps_partition; /* whether outputs stay in their partition; -1: not found out yet */
    struct ek_inflight *head, *tail;
    struct ek_partition *next_partition,
        *next_same_partition; /* the next of all; of this partition number */
    atomic_uint epoch;        /* of its tickets; another one after each closing */
};

struct ek_inflight {
    struct ek_partition *lane;
    struct ek_inflight *next;
    int64_t offset;
    uint64_t fetched_ns; /* when the consumer gave it out */
    size_t loaded;       /* bytes that count as being in flight; stay while it is worked on */
    unsigned epoch;
    bool done;
    bool no_output; /* for the guard alone: nothing is to be sent */
    /* Of who works on it. */
    const void *bytes; /* the value of the message; NULL for one that is null */
    size_t length;
    int64_t stamp_ms; /* time of the message, -1 when it has none */
    int partition;    /* of the output; -1: as the key says */
    int outcome;      /* whatever the sender wants to remember */
    int refused;      /* what a broker said when this message voided its transaction; 0: it did not;
                       * then the outcome is that of last time */
    size_t sent;      /* bytes of the output */
    void *message;    /* the consumed message; whoever finishes the ticket gives it back first */
    struct ek_inflight *back; /* the next one that was handed back unsent, or over with this one */
};

struct ek_partition_offsets *ek_partition_offsets_new(void);
/* Tickets that are still out die with it; their messages must have been given back. */
void ek_partition_offsets_free(struct ek_partition_offsets *l);

/* The lane of a partition, opened (again) at `next`. NULL without memory. */
struct ek_partition *ek_partition_offsets_open(struct ek_partition_offsets *l, const char *topic,
                                               int partition, int64_t next);
/* NULL when there is none or it is closed. */
struct ek_partition *ek_partition_offsets_find(struct ek_partition_offsets *l, const char *topic,
                                               int partition);
/* Cuts the tickets loose. */
void ek_partition_offsets_close(struct ek_partition_offsets *l, struct ek_partition *lane);
/* The same, and the lane stays open at its committed offset: all behind it comes again. */
void ek_partition_offsets_rewind(struct ek_partition_offsets *l, struct ek_partition *lane);
/* The next message is that at `from` or one behind it, which may lie before what is committed. */
void ek_partition_expect_offset(struct ek_partition *lane, int64_t from);
/* Sets what goes with the commits of a lane, a copy; NULL: nothing. EK_ENOMEM. */
int ek_partition_set_checkpoint(struct ek_partition *lane, const char *pointer);
/* Walks all lanes, closed ones included: start with NULL. */
struct ek_partition *ek_partition_offsets_each(struct ek_partition_offsets *l,
                                               struct ek_partition *after);

/* A ticket for the message at `offset`, behind all others of the lane; the first one of a lane
 * whose position is unknown tells it. NULL without memory. */
struct ek_inflight *ek_partition_offsets_start(struct ek_partition_offsets *l,
                                               struct ek_partition *lane, int64_t offset);
/* Counts that many bytes of the ticket as being in flight. */
void ek_partition_offsets_add_bytes(struct ek_partition_offsets *l, struct ek_inflight *t,
                                    size_t bytes);
/* Whether the partition was taken away since: then it is the next owner's. Any thread. */
bool ek_inflight_is_revoked(const struct ek_inflight *t);
/* The output of this ticket was acknowledged; the ticket is gone for the caller. */
void ek_partition_offsets_finish(struct ek_partition_offsets *l, struct ek_inflight *t);

/* Tickets taken and not done, loose ones included, and their bytes. */
size_t ek_partition_offsets_in_flight(const struct ek_partition_offsets *l);
size_t ek_partition_offsets_bytes(const struct ek_partition_offsets *l);
/* Whether the lanes that are leaving have none. */
bool ek_partition_offsets_is_drained(struct ek_partition_offsets *l);

/* A log line about one message, with its place: `topic=scored partition=2 offset=17 class=format
 * message="..."`. Threads: whoever works on the ticket. */
/* `event` as in ek_log_write; class is a word, NULL: there is none. Without memory for the text the
 * line goes without it. */
void ek_inflight_log(struct ek_log *l, enum ek_log_level level, const char *event,
                     const struct ek_inflight *t, const char *class, const char *text);

#endif
