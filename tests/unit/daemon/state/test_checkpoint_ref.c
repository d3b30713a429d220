/* Checkpoint references in committed offsets, and the note in a checkpoint header. */
#include "base/error.h"
#include "daemon/state/checkpoint_ref.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const char TEXT[] =
    "ek1;home=scored-1/2;base=12;head=00000000000000ff;since=1700000000000;seen=480";

static const struct ek_checkpoint_ref POINTER = {.topic = "scored-1",
                                                 .partition = 2,
                                                 .at = 2,
                                                 .base = 12,
                                                 .head = 255,
                                                 .since_ms = 1700000000000,
                                                 .seen = 480};

START_TEST(a_pointer_is_a_text_that_people_can_read)
{
    char text[EK_CHECKPOINT_REF_BYTES];
    ek_checkpoint_ref_write(&POINTER, text);
    ck_assert_str_eq(text, TEXT);
}
END_TEST

START_TEST(a_pointer_that_was_written_is_read_again)
{
    char text[EK_CHECKPOINT_REF_BYTES];
    struct ek_checkpoint_ref p = POINTER, back;
    memset(p.topic, 'x', EK_TOPIC_BYTES - 1);
    p.head = UINT64_MAX;
    p.seen = INT64_MAX;
    ek_checkpoint_ref_write(&p, text);
    ck_assert_int_eq(ek_checkpoint_ref_read(text, strlen(text), &back), EK_CHECKPOINT_REF_READ);
    ck_assert_str_eq(back.topic, p.topic);
    ck_assert_int_eq(back.partition, p.partition);
    ck_assert_uint_eq(back.base, p.base);
    ck_assert_uint_eq(back.head, p.head);
    ck_assert_int_eq(back.since_ms, p.since_ms);
    ck_assert_int_eq(back.seen, p.seen);
}
END_TEST

START_TEST(metadata_of_others_is_no_pointer)
{
    static const char *const others[] = {
        "",
        "ek",
        "ekans;home=a/0",
        "{\"checkpoint\": 3}",
        "ek1;",
        "ek1;home=scored;base=1;head=00000000000000ff;since=1;seen=1",
        "ek1;home=/1;base=1;head=00000000000000ff;since=1;seen=1",
        "ek1;home=a/-1;base=1;head=00000000000000ff;since=1;seen=1",
        "ek1;home=a/1;base=x;head=00000000000000ff;since=1;seen=1",
        "ek1;home=a/1;base=1;head=ff;since=1;seen=1",
        "ek1;home=a/1;base=1;head=00000000000000fg;since=1;seen=1",
        "ek1;home=a/1;base=1;head=00000000000000ff;since=1;seen=1;more=2",
        "ek1;home=a/1;base=1;head=00000000000000ff;since=1;seen=-1",
    };
    struct ek_checkpoint_ref p = POINTER;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_int_eq(ek_checkpoint_ref_read(others[i], strlen(others[i]), &p),
                         EK_CHECKPOINT_REF_NONE);
    ck_assert_int_eq(ek_checkpoint_ref_read(NULL, 0, &p), EK_CHECKPOINT_REF_NONE);
    ck_assert_mem_eq(&p, &POINTER, sizeof p);
}
END_TEST

START_TEST(a_pointer_that_is_cut_short_is_none)
{
    struct ek_checkpoint_ref p;
    for (size_t n = 0; n + 1 < sizeof TEXT - strlen("480"); n++)
        ck_assert_int_eq(ek_checkpoint_ref_read(TEXT, n, &p), EK_CHECKPOINT_REF_NONE);
}
END_TEST

START_TEST(a_pointer_to_a_topic_with_a_zero_in_its_name_is_none)
{
    char text[sizeof TEXT];
    struct ek_checkpoint_ref p;
    memcpy(text, TEXT, sizeof text);
    *(strstr(text, "home=") + strlen("home=")) = 0;
    ck_assert_int_eq(ek_checkpoint_ref_read(text, sizeof text - 1, &p), EK_CHECKPOINT_REF_NONE);
}
END_TEST

START_TEST(a_pointer_of_a_later_version_is_known_as_one)
{
    static const char later[] = "ek2;anything", much_later[] = "ek17;";
    struct ek_checkpoint_ref p;
    ck_assert_int_eq(ek_checkpoint_ref_read(later, sizeof later - 1, &p), EK_CHECKPOINT_REF_NEWER);
    ck_assert_int_eq(ek_checkpoint_ref_read(much_later, sizeof much_later - 1, &p),
                     EK_CHECKPOINT_REF_NEWER);
}
END_TEST

START_TEST(a_partition_has_a_state_when_its_own_pointer_says_so)
{
    ck_assert(ek_checkpoint_ref_partition(&POINTER, "scored-1", 2));
    ck_assert(!ek_checkpoint_ref_partition(&POINTER, "scored-1", 1));
    ck_assert(!ek_checkpoint_ref_partition(&POINTER, "scored", 2));
}
END_TEST

START_TEST(a_note_tells_how_far_each_partition_had_come)
{
    struct ek_buf note;
    ek_buf_init(&note, 0);
    ck_assert_int_eq(ek_checkpoint_note_add(&note, "scored", 1, 480), 0);
    ck_assert_int_eq(ek_checkpoint_note_add(&note, "scored", 11, 7), 0);
    ck_assert_int_eq(ek_checkpoint_note_add(&note, "more", 1, 0), 0);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "scored", 1), 480);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "scored", 11), 7);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "more", 1), 0);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "scored", 2), -1);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "core", 1), -1);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(NULL, 0, "scored", 1), -1);
    ek_buf_release(&note);
}
END_TEST

