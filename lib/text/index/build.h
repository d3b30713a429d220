/* Index builder (lib/text/index/index.h). Postings are collected in memory, spilled to an unnamed
 * file next to the index when the memory is full, and merged at the end.
 *
 * The index gets its name when it is complete. Documents are numbered in order of addition. The
 * words and ids of the whole collection must fit into the given memory. At most 2^32 - 2 documents.
 * Not thread-safe.
 */
#ifndef EK_TEXT_INDEX_BUILD_H
#define EK_TEXT_INDEX_BUILD_H

#include "text/index/collection.h"

#define EK_BUILD_MEMORY     (512LL << 20)
#define EK_BUILD_MEMORY_MIN (1LL << 20)
#define EK_BUILD_MEMORY_MAX (64LL << 30)

struct ek_build;

/* Create a builder for an uncompressed index at `path`. stemmer: as for ek_words_new. Return 0,
 * EK_EUSAGE for standard output, a suffix of a compressed file or an unknown stemmer, EK_EIO or
 * EK_ENOMEM. */
int ek_build_new(struct ek_build **out, const char *path, const char *stemmer,
                 uint64_t memory_bytes, struct ek_error *e);
/* Free the builder and discard an unfinished index. NULL is allowed. */
void ek_build_free(struct ek_build *b);
/* Add a copy of a document; `name` is its file, for errors. Return 0, EK_EFORMAT for a duplicate
 * id, EK_ELIMIT if the given memory does not suffice or a limit of the format is exceeded,
 * EK_ENOMEM or EK_EIO. After an error only ek_build_free is allowed. */
int ek_build_add(struct ek_build *b, const struct ek_record_text *r, const char *name,
                 struct ek_error *e);
/* Merge the postings and give the file its name. `progress` is called periodically; it may be NULL.
 * Return 0, EK_EIO or EK_ENOMEM; the builder can then only be freed. */
int ek_build_finish(struct ek_build *b,
                    void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                    struct ek_error *e);
/* Return the number of spills to the temporary file so far. */
uint32_t ek_build_spills(const struct ek_build *b);
/* Return the bytes of the finished index, 0 before. */
uint64_t ek_build_bytes(const struct ek_build *b);

#endif
