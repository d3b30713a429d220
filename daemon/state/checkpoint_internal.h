/* What daemon/state/checkpoint_store.c (bases that are written) and
 * daemon/state/checkpoint_restore.c (states that are got back) share. */
#ifndef EK_DAEMON_STATE_CHECKPOINT_INTERNAL_H
#define EK_DAEMON_STATE_CHECKPOINT_INTERNAL_H

#include "daemon/state/checkpoint_store.h"
#include "daemon/state/checkpoint_reader.h"
#include "daemon/state/checkpoint_status.h"

/* A lane in the base that was sent. */
struct ek_checkpoint_partition {
    struct ek_partition *lane;
    int64_t seen;
};

struct ek_checkpoint_store {
    struct ek_checkpoint_store_tools tools;
    struct ek_checkpoint_reader *reader;
    struct ek_checkpoint_status *report;
    struct ek_kafka_health *trouble; /* what a restore waits for */
    int64_t tell_ms;                 /* not in the log again before */
    /* The base that was sent and not settled. */
    struct ek_checkpoint_ref sent;
    struct ek_checkpoint_partition *kept;
    size_t count, capacity;
    uint64_t bytes;
    double seconds;
    bool pending, sent_parting;
    /* Of those before. */
    struct ek_partition *home;
    struct ek_checkpoint_ref last; /* the last that was kept */
    bool whole;                    /* the next one is to have all */
    uint64_t queries, events;      /* when the last one was written */
    int64_t due_ms, next_ms;       /* monotonic; not before */
    int64_t blocked_ms;            /* no base can be made before */
    int64_t whole_ms;              /* when the next one is to have all */
    bool parting;                  /* one is wanted before lanes are closed */
    bool parted;                   /* and was kept */
    bool vacant;                   /* no partitions: the guard is nobody's */
    bool parked;                   /* and is just what the last base says */
    bool disabled; /* a state could not be taken over: it must not be written over */
};

/* No base for a while, but for a reason. */
void ek_checkpoint_store_remaining(struct ek_checkpoint_store *k);

#endif
