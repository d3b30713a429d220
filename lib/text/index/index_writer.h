/* An index file while it is written: sections, one behind the other, and the footer. Internal to
 * lib/text/index/build.
 */
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
    uint8_t *hold; /* [EK_INDEX_HASHED] not hashed yet */
};

/* EK_EUSAGE where the path asks for compression or is standard output. */
int ek_index_writer_open(struct ek_index_writer *o, const char *path, struct ek_error *e);
/* Throws away what was not closed. */
void ek_index_writer_release(struct ek_index_writer *o);
int ek_index_writer_begin(struct ek_index_writer *o, enum ek_section section, struct ek_error *e);
int ek_index_writer_add(struct ek_index_writer *o, const void *bytes, size_t length,
                        struct ek_error *e);
/* Bytes of the section so far. */
uint64_t ek_index_writer_length(const struct ek_index_writer *o);
void ek_index_writer_end(struct ek_index_writer *o);
/* Footer and name. */
int ek_index_writer_close(struct ek_index_writer *o, struct ek_error *e);

#endif
