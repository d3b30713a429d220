/* Captures read back equal, also a bare stream of messages; damage is identified. */
#include "base/alloc.h"
#include "base/file.h"
#include "lists/capture.h"
#include "tests/check.h"
#include "tests/pack.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ek_capture_reader *reader_of(const struct ek_buf *b, uint32_t limit)
{
    struct ek_capture_reader *r = NULL;
    ck_assert_int_eq(ek_capture_memory(&r, "c.ekc", b->data, b->length, limit, NULL), EK_OK);
    return r;
}

static void fails_at_once(const char *text, uint32_t limit, int code, const char *message)
{
    struct ek_buf b;
    struct ek_error e;
    struct ek_record record;
    char full[700];
    int more = 1;
    ek_buf_init(&b, 0);
    ek_pack(&b, text);
    struct ek_capture_reader *r = reader_of(&b, limit);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, &e), code);
    ck_assert_str_eq(ek_error_text(&e, full, sizeof full), message);
    ek_capture_close(r);
    ek_buf_release(&b);
}

static void round_trip(const char *path, int bare)
{
    struct ek_capture_writer *w;
    struct ek_capture_reader *r;
    struct ek_record record;
    static const uint8_t message[] = {0x81, 0xa1, 'a', 0x05};
    int more, count = 20000;
    ck_assert_int_eq(ek_capture_create(&w, path, bare, NULL), EK_OK);
    for (int i = 0; i < count; i++) {
        record = (struct ek_record){
            i % 3,   INT64_C(1) << 40 | i, i - 1, i % 2 ? "key" : NULL, i % 2 ? 3 : 0,
            message, sizeof message};
        ck_assert_int_eq(ek_capture_write(w, &record, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_capture_finish(w, NULL), EK_OK);
    ck_assert_int_eq(ek_capture_open(&r, path, 0, NULL), EK_OK);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
        ck_assert_int_eq(more, 1);
        ck_assert_uint_eq(record.length, sizeof message);
        ck_assert_mem_eq(record.bytes, message, sizeof message);
        ck_assert_int_eq(record.partition, bare ? 0 : i % 3);
        ck_assert_int_eq(record.offset, bare ? i : (INT64_C(1) << 40 | i));
        ck_assert_int_eq(record.timestamp_ms, bare ? -1 : i - 1);
        ck_assert(bare || (record.key != NULL) == (i % 2));
        if (record.key)
            ck_assert(record.key_length == 3 && !memcmp(record.key, "key", 3));
    }
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert_int_eq(more, 0);
    ek_capture_close(r);
    ck_assert_int_eq(unlink(path), 0);
}

START_TEST(records_come_back_from_every_packing)
{
    static const char *const endings[] = {"", ".gz", ".zst"};
    for (int i = 0; i < 6; i++) {
        char path[80];
        snprintf(path, sizeof path, "/tmp/ek-capture-%d%s", (int)getpid(), endings[i % 3]);
        round_trip(path, i / 3);
    }
}
END_TEST

START_TEST(json_messages_come_one_a_line)
{
    static const char text[] = "{\"a\":1}\r\n\n  \t\n{\"b\":[2]}\n {} ";
    static const char *const lines[] = {"{\"a\":1}\r", "{\"b\":[2]}", " {} "};
    struct ek_capture_reader *r;
    struct ek_record record;
    struct ek_error e;
    int more;
    ck_assert_int_eq(ek_capture_memory(&r, "t", text, strlen(text), 0, NULL), EK_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
        ck_assert_int_eq(more, 1);
        ck_assert(record.offset == i && record.timestamp_ms == -1);
        ck_assert_uint_eq(record.length, strlen(lines[i]));
        ck_assert_mem_eq(record.bytes, lines[i], record.length);
    }
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert_int_eq(more, 0);
    ek_capture_close(r);
    ck_assert_int_eq(ek_capture_memory(&r, "t", text, strlen(text), 8, NULL), EK_OK);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, &e), EK_OK);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, &e), EK_ELIMIT);
    ck_assert_ptr_nonnull(strstr(e.message, "record 2: larger than the limit of 8 bytes"));
    ek_capture_close(r);
}
END_TEST

