/* The commit table: never past what is not acknowledged. */
#include "daemon/kafka/partition_offsets.h"
#include "tests/check.h"

enum { MANY = 2000 };

START_TEST(the_position_moves_over_contiguous_acknowledgements_only)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 10);
    struct ek_ticket *a = ek_lanes_take(l, lane, 10), *b = ek_lanes_take(l, lane, 11),
                     *c = ek_lanes_take(l, lane, 15);
    ck_assert_int_eq(lane->next, 10);
    ek_lanes_done(l, b);
    ck_assert_int_eq(lane->next, 10);
    ek_lanes_done(l, a);
    ck_assert_int_eq(lane->next, 12);
    ck_assert_ptr_eq(lane->head, c);
    ek_lanes_done(l, c);
    ck_assert_int_eq(lane->next, 16);
    ck_assert_ptr_null(lane->head);
    ek_lanes_free(l);
}
END_TEST

START_TEST(partitions_move_on_their_own)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *one = ek_lanes_open(l, "t", 0, 0), *two = ek_lanes_open(l, "t", 1, 0);
    struct ek_ticket *a = ek_lanes_take(l, one, 0), *b = ek_lanes_take(l, two, 0);
    ck_assert_ptr_eq(ek_lanes_find(l, "t", 1), two);
    ck_assert_ptr_null(ek_lanes_find(l, "u", 1));
    ek_lanes_done(l, b);
    ck_assert_int_eq(one->next, 0);
    ck_assert_int_eq(two->next, 1);
    ck_assert_ptr_eq(one->head, a);
    ek_lanes_done(l, a);
    ck_assert_int_eq(one->next, 1);
    ek_lanes_free(l);
}
END_TEST

START_TEST(acknowledgements_after_a_loss_move_nothing)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 0);
    struct ek_ticket *a = ek_lanes_take(l, lane, 0), *b = ek_lanes_take(l, lane, 1);
    ek_lanes_done(l, b);
    ek_lanes_close(l, lane);
    ck_assert_ptr_null(ek_lanes_find(l, "t", 0));
    ck_assert_ptr_eq(ek_lanes_open(l, "t", 0, 0), lane);
    ek_lanes_done(l, a);
    ck_assert_int_eq(lane->next, 0);
    ck_assert_uint_eq(ek_lanes_in_flight(l), 0);
    ek_lanes_free(l);
}
END_TEST

START_TEST(what_is_in_flight_is_counted_in_messages_and_bytes)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 0);
    struct ek_ticket *tickets[MANY];
    for (int i = 0; i < MANY; i++) {
        tickets[i] = ek_lanes_take(l, lane, i);
        ek_lanes_load(l, tickets[i], 10);
        ek_lanes_load(l, tickets[i], 3);
    }
    ck_assert_uint_eq(ek_lanes_in_flight(l), MANY);
    ck_assert_uint_eq(ek_lanes_bytes(l), 3 * MANY);
    for (int i = MANY; i-- > 0;)
        ek_lanes_done(l, tickets[i]);
    ck_assert_uint_eq(ek_lanes_in_flight(l), 0);
    ck_assert_uint_eq(ek_lanes_bytes(l), 0);
    ck_assert_int_eq(lane->next, MANY);
    ek_lanes_free(l);
}
END_TEST

START_TEST(a_lane_is_found_among_many_partitions_of_several_topics)
{
    static const char *const topics[] = {"a", "b", "c"};
    struct ek_lanes *l = ek_lanes_new();
    for (int p = 0; p < 300; p++)
        for (int t = 0; t < 3; t++)
            ck_assert_ptr_nonnull(ek_lanes_open(l, topics[t], (p * 7) % 300, 1000 * t + p));
    for (int p = 0; p < 300; p++)
        for (int t = 0; t < 3; t++) {
            struct ek_lane *lane = ek_lanes_find(l, topics[t], (p * 7) % 300);
            ck_assert_str_eq(lane->topic, topics[t]);
            ck_assert_int_eq(lane->partition, (p * 7) % 300);
            ck_assert_int_eq(lane->next, 1000 * t + p);
        }
    ck_assert_ptr_null(ek_lanes_find(l, "a", 300));
    ck_assert_ptr_null(ek_lanes_find(l, "a", -1));
    ek_lanes_free(l);
}
END_TEST

START_TEST(a_ticket_is_loose_from_the_loss_of_its_partition_on)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 0);
    struct ek_ticket *a = ek_lanes_take(l, lane, 0);
    ck_assert(!ek_ticket_loose(a));
    ek_lanes_close(l, lane);
    ck_assert(ek_ticket_loose(a));
    ck_assert_ptr_eq(ek_lanes_open(l, "t", 0, 0), lane);
    ck_assert(ek_ticket_loose(a));
    struct ek_ticket *b = ek_lanes_take(l, lane, 0);
    ck_assert(!ek_ticket_loose(b));
    ek_lanes_done(l, a);
    ck_assert_int_eq(lane->next, 0);
    ek_lanes_done(l, b);
    ck_assert_int_eq(lane->next, 1);
    ek_lanes_free(l);
}
END_TEST

