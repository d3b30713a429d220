/* Commits never pass an unacknowledged offset. */
#include "daemon/kafka/partition_offsets.h"
#include "tests/check.h"

enum { MANY = 2000 };

START_TEST(the_position_moves_over_contiguous_acknowledgements_only)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 10);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 10),
                       *b = ek_partition_offsets_start(l, assignment, 11),
                       *c = ek_partition_offsets_start(l, assignment, 15);
    ck_assert_int_eq(assignment->next, 10);
    ek_partition_offsets_finish(l, b);
    ck_assert_int_eq(assignment->next, 10);
    ek_partition_offsets_finish(l, a);
    ck_assert_int_eq(assignment->next, 12);
    ck_assert_ptr_eq(assignment->head, c);
    ek_partition_offsets_finish(l, c);
    ck_assert_int_eq(assignment->next, 16);
    ck_assert_ptr_null(assignment->head);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(partitions_move_on_their_own)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *one = ek_partition_offsets_open(l, "t", 0, 0),
                        *two = ek_partition_offsets_open(l, "t", 1, 0);
    struct ek_inflight *a = ek_partition_offsets_start(l, one, 0),
                       *b = ek_partition_offsets_start(l, two, 0);
    ck_assert_ptr_eq(ek_partition_offsets_find(l, "t", 1), two);
    ck_assert_ptr_null(ek_partition_offsets_find(l, "u", 1));
    ek_partition_offsets_finish(l, b);
    ck_assert_int_eq(one->next, 0);
    ck_assert_int_eq(two->next, 1);
    ck_assert_ptr_eq(one->head, a);
    ek_partition_offsets_finish(l, a);
    ck_assert_int_eq(one->next, 1);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(acknowledgements_after_a_loss_move_nothing)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 0);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 0),
                       *b = ek_partition_offsets_start(l, assignment, 1);
    ek_partition_offsets_finish(l, b);
    ek_partition_offsets_close(l, assignment);
    ck_assert_ptr_null(ek_partition_offsets_find(l, "t", 0));
    ck_assert_ptr_eq(ek_partition_offsets_open(l, "t", 0, 0), assignment);
    ek_partition_offsets_finish(l, a);
    ck_assert_int_eq(assignment->next, 0);
    ck_assert_uint_eq(ek_partition_offsets_in_flight(l), 0);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(what_is_in_flight_is_counted_in_messages_and_bytes)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 0);
    struct ek_inflight *inflights[MANY];
    for (int i = 0; i < MANY; i++) {
        inflights[i] = ek_partition_offsets_start(l, assignment, i);
        ek_partition_offsets_add_bytes(l, inflights[i], 10);
        ek_partition_offsets_add_bytes(l, inflights[i], 3);
    }
    ck_assert_uint_eq(ek_partition_offsets_in_flight(l), MANY);
    ck_assert_uint_eq(ek_partition_offsets_bytes(l), 3 * MANY);
    for (int i = MANY; i-- > 0;)
        ek_partition_offsets_finish(l, inflights[i]);
    ck_assert_uint_eq(ek_partition_offsets_in_flight(l), 0);
    ck_assert_uint_eq(ek_partition_offsets_bytes(l), 0);
    ck_assert_int_eq(assignment->next, MANY);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(a_lane_is_found_among_many_partitions_of_several_topics)
{
    static const char *const topics[] = {"a", "b", "c"};
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    for (int p = 0; p < 300; p++)
        for (int t = 0; t < 3; t++)
            ck_assert_ptr_nonnull(
                ek_partition_offsets_open(l, topics[t], (p * 7) % 300, 1000 * t + p));
    for (int p = 0; p < 300; p++)
        for (int t = 0; t < 3; t++) {
            struct ek_partition *assignment =
                ek_partition_offsets_find(l, topics[t], (p * 7) % 300);
            ck_assert_str_eq(assignment->topic, topics[t]);
            ck_assert_int_eq(assignment->partition, (p * 7) % 300);
            ck_assert_int_eq(assignment->next, 1000 * t + p);
        }
    ck_assert_ptr_null(ek_partition_offsets_find(l, "a", 300));
    ck_assert_ptr_null(ek_partition_offsets_find(l, "a", -1));
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(a_ticket_is_loose_from_the_loss_of_its_partition_on)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 0);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 0);
    ck_assert(!ek_inflight_is_revoked(a));
    ek_partition_offsets_close(l, assignment);
    ck_assert(ek_inflight_is_revoked(a));
    ck_assert_ptr_eq(ek_partition_offsets_open(l, "t", 0, 0), assignment);
    ck_assert(ek_inflight_is_revoked(a));
    struct ek_inflight *b = ek_partition_offsets_start(l, assignment, 0);
    ck_assert(!ek_inflight_is_revoked(b));
    ek_partition_offsets_finish(l, a);
    ck_assert_int_eq(assignment->next, 0);
    ek_partition_offsets_finish(l, b);
    ck_assert_int_eq(assignment->next, 1);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(a_lane_that_goes_back_takes_everything_behind_its_commit_again)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 5);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 5),
                       *b = ek_partition_offsets_start(l, assignment, 8);
    ek_partition_offsets_finish(l, a);
    assignment->committed = 6;
    ck_assert_int_eq(assignment->last_seen, 9);
    ek_partition_offsets_rewind(l, assignment);
    ck_assert(assignment->open && ek_inflight_is_revoked(b));
    ck_assert_int_eq(assignment->next, 6);
    ck_assert_int_eq(assignment->next_expected, 8);
    struct ek_inflight *again = ek_partition_offsets_start(l, assignment, 8);
    ck_assert_int_eq(assignment->next_expected, -1);
    ek_partition_offsets_finish(l, b);
    ck_assert_int_eq(assignment->next, 6);
    ek_partition_offsets_finish(l, again);
    ck_assert_int_eq(assignment->next, 9);
    ek_partition_offsets_free(l);
}
END_TEST

