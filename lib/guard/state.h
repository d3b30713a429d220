/* Records of a state that were read back, until a guard is made of them.
 *
 * The inside of struct ek_state of evenkeel.h. What a complete base does not need is dropped when
 * its head comes. Owner: who made it.
 */
#ifndef EK_GUARD_STATE_H
#define EK_GUARD_STATE_H

#include "evenkeel.h"
#include "guard/state_head.h"

#include <stdbool.h>

struct ek_state_record {
    char key[EK_KEY_BYTES];
    uint64_t hash;  /* of the body */
    uint8_t *bytes; /* the body */
    size_t length;
    bool needed;
};

struct ek_state {
    struct ek_state_record *record;
    int count, capacity, sorted; /* the first `sorted` are in order */
    bool has_base, incomplete;   /* there is a complete base; the last head had none */
    bool other_version;          /* the last head was of one */
    bool damaged;                /* the last head was */
    struct ek_state_head head;   /* of the complete base */
    struct ek_ledger index;      /* of it */
};

/* The bytes of a part of the complete base; `joined` holds them where they are in pieces. *s->rc is
 * EK_EFORMAT when the base has no such part. */
struct ek_snap ek_state_part(const struct ek_state *state, const char *name, struct ek_buf *joined);
/* Whether the base has a part. */
bool ek_state_has(const struct ek_state *state, const char *name);

#endif
