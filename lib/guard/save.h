/* Checkpoint of a guard: the table of its parts, and the index of the records that were written
 * (docs/format/state.md).
 */
#ifndef EK_GUARD_SAVE_H
#define EK_GUARD_SAVE_H

#include "base/serialize.h"
#include "detect/detector_state.h"

#include <stdbool.h>

struct ek_guard;
struct ek_windows;

enum { EK_PART_NAME = 32, EK_PART_RECORDS_MAX = 1000, EK_KEY_BYTES = EK_PART_NAME + 8 };

/* Parts that are also read by themselves. */
#define EK_PART_PER_CELL   "cells"
#define EK_PART_CONTROLLER "control"
#define EK_PART_INDEX      "index"
#define EK_PART_CURRENT    "now"

/* ---- parts */

enum {
    EK_PART_NUMBERED = 1,     /* the number is in the name */
    EK_PART_OPTIONAL = 2,     /* may be missing in a checkpoint */
    EK_PART_ANY_PROFILE = 4,  /* also read if the profile or the segments have changed */
    EK_PART_PER_WINDOW = 8,   /* one for each segment that has windows */
    EK_PART_EACH_WINDOW = 16, /* one for each closed window of the segment */
};

/* What one walk goes over. */
struct ek_part_at {
    const struct ek_state_part *part;
    struct ek_guard *g;
    bool reading;
    struct ek_windows *windows; /* EK_PART_PER_WINDOW */
    int number, place;          /* number in the name; closed window */
    int cells;                  /* that plans of past lists may name; 0: those of the detector */
    int64_t time_ms;            /* of the checkpoint, reading */
};

struct ek_state_part {
    const char *name;
    unsigned flags;
    /* Parts that there are to write, or that may be there to read; NULL: 1. */
    int (*count)(const struct ek_part_at *at);
    /* Number that changes with the part; 0: unknown, or nothing to write if optional. NULL: 0. */
    uint64_t (*mark)(const struct ek_part_at *at);
    void (*walk)(const struct ek_part_at *at, struct ek_serialize *s);
    enum ek_detector_part detector;
};

enum { EK_STATE_PARTS = 16 };

/* All parts, in the order in which a guard has to read them. */
extern const struct ek_state_part ek_state_parts[EK_STATE_PARTS];
/* Write the name of a part; numbers have leading zeros, so that names sort as they do. */
void ek_state_part_name(char name[EK_PART_NAME], const struct ek_part_at *at);
int ek_state_part_count(const struct ek_part_at *at);
/* Closed windows of a part, 1 if it is not by window. */
int ek_state_part_places(const struct ek_part_at *at);

/* ---- index: the parts of a checkpoint by rising names, and the hash of each of their records */

struct ek_checkpoint_part {
    char name[EK_PART_NAME];
    uint64_t mark; /* as of struct ek_state_part */
    int records;
    uint64_t *hash; /* [records] */
};

/* Starts as {0}. */
struct ek_checkpoint_index {
    uint64_t base; /* number of the base; 0: none yet */
    int count;
    size_t capacity;
    struct ek_checkpoint_part *part;
    struct ek_checkpoint_part index; /* the index itself as a part */
};

/* Remove all parts. The number of the base stays. */
void ek_checkpoint_index_clear(struct ek_checkpoint_index *x);
/* Append a part with room for `records` hashes. NULL: out of memory. */
struct ek_checkpoint_part *ek_checkpoint_index_add(struct ek_checkpoint_index *x, const char *name,
                                                   int records);
/* Make room for the hashes of a part that has none. Returns 0 or EK_ENOMEM. */
int ek_checkpoint_part_reserve(struct ek_checkpoint_part *part, int records);
/* Write the key of a record. */
void ek_checkpoint_key(char key[EK_KEY_BYTES], const char *part, int record);
/* Walk over names and hashes. */
void ek_checkpoint_index_serialize(struct ek_checkpoint_index *x, struct ek_serialize *s);

#endif
