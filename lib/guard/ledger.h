/* What a base of the state is made of: its parts, by rising names, and the hash of each of their
 * records (docs/format/state.md).
 *
 * Starts as {0}. Owner: the caller, ek_ledger_clear.
 */
#ifndef EK_GUARD_LEDGER_H
#define EK_GUARD_LEDGER_H

#include "base/snap.h"

enum { EK_PART_NAME = 32, EK_PART_RECORDS_MAX = 1000, EK_KEY_BYTES = EK_PART_NAME + 8 };

struct ek_ledger_part {
    char name[EK_PART_NAME];
    uint64_t mark; /* of what it was made of; 0: not known */
    int records;
    uint64_t *hash; /* [records] */
};

struct ek_ledger {
    uint64_t base; /* number of the base; 0: none yet */
    int count, capacity;
    struct ek_ledger_part *part;
    struct ek_ledger_part index; /* of all of the above */
};

/* The number of the base stays. */
void ek_ledger_clear(struct ek_ledger *l);
/* A part with room for the hashes of so many records. NULL without memory. */
struct ek_ledger_part *ek_ledger_add(struct ek_ledger *l, const char *name, int records);
/* Room for so many hashes in a part that has none. EK_ENOMEM. */
int ek_ledger_part_room(struct ek_ledger_part *part, int records);
/* Key of a record of a part. */
void ek_ledger_key(char key[EK_KEY_BYTES], const char *part, int record);
/* Names and hashes. */
void ek_ledger_snap(struct ek_ledger *l, struct ek_snap *s);

#endif
