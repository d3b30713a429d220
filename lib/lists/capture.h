/* Capture files: messages of a topic, one after the other, each preceded by the msgpack array
 * [partition, offset, timestamp_ms, key, size] (docs/format/capture.md).
 *
 * Reading also takes a bare concatenation of msgpack messages, and JSON messages one a line
 * (partition 0, offset counted, timestamp -1); the first byte tells which it is, and JSON has to
 * begin with its brace. Plain, gzip or zstd, or "-". Errors carry file and record number (from 1);
 * after one the reader can only be closed. Owner: the caller.
 */
#ifndef EK_LISTS_CAPTURE_H
#define EK_LISTS_CAPTURE_H

#include "base/buf.h"
#include "base/error.h"

struct ek_capture_reader;
struct ek_capture_writer;

struct ek_record {
    int partition;
    int64_t offset, timestamp_ms; /* -1 when unknown */
    const void *key;              /* NULL when there is none */
    size_t key_length;
    const void *bytes; /* valid until the next call */
    size_t length;
};

/* message_bytes_max 0: EK_MESSAGE_BYTES_DEFAULT. Larger messages and keys are EK_ELIMIT. */
int ek_capture_open(struct ek_capture_reader **out, const char *path, uint32_t message_bytes_max,
                    struct ek_error *e);
/* Reads from memory instead, which must outlive the reader; `name` stands in errors. */
int ek_capture_memory(struct ek_capture_reader **out, const char *name, const void *bytes,
                      size_t length, uint32_t message_bytes_max, struct ek_error *e);
/* *more = 0 at the end. A cut last record is EK_EFORMAT. */
int ek_capture_next(struct ek_capture_reader *r, struct ek_record *record, int *more,
                    struct ek_error *e);
void ek_capture_position(const struct ek_capture_reader *r, uint64_t *done, uint64_t *total);
void ek_capture_close(struct ek_capture_reader *r);

/* bare != 0 writes the messages alone, those of JSON with a line break behind each. */
int ek_capture_create(struct ek_capture_writer **out, const char *path, int bare,
                      struct ek_error *e);
int ek_capture_write(struct ek_capture_writer *w, const struct ek_record *record,
                     struct ek_error *e);
/* The file stands under its name only after this succeeded. Always frees `w`. */
int ek_capture_finish(struct ek_capture_writer *w, struct ek_error *e);
/* Throws away what was written. */
void ek_capture_abort(struct ek_capture_writer *w);

#endif