START_TEST(a_lane_that_goes_back_takes_everything_behind_its_commit_again)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 5);
    struct ek_ticket *a = ek_lanes_take(l, lane, 5), *b = ek_lanes_take(l, lane, 8);
    ek_lanes_done(l, a);
    lane->committed = 6;
    ck_assert_int_eq(lane->taken, 9);
    ek_lanes_rewind(l, lane);
    ck_assert(lane->open && ek_ticket_loose(b));
    ck_assert_int_eq(lane->next, 6);
    ck_assert_int_eq(lane->expected, 8);
    struct ek_ticket *again = ek_lanes_take(l, lane, 8);
    ck_assert_int_eq(lane->expected, -1);
    ek_lanes_done(l, b);
    ck_assert_int_eq(lane->next, 6);
    ek_lanes_done(l, again);
    ck_assert_int_eq(lane->next, 9);
    ek_lanes_free(l);
}
END_TEST

START_TEST(the_first_message_tells_where_a_lane_begins_that_did_not_know)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, -1);
    struct ek_ticket *a = ek_lanes_take(l, lane, 40);
    ck_assert_int_eq(lane->next, 40);
    ck_assert_int_eq(lane->committed, 40);
    ek_lanes_done(l, a);
    ck_assert_int_eq(lane->next, 41);
    ek_lanes_free(l);
}
END_TEST

START_TEST(what_is_read_before_the_committed_offset_moves_it_only_behind_it)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 50);
    ek_lanes_expect(lane, 30);
    ck_assert_int_eq(lane->taken, 30);
    ek_lanes_done(l, ek_lanes_take(l, lane, 30));
    ek_lanes_done(l, ek_lanes_take(l, lane, 49));
    ck_assert_int_eq(lane->next, 50);
    ek_lanes_done(l, ek_lanes_take(l, lane, 50));
    ck_assert_int_eq(lane->next, 51);
    ek_lanes_free(l);
}
END_TEST

START_TEST(a_lane_that_goes_back_before_its_commit_expects_anything_from_there)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 50);
    struct ek_ticket *a = ek_lanes_take(l, lane, 48), *b = ek_lanes_take(l, lane, 50);
    ek_lanes_rewind(l, lane);
    ek_lanes_expect(lane, 49);
    ck_assert_int_eq(lane->next, 50);
    ck_assert_int_eq(lane->taken, 49);
    ck_assert_int_eq(lane->expected, -1);
    ek_lanes_done(l, a);
    ek_lanes_done(l, b);
    ek_lanes_free(l);
}
END_TEST

START_TEST(the_pointer_of_a_lane_is_of_its_assignment)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *lane = ek_lanes_open(l, "t", 0, 0);
    lane->pointed = true;
    ck_assert_int_eq(ek_lane_point(lane, "here"), 0);
    ck_assert(!lane->pointed);
    ck_assert_str_eq(lane->pointer, "here");
    ck_assert_ptr_eq(ek_lanes_open(l, "t", 0, 0), lane);
    ck_assert_ptr_null(lane->pointer);
    ck_assert_int_eq(ek_lane_point(lane, "there"), 0);
    ek_lanes_free(l);
}
END_TEST

START_TEST(only_lanes_that_are_leaving_are_waited_for)
{
    struct ek_lanes *l = ek_lanes_new();
    struct ek_lane *stays = ek_lanes_open(l, "t", 0, 0), *goes = ek_lanes_open(l, "t", 1, 0);
    struct ek_ticket *a = ek_lanes_take(l, stays, 0), *b = ek_lanes_take(l, goes, 0);
    ck_assert(ek_lanes_left(l));
    goes->leaving = true;
    ck_assert(!ek_lanes_left(l));
    ek_lanes_done(l, b);
    ck_assert(ek_lanes_left(l));
    ek_lanes_done(l, a);
    ek_lanes_close(l, goes);
    ck_assert(!goes->leaving);
    ek_lanes_free(l);
}
END_TEST

Suite *suite_partition_offsets(void)
{
    return ek_suite("lanes", the_position_moves_over_contiguous_acknowledgements_only,
                    partitions_move_on_their_own, acknowledgements_after_a_loss_move_nothing,
                    what_is_in_flight_is_counted_in_messages_and_bytes,
                    a_lane_is_found_among_many_partitions_of_several_topics,
                    a_ticket_is_loose_from_the_loss_of_its_partition_on,
                    a_lane_that_goes_back_takes_everything_behind_its_commit_again,
                    the_first_message_tells_where_a_lane_begins_that_did_not_know,
                    what_is_read_before_the_committed_offset_moves_it_only_behind_it,
                    a_lane_that_goes_back_before_its_commit_expects_anything_from_there,
                    the_pointer_of_a_lane_is_of_its_assignment,
                    only_lanes_that_are_leaving_are_waited_for);
}
