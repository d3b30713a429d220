/* Named limits of a guard's state: restored up to each limit; rejected above, with the guard
 * unchanged. */
#include "base/alloc.h"
#include "guard/guard_internal.h"
#include "guard/state.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/stream_assets.h"

static const char OBSERVE[] = "version: 1\nsegments: [arm]\n";

/* Keep only the header. */
static int keep_head(void *to, const char *key, const void *bytes, size_t length)
{
    struct ek_buf *head = to;
    if (!strcmp(key, EK_STATE_HEAD)) {
        ek_buf_clear(head);
        must(ek_buf_add(head, bytes, length));
    }
    return 0;
}

/* Save the header of a guard without traffic, with a note of that many bytes. */
static int save(struct ek_guard *g, int length, struct ek_buf *head, struct ek_error *e)
{
    char *note = ek_calloc((size_t)length, 1);
    int rc = ek_guard_save(g, 0, note, (size_t)length, keep_head, head, e);
    ek_free(note);
    return rc;
}

START_TEST(a_state_takes_a_note_of_64_kib_and_is_not_lost_by_a_longer_one)
{
    struct ek_assets assets;
    struct ek_guard *g = NULL;
    struct ek_buf head;
    struct ek_error e = {0};
    ek_buf_init(&head, 0);
    stream_assets_open(&assets, OBSERVE, NULL);
    must(ek_guard_new(&g, &assets, NULL));
    for (int length = EK_NOTE_MAX - 1; length <= EK_NOTE_MAX; length++) {
        struct ek_state_head h = {0};
        ck_assert_int_eq(save(g, length, &head, NULL), EK_OK);
        ck_assert_int_eq(ek_state_head_read(&h, head.data, head.length, NULL), EK_OK);
        ck_assert_int_eq((int)h.note.length, length);
        ek_state_head_release(&h);
    }
    ck_assert_int_eq(save(g, EK_NOTE_MAX + 1, &head, &e), EK_ELIMIT);
    ck_assert_str_eq(e.message, "a note of 65537 bytes, at most 65536");
    ck_assert_int_eq(save(g, 1, &head, NULL), EK_OK);
    ek_buf_release(&head);
    ek_guard_free(g);
    ek_assets_release(&assets);
}
END_TEST

static struct ek_buf sound; /* a valid header */

/* Read that header with another note and another record count. */
static int read_head(int note, int records, char said[SAID_BYTES])
{
    struct ek_state_head h = {0}, back = {0};
    struct ek_buf bytes;
    struct ek_error e = {0};
    ek_buf_init(&bytes, 0);
    must(ek_state_head_read(&h, sound.data, sound.length, NULL));
    ek_buf_release(&h.note);
    ek_buf_init(&h.note, 0);
    must(ek_buf_reserve(&h.note, (size_t)note));
    memset(h.note.data, 0, h.note.length = (size_t)note);
    ek_free(h.index.hash);
    must(ek_checkpoint_part_reserve(&h.index, records));
    must(ek_state_head_write(&h, &bytes));
    int rc = ek_state_head_read(&back, bytes.data, bytes.length, &e);
    ck_assert(rc || ((int)back.note.length == note && back.index.records == records));
    ek_error_text(&e, said, SAID_BYTES);
    ek_state_head_release(&back);
    ek_state_head_release(&h);
    ek_buf_release(&bytes);
    return rc;
}

static int read_note(int length, char said[SAID_BYTES])
{
    return read_head(length, 1, said);
}

static int read_records(int count, char said[SAID_BYTES])
{
    return read_head(1, count, said);
}

/* Read the index of a state with one part of that many records. */
static int read_parts(int records, char said[SAID_BYTES])
{
    struct ek_checkpoint_index l = {0}, back = {0};
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    struct ek_serialize write = {.out = &bytes};
    ck_assert_ptr_nonnull(ek_checkpoint_index_add(&l, "part", records));
    ek_checkpoint_index_serialize(&l, &write);
    struct ek_serialize read = {.at = bytes.data, .end = bytes.data + bytes.length};
    ek_checkpoint_index_serialize(&back, &read);
    snprintf(said, SAID_BYTES, "%d", read.rc);
    ek_checkpoint_index_clear(&back);
    ek_checkpoint_index_clear(&l);
    ek_buf_release(&bytes);
    return read.rc;
}

START_TEST(a_state_that_says_more_than_it_may_is_damaged)
{
    struct ek_assets assets;
    struct ek_guard *g = NULL;
    ek_buf_init(&sound, 0);
    stream_assets_open(&assets, OBSERVE, NULL);
    must(ek_guard_new(&g, &assets, NULL));
    must(save(g, 1, &sound, NULL));
    ck_limit(read_note, EK_NOTE_MAX, "", "damaged");
    ck_limit(read_records, EK_PART_RECORDS_MAX, "", "damaged");
    ck_limit(read_parts, EK_PART_RECORDS_MAX, "", "");
    ek_buf_release(&sound);
    ek_guard_free(g);
    ek_assets_release(&assets);
}
END_TEST

Suite *suite_limits_state(void)
{
    return ek_suite("limits of a state",
                    a_state_takes_a_note_of_64_kib_and_is_not_lost_by_a_longer_one,
                    a_state_that_says_more_than_it_may_is_damaged);
}