START_TEST(a_note_that_is_full_keeps_what_it_has)
{
    struct ek_buf note;
    ek_buf_init(&note, 24);
    ck_assert_int_eq(ek_checkpoint_note_add(&note, "scored", 1, 480), 0);
    ck_assert_int_eq(ek_checkpoint_note_add(&note, "scored", 2, 123456), EK_ELIMIT);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "scored", 1), 480);
    ck_assert_int_eq(ek_checkpoint_note_get_offset(note.data, note.length, "scored", 2), -1);
    ek_buf_release(&note);
}
END_TEST

START_TEST(a_fingerprint_follows_a_reference_or_stands_alone)
{
    struct ek_checkpoint_ref p = {.topic = "scored", .partition = 5, .at = 1, .base = 2}, got;
    char text[EK_CHECKPOINT_REF_BYTES + EK_PRINT_TEXT_BYTES], print[EK_PRINT_TEXT_BYTES];
    ek_checkpoint_ref_write(&p, text);
    ck_assert_str_eq(text, "ek1;home=scored/5;base=2;head=0000000000000000;since=0;seen=0;at=1");
    ek_print_write(0xabc, NULL, true, print);
    memcpy(text + strlen(text), print, sizeof print);
    ck_assert_int_eq(ek_checkpoint_ref_read(text, strlen(text), &got), EK_CHECKPOINT_REF_READ);
    ck_assert_int_eq(got.at, 1);
    ck_assert_int_eq(got.partition, 5);
    ck_assert_uint_eq(ek_print_read(text, strlen(text)), 0xabc);
    ek_print_write(0xabc, NULL, false, print);
    ck_assert_str_eq(print, "ek1p;print=0000000000000abc");
    ck_assert_uint_eq(ek_print_read(print, strlen(print)), 0xabc);
    ck_assert_int_eq(ek_checkpoint_ref_read(print, strlen(print), &got), EK_CHECKPOINT_REF_NONE);
    ck_assert_uint_eq(ek_print_read("ek1p;print=xyz", 14), 0);
    ek_print_write(0, NULL, true, print);
    ck_assert_str_eq(print, "");
}
END_TEST

static void check_owner(const char *metadata, const char *owner)
{
    char name[EK_INSTANCE_BYTES];
    ek_owner_read(metadata, metadata ? strlen(metadata) : 0, name);
    ck_assert_str_eq(name, owner);
}

START_TEST(an_owner_stands_before_the_fingerprint)
{
    struct ek_checkpoint_ref p = {.topic = "scored", .partition = 5, .at = 5, .base = 2}, got;
    char text[EK_CHECKPOINT_REF_BYTES + EK_PRINT_TEXT_BYTES], print[EK_PRINT_TEXT_BYTES];
    ek_checkpoint_ref_write(&p, text);
    ek_print_write(0xabc, "pod-1", true, print);
    ck_assert_str_eq(print, ";owner=pod-1;print=0000000000000abc");
    memcpy(text + strlen(text), print, strlen(print) + 1);
    ck_assert_int_eq(ek_checkpoint_ref_read(text, strlen(text), &got), EK_CHECKPOINT_REF_READ);
    ck_assert_uint_eq(got.base, 2);
    ck_assert_uint_eq(ek_print_read(text, strlen(text)), 0xabc);
    check_owner(text, "pod-1");
    ek_print_write(0xabc, "pod-1", false, print);
    ck_assert_str_eq(print, "ek1p;owner=pod-1;print=0000000000000abc");
    check_owner(print, "pod-1");
    ck_assert_uint_eq(ek_print_read(print, strlen(print)), 0xabc);
    ck_assert_int_eq(ek_checkpoint_ref_read(print, strlen(print), &got), EK_CHECKPOINT_REF_NONE);
    ek_print_write(0, "pod-1", false, print);
    ck_assert_str_eq(print, "ek1p;owner=pod-1");
    check_owner(print, "pod-1");
}
END_TEST

START_TEST(metadata_without_an_owner_has_none)
{
    char print[EK_PRINT_TEXT_BYTES], longest[EK_INSTANCE_BYTES], text[2 * EK_INSTANCE_BYTES];
    check_owner(NULL, "");
    check_owner("", "");
    check_owner("ek1p;print=0000000000000abc", "");
    check_owner("ek1p;owner=", "");
    ek_print_write(0, "a;b", false, print);
    ck_assert_str_eq(print, "");
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ek_print_write(1, longest, false, print);
    check_owner(print, longest);
    snprintf(text, sizeof text, "ek1p;owner=%sn", longest);
    check_owner(text, "");
}
END_TEST

Suite *suite_checkpoint_ref(void)
{
    return ek_suite(
        "state_pointer", a_pointer_is_a_text_that_people_can_read,
        a_pointer_that_was_written_is_read_again, metadata_of_others_is_no_pointer,
        a_pointer_that_is_cut_short_is_none, a_pointer_to_a_topic_with_a_zero_in_its_name_is_none,
        a_pointer_of_a_later_version_is_known_as_one,
        a_partition_has_a_state_when_its_own_pointer_says_so,
        a_note_tells_how_far_each_partition_had_come, a_note_that_is_full_keeps_what_it_has,
        a_fingerprint_follows_a_reference_or_stands_alone, an_owner_stands_before_the_fingerprint,
        metadata_without_an_owner_has_none);
}