/* Message 99 was to be compared, and 80 is read in its place. */
START_TEST(a_partition_that_is_read_again_is_compared_at_its_new_position)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 80);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 80);
    assignment->verify_offset = 99;
    ek_partition_offsets_rewind(l, assignment);
    ck_assert_int_eq(assignment->verify_offset, -1);
    ck_assert(assignment->misplaced);
    ek_partition_offsets_finish(l, a);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(the_first_message_tells_where_a_lane_begins_that_did_not_know)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, -1);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 40);
    ck_assert_int_eq(assignment->next, 40);
    ck_assert_int_eq(assignment->committed, 40);
    ek_partition_offsets_finish(l, a);
    ck_assert_int_eq(assignment->next, 41);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(what_is_read_before_the_committed_offset_moves_it_only_behind_it)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 50);
    ek_partition_expect_offset(assignment, 30);
    ck_assert_int_eq(assignment->last_seen, 30);
    ek_partition_offsets_finish(l, ek_partition_offsets_start(l, assignment, 30));
    ek_partition_offsets_finish(l, ek_partition_offsets_start(l, assignment, 49));
    ck_assert_int_eq(assignment->next, 50);
    ek_partition_offsets_finish(l, ek_partition_offsets_start(l, assignment, 50));
    ck_assert_int_eq(assignment->next, 51);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(a_lane_that_goes_back_before_its_commit_expects_anything_from_there)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 50);
    struct ek_inflight *a = ek_partition_offsets_start(l, assignment, 48),
                       *b = ek_partition_offsets_start(l, assignment, 50);
    ek_partition_offsets_rewind(l, assignment);
    ek_partition_expect_offset(assignment, 49);
    ck_assert_int_eq(assignment->next, 50);
    ck_assert_int_eq(assignment->last_seen, 49);
    ck_assert_int_eq(assignment->next_expected, -1);
    ek_partition_offsets_finish(l, a);
    ek_partition_offsets_finish(l, b);
    ek_partition_offsets_free(l);
}
END_TEST

/* The fingerprint is that of message 49: message 29 would differ and restart the partition. */
START_TEST(a_fingerprint_is_compared_at_its_own_position_only)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 50);
    assignment->print = assignment->last_print = 77;
    ek_partition_expect_offset(assignment, 50);
    ck_assert_uint_eq(assignment->last_print, 77);
    ek_partition_expect_offset(assignment, 30);
    ck_assert_uint_eq(assignment->last_print, 0);
    ck_assert_uint_eq(assignment->print, 77);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(the_pointer_of_a_lane_is_of_its_assignment)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(l, "t", 0, 0);
    assignment->pointed = true;
    ck_assert_int_eq(ek_partition_set_checkpoint(assignment, "here"), 0);
    ck_assert(!assignment->pointed);
    ck_assert_str_eq(assignment->pointer, "here");
    ck_assert_ptr_eq(ek_partition_offsets_open(l, "t", 0, 0), assignment);
    ck_assert_ptr_null(assignment->pointer);
    ck_assert_int_eq(ek_partition_set_checkpoint(assignment, "there"), 0);
    ek_partition_offsets_free(l);
}
END_TEST

START_TEST(only_lanes_that_are_leaving_are_waited_for)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *stays = ek_partition_offsets_open(l, "t", 0, 0),
                        *goes = ek_partition_offsets_open(l, "t", 1, 0);
    struct ek_inflight *a = ek_partition_offsets_start(l, stays, 0),
                       *b = ek_partition_offsets_start(l, goes, 0);
    ck_assert(ek_partition_offsets_is_drained(l));
    goes->leaving = true;
    ck_assert(!ek_partition_offsets_is_drained(l));
    ek_partition_offsets_finish(l, b);
    ck_assert(ek_partition_offsets_is_drained(l));
    ek_partition_offsets_finish(l, a);
    ek_partition_offsets_close(l, goes);
    ck_assert(!goes->leaving);
    ek_partition_offsets_free(l);
}
END_TEST

Suite *suite_partition_offsets(void)
{
    return ek_suite("partitions", the_position_moves_over_contiguous_acknowledgements_only,
                    partitions_move_on_their_own, acknowledgements_after_a_loss_move_nothing,
                    what_is_in_flight_is_counted_in_messages_and_bytes,
                    a_lane_is_found_among_many_partitions_of_several_topics,
                    a_ticket_is_loose_from_the_loss_of_its_partition_on,
                    a_lane_that_goes_back_takes_everything_behind_its_commit_again,
                    a_partition_that_is_read_again_is_compared_at_its_new_position,
                    the_first_message_tells_where_a_lane_begins_that_did_not_know,
                    what_is_read_before_the_committed_offset_moves_it_only_behind_it,
                    a_lane_that_goes_back_before_its_commit_expects_anything_from_there,
                    a_fingerprint_is_compared_at_its_own_position_only,
                    the_pointer_of_a_lane_is_of_its_assignment,
                    only_lanes_that_are_leaving_are_waited_for);
}
