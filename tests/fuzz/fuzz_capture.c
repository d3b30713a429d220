/* Captures: every record is inside the input, and a capture written from the records reads back
 * equal. */
#include "lists/capture.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { MESSAGE_BYTES_MAX = 1 << 16 };

static void touch(const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    volatile unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += p[i];
}

static void same(const struct ek_record *a, const struct ek_record *b)
{
    ek_fuzz_require(a->partition == b->partition && a->offset == b->offset &&
                        a->timestamp_ms == b->timestamp_ms && a->length == b->length &&
                        a->key_length == b->key_length && !a->key == !b->key,
                    "a record came back with another head");
    ek_fuzz_require(!memcmp(a->bytes, b->bytes, a->length) &&
                        (!a->key || !memcmp(a->key, b->key, a->key_length)),
                    "a record came back with other bytes");
}

/* Read all records, and write them to `w` or compare them with those of `other`. */
static size_t read_all(struct ek_capture_reader *r, struct ek_capture_writer *w,
                       struct ek_capture_reader *other)
{
    struct ek_record record, again;
    struct ek_error e = {0};
    size_t count = 0;
    int more = 0, rc;
    while (!(rc = ek_capture_next(r, &record, &more, &e)) && more) {
        touch(record.bytes, record.length);
        touch(record.key, record.key_length);
        if (w)
            ek_fuzz_require(!ek_capture_write(w, &record, NULL), "a record cannot be written");
        if (other) {
            ek_fuzz_require(!ek_capture_next(other, &again, &more, NULL) && more,
                            "a record is gone");
            same(&record, &again);
        }
        count++;
    }
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    return count;
}

static struct ek_capture_reader *reader_of(const void *bytes, size_t length)
{
    struct ek_capture_reader *r = NULL;
    if (ek_capture_memory(&r, "input", bytes, length, MESSAGE_BYTES_MAX, NULL))
        return NULL; /* compressed and damaged */
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct ek_capture_writer *w;
    struct ek_capture_reader *r = reader_of(data, size), *written = NULL;
    if (!r)
        return 0;
    snprintf(path, sizeof path, "/dev/shm/ek-fuzz-%d", (int)getpid());
    ek_fuzz_require(!ek_capture_create(&w, path, 0, NULL), "no capture to write to");
    size_t count = read_all(r, w, NULL);
    ek_capture_close(r);
    ek_fuzz_require(!ek_capture_finish(w, NULL), "the capture cannot be finished");
    ek_fuzz_require(!ek_capture_open(&written, path, MESSAGE_BYTES_MAX, NULL),
                    "the written capture cannot be opened");
    r = reader_of(data, size);
    ek_fuzz_require(r && read_all(r, NULL, written) == count, "the input reads otherwise again");
    ek_capture_close(r);
    ek_capture_close(written);
    unlink(path);
    return 0;
}
