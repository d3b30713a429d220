/* Which offsets may be committed: one lane per assigned partition, one ticket per message in
 * flight.
 *
 * Invariants: tickets of a lane are taken in the order of their offsets, which may have gaps. The
 * position of a lane is the offset behind the last ticket before which all are done; it never moves
 * past one that is not. A ticket outlives its lane: when the partition is taken away its tickets
 * are cut loose, and finishing them moves nothing.
 * Units: offsets, bytes that messages hold. Owner: the table owns lanes and tickets, and lanes live
 * as long as it does. Threads: one, except ek_ticket_loose; whoever has a ticket to work on may use
 * the fields that say so.
 */
#ifndef EK_DAEMON_KAFKA_PARTITION_OFFSETS_H
#define EK_DAEMON_KAFKA_PARTITION_OFFSETS_H

#include "daemon/base/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_lanes;

/* A message that a broker has refused in a transaction of its own. */
struct ek_refusal {
    int64_t offset; /* -1: none */
    int why;        /* what the broker said */
    int outcome;    /* of its ticket then */
};

struct ek_lane {
    char *topic;
    int partition;
    bool open;         /* assigned to us now */
    bool leaving;      /* about to be taken away */
    int64_t next;      /* position: what a commit would say; -1 unknown */
    int64_t committed; /* what the last commit said; -1 none */
    int64_t taken;     /* behind the last ticket; -1 none since it was opened */
    int64_t expected;  /* of the next ticket after going back; -1 any */
    int64_t reached;   /* what the transaction that is being ended says; -1 none */
    int64_t seen;      /* behind the last list that the guard has counted, whatever became of its
                        * output; of the worker that has the partition, under the guard's lock */
    bool sealed;       /* lists count here no more; under the guard's lock */
    int64_t sends;     /* what comes below is for the guard alone: its output was sent before */
    char *pointer;     /* goes with its commits (daemon/state/checkpoint_ref.h); NULL: nothing */
    bool pointed;      /* the last commit had it */
    int64_t suspect;   /* a message before this offset voids transactions; 0: none known */
    struct ek_refusal refused; /* the one, once it is found */
    int keeps;                 /* whether outputs stay in their partition; -1: not found out yet */
    struct ek_ticket *head, *tail;
    struct ek_lane *sibling, *namesake; /* the next of all; of this partition number */
    atomic_uint epoch;                  /* of its tickets; another one after each closing */
};

struct ek_ticket {
    struct ek_lane *lane;
    struct ek_ticket *next;
    int64_t offset;
    uint64_t fetched_ns; /* when the consumer gave it out */
    size_t loaded;       /* bytes that count as being in flight; stay while it is worked on */
    unsigned epoch;
    bool done;
    bool silent; /* for the guard alone: nothing is to be sent */
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
    struct ek_ticket *back; /* the next one that was handed back unsent, or over with this one */
};

struct ek_lanes *ek_lanes_new(void);
/* Tickets that are still out die with it; their messages must have been given back. */
void ek_lanes_free(struct ek_lanes *l);

/* The lane of a partition, opened (again) at `next`. NULL without memory. */
struct ek_lane *ek_lanes_open(struct ek_lanes *l, const char *topic, int partition, int64_t next);
/* NULL when there is none or it is closed. */
struct ek_lane *ek_lanes_find(struct ek_lanes *l, const char *topic, int partition);
/* Cuts the tickets loose. */
void ek_lanes_close(struct ek_lanes *l, struct ek_lane *lane);
/* The same, and the lane stays open at its committed offset: all behind it comes again. */
void ek_lanes_rewind(struct ek_lanes *l, struct ek_lane *lane);
/* The next message is that at `from` or one behind it, which may lie before what is committed. */
void ek_lanes_expect(struct ek_lane *lane, int64_t from);
/* Sets what goes with the commits of a lane, a copy; NULL: nothing. EK_ENOMEM. */
int ek_lane_point(struct ek_lane *lane, const char *pointer);
/* Walks all lanes, closed ones included: start with NULL. */
struct ek_lane *ek_lanes_each(struct ek_lanes *l, struct ek_lane *after);

/* A ticket for the message at `offset`, behind all others of the lane; the first one of a lane
 * whose position is unknown tells it. NULL without memory. */
struct ek_ticket *ek_lanes_take(struct ek_lanes *l, struct ek_lane *lane, int64_t offset);
/* Counts that many bytes of the ticket as being in flight. */
void ek_lanes_load(struct ek_lanes *l, struct ek_ticket *t, size_t bytes);
/* Whether the partition was taken away since: then it is the next owner's. Any thread. */
bool ek_ticket_loose(const struct ek_ticket *t);
/* The output of this ticket was acknowledged; the ticket is gone for the caller. */
void ek_lanes_done(struct ek_lanes *l, struct ek_ticket *t);

/* Tickets taken and not done, loose ones included, and their bytes. */
size_t ek_lanes_in_flight(const struct ek_lanes *l);
size_t ek_lanes_bytes(const struct ek_lanes *l);
/* Whether the lanes that are leaving have none. */
bool ek_lanes_left(struct ek_lanes *l);

/* A log line about one message, with its place: `topic=scored partition=2 offset=17 class=format
 * message="..."`. Threads: whoever works on the ticket. */
/* `event` as in ek_log_write; class is a word, NULL: there is none. Without memory for the text the
 * line goes without it. */
void ek_ticket_log(struct ek_log *l, enum ek_log_level level, const char *event,
                   const struct ek_ticket *t, const char *class, const char *text);

#endif
