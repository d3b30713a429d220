/* Writer for the sections and the footer of an index file. Internal to lib/text/index/build*. */
#ifndef EK_TEXT_INDEX_INDEX_WRITER_H
#define EK_TEXT_INDEX_INDEX_WRITER_H

#include "base/error.h"
#include "text/index/index_file.h"

#include <stddef.h>

struct ek_writer;

struct ek_index_writer {
    struct ek_writer *writer;
    uint64_t at; /* bytes written */
    enum ek_section section;
    struct ek_index_footer footer;
    size_t held;
    uint8_t *hold; /* [EK_INDEX_HASHED] bytes not hashed yet */
};

/* Open an index for writing. Return 0, EK_EUSAGE for standard output or a suffix of a compressed
 * file, EK_EIO or EK_ENOMEM; on error, too, call ek_index_writer_release. */
int ek_index_writer_open(struct ek_index_writer *o, const char *path, struct ek_error *e);
/* Free the writer and discard an index that was not closed. */
void ek_index_writer_release(struct ek_index_writer *o);
/* Begin a section at the next aligned position. Return 0, EK_EIO or EK_ENOMEM. */
int ek_index_writer_begin(struct ek_index_writer *o, enum ek_section section, struct ek_error *e);
/* Append bytes to the current section. Return 0, EK_EIO or EK_ENOMEM. */
int ek_index_writer_add(struct ek_index_writer *o, const void *bytes, size_t length,
                        struct ek_error *e);
/* Return the bytes of the current section. */
uint64_t ek_index_writer_length(const struct ek_index_writer *o);
/* End the current section: complete its hash. */
void ek_index_writer_end(struct ek_index_writer *o);
/* Write the footer and rename the file. Return 0, EK_EIO or EK_ENOMEM. */
int ek_index_writer_close(struct ek_index_writer *o, struct ek_error *e);

#endif
