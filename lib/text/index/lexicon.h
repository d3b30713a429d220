/* String interning: byte strings numbered 0, 1, 2, ... in order of first appearance.
 *
 * Limits: 2^32 - 2 strings, 4 GiB in total.
 */
#ifndef EK_TEXT_INDEX_LEXICON_H
#define EK_TEXT_INDEX_LEXICON_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_lexicon_entry;

struct ek_slot {
    uint32_t number; /* number plus 1, 0: free */
    uint32_t hash;   /* lower half of ek_hash of the bytes; determines the slot */
};

struct ek_lexicon {
    struct ek_lexicon_entry *names;
    struct ek_slot *slots; /* open addressing with linear probing, at most half full */
    char *bytes;
    uint32_t count, room;
    size_t slot_count, length, capacity;
};

/* Initialize an empty lexicon, without allocating. */
void ek_lexicon_init(struct ek_lexicon *n);
/* Free the memory; the lexicon is then empty. */
void ek_lexicon_release(struct ek_lexicon *n);
/* Add a copy of a string if it is new; set *number to its number and *added to whether it is new.
 * Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limits above; on error nothing changes. */
int ek_lexicon_add(struct ek_lexicon *n, const char *bytes, size_t length, uint32_t *number,
                   bool *added);
/* Return string `number`, not terminated, and set *length; valid until the next addition. */
const char *ek_lexicon_text(const struct ek_lexicon *n, uint32_t number, size_t *length);
/* Return the allocated bytes. */
uint64_t ek_lexicon_memory(const struct ek_lexicon *n);

#endif
