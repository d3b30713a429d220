/* Unnamed temporary file for data that exceeds the memory limit: append-only, random reads.
 *
 * It is in the folder of the output file, so it uses the same disk, and disappears when the process
 * ends. Not thread-safe.
 */
#ifndef EK_TEXT_INDEX_SPILL_FILE_H
#define EK_TEXT_INDEX_SPILL_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ek_spill_file;

/* Create a spill file in the folder of `path`, which errors name. Return 0, EK_EIO or EK_ENOMEM. */
int ek_spill_file_open(struct ek_spill_file **out, const char *path, struct ek_error *e);
/* Close the file, which disappears, and free `s`. NULL is allowed. */
void ek_spill_file_close(struct ek_spill_file *s);
/* Append bytes; they may stay in a buffer until the next read. Return 0 or EK_EIO. */
int ek_spill_file_add(struct ek_spill_file *s, const void *bytes, size_t length,
                      struct ek_error *e);
/* Return the bytes appended so far. */
uint64_t ek_spill_file_length(const struct ek_spill_file *s);
/* Read exactly `length` bytes at offset `at`. May flush the write buffer first. Return 0, or
 * EK_EIO. */
int ek_spill_file_read(struct ek_spill_file *s, uint64_t at, void *bytes, size_t length,
                       struct ek_error *e);

#endif
