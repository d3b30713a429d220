/* Texts become an index (lib/text/index/index.h). What belongs to a term is gathered in memory and
 * goes to an unnamed file beside the index whenever the memory is used up; in the end all of it is
 * merged.
 *
 * The index appears under its name when it is complete. Documents are numbered in the order in
 * which they come. Owner: the caller. Threads: one each.
 * Limits: memory as given to ek_build_new; within it the words and ids of the whole collection must
 * fit. Documents: 2^32 - 2.
 */
#ifndef EK_TEXT_INDEX_BUILD_H
#define EK_TEXT_INDEX_BUILD_H

#include "text/index/collection.h"

#define EK_BUILD_MEMORY     (512LL << 20)
#define EK_BUILD_MEMORY_MIN (1LL << 20)
#define EK_BUILD_MEMORY_MAX (64LL << 30)

struct ek_build;

/* path: of the index. It is written plain: EK_EUSAGE for standard output and for an ending that
 * asks for compression. stemmer: as ek_words_new. */
int ek_build_new(struct ek_build **out, const char *path, const char *stemmer,
                 uint64_t memory_bytes, struct ek_error *e);
/* Throws away what was not finished. NULL is allowed. */
void ek_build_free(struct ek_build *b);
/* A document. EK_EFORMAT when there is one of that id, EK_ELIMIT. Afterwards nothing but
 * ek_build_free makes sense. `name`: of its file, for the error. */
int ek_build_add(struct ek_build *b, const struct ek_record_text *r, const char *name,
                 struct ek_error *e);
/* Merges and gives the file its name. progress may be NULL; it is called now and then. */
int ek_build_finish(struct ek_build *b,
                    void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                    struct ek_error *e);
/* How often memory was used up, and the bytes of the index: after ek_build_finish. */
uint32_t ek_build_spills(const struct ek_build *b);
uint64_t ek_build_bytes(const struct ek_build *b);

#endif
