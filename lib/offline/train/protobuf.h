/* Fields of messages in the encoding of Protocol Buffers, for writing: a field is a key (number and
 * kind as one varint) and a varint, or a length and that many bytes. An embedded message is the
 * bytes of its own fields. Nothing else is needed by what we write.
 *
 * Returns EK_OK, EK_ENOMEM, or EK_ELIMIT beyond the limit of the buffer. Field numbers are
 * positive.
 */
#ifndef EK_DATA_PROTOBUF_H
#define EK_DATA_PROTOBUF_H

#include "base/buf.h"

/* A file of Protocol Buffers ends here. */
enum { EK_PROTOBUF_BYTES_MAX = 0x7fffffff };

int ek_protobuf_int(struct ek_buf *b, unsigned field, uint64_t value);
int ek_protobuf_bytes(struct ek_buf *b, unsigned field, const void *bytes, size_t length);
int ek_protobuf_text(struct ek_buf *b, unsigned field, const char *text);

#endif
