/* A file without a name, to put away what memory has no room for: written from front to end, read
 * anywhere.
 *
 * It lies beside a file that is being made, so that it needs no room on another disk, and is gone
 * with the process whatever ends it. Owner: the caller. Threads: one each.
 */
#ifndef EK_TEXT_INDEX_SPILL_FILE_H
#define EK_TEXT_INDEX_SPILL_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ek_spill_file;

/* path: the file beside which it lies; errors name it. EK_EIO, EK_ENOMEM. */
int ek_spill_file_open(struct ek_spill_file **out, const char *path, struct ek_error *e);
void ek_spill_file_close(struct ek_spill_file *s);
int ek_spill_file_add(struct ek_spill_file *s, const void *bytes, size_t length,
                      struct ek_error *e);
uint64_t ek_spill_file_length(const struct ek_spill_file *s);
/* Exactly `length` bytes that were added at `at`; what was added last may be sent out first. */
int ek_spill_file_read(struct ek_spill_file *s, uint64_t at, void *bytes, size_t length,
                       struct ek_error *e);

#endif
