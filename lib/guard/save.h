/* Checkpoint of a guard: table of its parts, and index of the written records
 * (docs/dev/formats/state.md). */
#ifndef EK_GUARD_SAVE_H
#define EK_GUARD_SAVE_H

#include "base/serialize.h"
#include "detect/detector_state.h"

#include <stdbool.h>

struct ek_guard;
struct ek_windows;

enum { EK_PART_NAME = 32, EK_PART_RECORDS_MAX = 1000, EK_KEY_BYTES = EK_PART_NAME + 8 };

/* Parts that other functions read. */
#define EK_PART_PER_CELL   "cells"
#define EK_PART_CONTROLLER "control"
#define EK_PART_DECIDED    "decided"
#define EK_PART_INDEX      "index"
#define EK_PART_CURRENT    "now"

/* ---- parts */

enum {
    EK_PART_NUMBERED = 1,     /* the name contains the number */
    EK_PART_OPTIONAL = 2,     /* may be missing */
    EK_PART_ANY_PROFILE = 4,  /* also read if profile or segments have changed */
    EK_PART_PER_WINDOW = 8,   /* one per cell with windows */
    EK_PART_EACH_WINDOW = 16, /* one per closed window of the cell */
};

/* Argument of the part functions. */
struct ek_part_at {
    const struct ek_state_part *part;
    struct ek_guard *g;
    bool reading;
    struct ek_windows *windows; /* for EK_PART_PER_WINDOW */
    int number, place;          /* number in the name; closed window */
    int cells;       /* exclusive bound for cells in plan histories; 0: cells of the detector */
    int64_t time_ms; /* of the checkpoint, when reading */
};

struct ek_state_part {
    const char *name;
    unsigned flags;
    /* Return the number of parts to write, or to try to read; NULL: 1. */
    int (*count)(const struct ek_part_at *at);
    /* Return a value that changes with the part; 0: unknown, or an empty optional part. NULL: 0. */
    uint64_t (*mark)(const struct ek_part_at *at);
    void (*walk)(const struct ek_part_at *at, struct ek_serialize *s);
    enum ek_detector_part detector;
};

enum { EK_STATE_PARTS = 19 };

/* All parts in reading order. */
extern const struct ek_state_part ek_state_parts[EK_STATE_PARTS];
/* Write the name of a part. Leading zeros make the name order numeric. */
void ek_state_part_name(char name[EK_PART_NAME], const struct ek_part_at *at);
/* Return the number of parts that the row of the table has in this guard. */
int ek_state_part_count(const struct ek_part_at *at);
/* Return the number of closed windows of a part, 1 for other parts. */
int ek_state_part_places(const struct ek_part_at *at);

/* ---- index: parts of a checkpoint in name order, and the hash of each record */

struct ek_checkpoint_part {
    char name[EK_PART_NAME];
    uint64_t mark; /* of struct ek_state_part */
    int records;
    uint64_t *hash; /* [records] */
};

/* Starts as {0}. */
struct ek_checkpoint_index {
    uint64_t base; /* checkpoint number; 0: none yet */
    int count;
    size_t capacity;
    struct ek_checkpoint_part *part;
    struct ek_checkpoint_part index; /* the index as a part */
};

/* Free all parts; the checkpoint number stays. */
void ek_checkpoint_index_clear(struct ek_checkpoint_index *x);
/* Append a part with `records` hashes of 0; the name is copied. Return it, valid until the next
 * addition, or NULL if out of memory. */
struct ek_checkpoint_part *ek_checkpoint_index_add(struct ek_checkpoint_index *x, const char *name,
                                                   int records);
/* Set part->hash to a new array of `records` hashes of 0, and part->records. The part must not have
 * an array. ek_checkpoint_index_clear frees it. Return 0, or EK_ENOMEM with an empty part. */
int ek_checkpoint_part_reserve(struct ek_checkpoint_part *part, int records);
/* Write the key of a record: the name of the part and the number. */
void ek_checkpoint_key(char key[EK_KEY_BYTES], const char *part, int record);
/* Read or write names and hashes of all parts; read into an empty index. Errors are in s->rc. */
void ek_checkpoint_index_serialize(struct ek_checkpoint_index *x, struct ek_serialize *s);

#endif
