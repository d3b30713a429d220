/* Byte strings, each with a number: 0, 1, 2, ... in the order in which they first came.
 *
 * Owner: whoever called ek_lexicon_init; memory goes back with ek_lexicon_release. Limits: 2^32 - 2
 * strings, 4 GiB of them together.
 */
#ifndef EK_TEXT_INDEX_LEXICON_H
#define EK_TEXT_INDEX_LEXICON_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_lexicon_entry;

struct ek_slot {
    uint32_t number; /* + 1, 0: free */
    uint32_t hash;   /* lower half of ek_hash of the bytes; where it belongs follows from it */
};

struct ek_lexicon {
    struct ek_lexicon_entry *names;
    struct ek_slot *slots; /* at most half of them are taken; the next free one is taken */
    char *bytes;
    uint32_t count, room;
    size_t slot_count, length, capacity;
};

void ek_lexicon_init(struct ek_lexicon *n);
void ek_lexicon_release(struct ek_lexicon *n);
/* Its number; *added: it is new. EK_ENOMEM, EK_ELIMIT leave all as it was. */
int ek_lexicon_add(struct ek_lexicon *n, const char *bytes, size_t length, uint32_t *number,
                   bool *added);
/* Not terminated; until the next is added. */
const char *ek_lexicon_text(const struct ek_lexicon *n, uint32_t number, size_t *length);
/* Bytes of memory it has. */
uint64_t ek_lexicon_memory(const struct ek_lexicon *n);

#endif