START_TEST(an_empty_capture_has_no_records)
{
    struct ek_buf b;
    struct ek_record record;
    int more = 1;
    ek_buf_init(&b, 0);
    struct ek_capture_reader *r = NULL;
    ck_assert_int_eq(ek_capture_memory(&r, "c", "", 0, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert_int_eq(more, 0);
    ek_capture_close(r);
    ek_buf_release(&b);
}
END_TEST

START_TEST(heads_may_use_any_integer_form_and_empty_messages)
{
    struct ek_buf b;
    struct ek_record record;
    int more;
    ek_buf_init(&b, 0);
    ek_pack(&b, "[0, #d1ffff, #cd0005, abc, #d000] #dc0005 3 4 -1 #c400 1 nil");
    struct ek_capture_reader *r = reader_of(&b, 0);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert(record.offset == -1 && record.timestamp_ms == 5 && record.length == 0);
    ck_assert(record.key_length == 3 && !memcmp(record.key, "abc", 3));
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert(record.partition == 3 && record.timestamp_ms == -1 && record.length == 1);
    ck_assert(record.key != NULL && record.key_length == 0);
    ck_assert_mem_eq(record.bytes, "\xc0", 1);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert_int_eq(more, 0);
    ek_capture_close(r);
    ek_buf_release(&b);
}
END_TEST

START_TEST(what_is_broken_is_named_by_file_and_record)
{
    static const char HEAD[] =
        "c.ekc: record 1: expected the head [partition, offset, timestamp_ms, key, size]";
    fails_at_once("5", 0, EK_EFORMAT,
                  "c.ekc: record 1: neither the head of a record nor a message");
    fails_at_once("[1, 2, 3, nil]", 0, EK_EFORMAT, HEAD);
    fails_at_once("[x, 2, 3, nil, 1] 5", 0, EK_EFORMAT, HEAD);
    fails_at_once("[-1, 2, 3, nil, 1] 5", 0, EK_EFORMAT, HEAD);
    fails_at_once("[1, -2, 3, nil, 1] 5", 0, EK_EFORMAT, HEAD);
    fails_at_once("[1, #cfffffffffffffffff, 3, nil, 1] 5", 0, EK_EFORMAT, HEAD);
    fails_at_once("[1, 2, 3, 4, 1] 5", 0, EK_EFORMAT, HEAD);
    fails_at_once("[1, 2, 3, nil, -1] 5", 0, EK_EFORMAT, HEAD);
    fails_at_once("[1, 2, 3, nil, 2] 5", 0, EK_EFORMAT, "c.ekc: record 1: the file ends within it");
    fails_at_once("#95 1 2 3 #c405", 0, EK_EFORMAT, "c.ekc: record 1: the file ends within it");
    fails_at_once("[1, 2, #c1, 4, 5]", 0, EK_EFORMAT, "c.ekc: record 1: not msgpack (byte 0xc1)");
    fails_at_once("[1, 2, 3, nil, 1000]", 999, EK_ELIMIT,
                  "c.ekc: record 1: larger than the limit of 999 bytes");
    fails_at_once("{a: #c40a00000000000000000000}", 9, EK_ELIMIT,
                  "c.ekc: record 1: larger than the limit of 9 bytes");
    fails_at_once("{a: #c601000000}", 9, EK_EFORMAT, "c.ekc: record 1: the file ends within it");
}
END_TEST

START_TEST(a_capture_cut_anywhere_gives_whole_records_and_then_an_error)
{
    struct ek_buf b;
    struct ek_record record;
    struct ek_error e;
    ek_buf_init(&b, 0);
    size_t first, seen_two = 0;
    ek_pack(&b, "[0, 1, 2, k, 8] {a: 300.0}");
    first = b.length;
    ek_pack(&b, "[0, 1, 2, k, 8] {a: 300.0} [0, 2, 3, nil, 3] #810102");
    for (size_t length = 0; length <= b.length; length++) {
        uint8_t *exact = ek_calloc(length, 1);
        struct ek_capture_reader *r;
        int more = 1, count = 0, rc;
        memcpy(exact, b.data, length);
        ck_assert_int_eq(ek_capture_memory(&r, "c", exact, length, 0, NULL), EK_OK);
        while (!(rc = ek_capture_next(r, &record, &more, &e)) && more)
            count++;
        bool clean = length == 0 || length == first || length == b.length;
        ck_assert_int_eq(rc, clean ? EK_OK : EK_EFORMAT);
        ck_assert_int_eq(count, length == b.length ? 2 : length >= first);
        seen_two += count == 2;
        ek_capture_close(r);
        ek_free(exact);
    }
    ck_assert_uint_eq(seen_two, 1);
    ek_buf_release(&b);
}
END_TEST

START_TEST(a_message_of_megabytes_is_read_whole)
{
    struct ek_buf b;
    struct ek_record record;
    int more;
    uint32_t size = 3 << 20;
    ek_buf_init(&b, 0);
    ek_pack(&b, "[0, 1, 2, nil, #ce00300000]");
    size_t head = b.length;
    ck_assert_int_eq(ek_buf_reserve(&b, size), EK_OK);
    for (uint32_t i = 0; i < size; i++)
        b.data[head + i] = (uint8_t)(i * 2654435761u >> 24);
    b.length += size;
    struct ek_capture_reader *r = reader_of(&b, 0);
    ck_assert_int_eq(ek_capture_next(r, &record, &more, NULL), EK_OK);
    ck_assert_uint_eq(record.length, size);
    ck_assert_mem_eq(record.bytes, b.data + head, size);
    ek_capture_close(r);
    ek_buf_release(&b);
}
END_TEST

START_TEST(the_golden_capture_is_written_byte_for_byte)
{
    static const char MESSAGE[] =
        "{query: 'q-1', time_ms: #cf000001a0c4506c00, segments: {arm: B}, query_features: [3.0],"
        " items: [{id: h1, score: 1.25, features: [129.0, nil]},"
        " {id: 2, score: -0.5d, features: (1.5, nan)}, {score: nil, features: {rating: 4}}]}";
    struct ek_buf message, golden, written;
    struct ek_capture_writer *w;
    char path[80];
    snprintf(path, sizeof path, "/tmp/ek-capture-%d", (int)getpid());
    ek_buf_init(&message, 0);
    ek_buf_init(&golden, 0);
    ek_buf_init(&written, 0);
    ek_pack(&message, MESSAGE);
    const struct ek_record records[] = {
        {3, INT64_C(1) << 40, 1790000000000, "k-1", 3, message.data, message.length},
        {0, -1, -1, NULL, 0, "", 0},
        {INT32_MAX, INT64_MAX, 0, "", 0, "\xc0", 1},
    };
    ck_assert_int_eq(ek_capture_create(&w, path, 0, NULL), EK_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ek_capture_write(w, &records[i], NULL), EK_OK);
    ck_assert_int_eq(ek_capture_finish(w, NULL), EK_OK);
    ck_assert_int_eq(ek_file_read(path, &written, NULL), EK_OK);
    ck_assert_int_eq(ek_file_read("tests/format/golden/capture-1.ekc", &golden, NULL), EK_OK);
    ck_assert_uint_eq(written.length, golden.length);
    ck_assert_mem_eq(written.data, golden.data, golden.length);
    ck_assert_int_eq(unlink(path), 0);
    ek_buf_release(&message);
    ek_buf_release(&golden);
    ek_buf_release(&written);
}
END_TEST

START_TEST(an_abandoned_capture_leaves_no_file)
{
    char path[80];
    struct ek_capture_writer *w;
    snprintf(path, sizeof path, "/tmp/ek-capture-%d", (int)getpid());
    ck_assert_int_eq(ek_capture_create(&w, path, 0, NULL), EK_OK);
    ek_capture_abort(w);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(only_its_owner_reads_a_new_capture)
{
    char path[80];
    struct ek_capture_writer *w;
    struct stat s;
    snprintf(path, sizeof path, "/tmp/ek-capture-%d", (int)getpid());
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ek_capture_create(&w, path, 0, NULL), EK_OK);
        ck_assert_int_eq(ek_capture_finish(w, NULL), EK_OK);
        ck_assert_int_eq(stat(path, &s), 0);
        ck_assert_uint_eq(s.st_mode & 0777, i ? 0640 : 0600);
        ck_assert_int_eq(chmod(path, 0640), 0);
    }
    unlink(path);
}
END_TEST

Suite *suite_capture(void)
{
    return ek_suite(
        "capture", records_come_back_from_every_packing, json_messages_come_one_a_line,
        an_empty_capture_has_no_records, heads_may_use_any_integer_form_and_empty_messages,
        what_is_broken_is_named_by_file_and_record,
        a_capture_cut_anywhere_gives_whole_records_and_then_an_error,
        a_message_of_megabytes_is_read_whole, the_golden_capture_is_written_byte_for_byte,
        an_abandoned_capture_leaves_no_file, only_its_owner_reads_a_new_capture);
}
