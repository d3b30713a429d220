/* Capture files: messages of a topic, each preceded by the msgpack array [partition, offset,
 * timestamp_ms, key, size] (docs/dev/formats/capture.md).
 *
 * The reader also accepts concatenated msgpack messages, and JSON messages one per line (partition
 * 0, offset counted, timestamp -1). The first byte selects the format; JSON must begin with its
 * brace. Plain, gzip or zstd, or "-". Errors include file and record number (from 1); after an
 * error the reader can only be closed.
 */
#ifndef EK_LISTS_CAPTURE_H
#define EK_LISTS_CAPTURE_H

#include "base/buf.h"
#include "base/error.h"

struct ek_capture_reader;
struct ek_capture_writer;

struct ek_record {
    int partition;
    int64_t offset, timestamp_ms; /* -1 if unknown */
    const void *key;              /* NULL if none */
    size_t key_length;
    const void *bytes; /* valid until the next call */
    size_t length;
};

/* Open a file. message_bytes_max 0: EK_MESSAGE_BYTES_MAX. Larger messages and keys fail with
 * EK_ELIMIT. Return 0, EK_EIO, EK_EFORMAT or EK_ENOMEM. */
int ek_capture_open(struct ek_capture_reader **out, const char *path, uint32_t message_bytes_max,
                    struct ek_error *e);
/* Open a reader of memory, which must outlive it. `name` is the file name in errors. Return 0 or
 * EK_ENOMEM. */
int ek_capture_memory(struct ek_capture_reader **out, const char *name, const void *bytes,
                      size_t length, uint32_t message_bytes_max, struct ek_error *e);
/* Read the next record; *more = 0 at the end. Its bytes are valid until the next call. Return 0,
 * EK_EIO, EK_ENOMEM, EK_ELIMIT for a message or key that is too long, or EK_EFORMAT for invalid
 * bytes or a truncated last record. */
int ek_capture_next(struct ek_capture_reader *r, struct ek_record *record, int *more,
                    struct ek_error *e);
/* Set *done to the bytes read and *total to the file size (0 if unknown), for progress. */
void ek_capture_position(const struct ek_capture_reader *r, uint64_t *done, uint64_t *total);
/* Close the file and free the reader. NULL is allowed. */
void ek_capture_close(struct ek_capture_reader *r);

/* Create a file. bare != 0 writes only messages, JSON ones each with a newline. Return 0, EK_EIO or
 * EK_ENOMEM. */
int ek_capture_create(struct ek_capture_writer **out, const char *path, int bare,
                      struct ek_error *e);
/* Append a record, which is not kept. Return 0, EK_EIO, EK_ENOMEM, or EK_ELIMIT for a message that
 * is too long. */
int ek_capture_write(struct ek_capture_writer *w, const struct ek_record *record,
                     struct ek_error *e);
/* Finish the file, which replaces its target only on success. Always frees `w`. Return 0, EK_EIO or
 * EK_ENOMEM. */
int ek_capture_finish(struct ek_capture_writer *w, struct ek_error *e);
/* Discard the written data and free `w`; the target stays unchanged. NULL is allowed. */
void ek_capture_abort(struct ek_capture_writer *w);

#endif
