/* Errors of the state topic include the command that fixes them. */
#include "daemon/kafka/producer_internal.h"
#include "tests/check.h"

#include <string.h>

static const struct ek_state_topic_facts FIT = {
    .partitions = 4, .compacted = 1, .batch_bytes = 1048588, .input_partitions = 4};

static int judge(const struct ek_state_topic_facts *facts, struct ek_error *e)
{
    struct ek_config *c;
    ck_assert_int_eq(ek_config_new(&c, NULL), 0);
    ck_assert_int_eq(ek_config_set(c, "input.brokers", "one:9092,two:9092", NULL), 0);
    ck_assert_int_eq(ek_config_set(c, "state.topic", "memory", NULL), 0);
    int rc = ek_state_topic_check(c, facts, e);
    ek_config_free(c);
    return rc;
}

static void refused(const struct ek_state_topic_facts *facts, const char *what, const char *remedy)
{
    struct ek_error e = {0};
    ck_assert_int_eq(judge(facts, &e), EK_ESTATE);
    ck_assert_int_eq(e.flags, EK_ERR_FATAL);
    ck_assert_msg(strstr(e.message, what), "%s", e.message);
    ck_assert_msg(strstr(e.message, remedy), "%s", e.message);
}

START_TEST(a_topic_that_fits_is_taken_and_one_that_cannot_be_asked_for_too)
{
    struct ek_state_topic_facts f = FIT;
    ck_assert_int_eq(judge(&f, NULL), 0);
    f.partitions = 9;
    f.compacted = -1;
    ck_assert_int_eq(judge(&f, NULL), 0);
}
END_TEST

START_TEST(a_missing_topic_is_told_with_the_command_that_makes_it)
{
    struct ek_state_topic_facts f = FIT;
    f.partitions = 0;
    refused(&f, "'memory' of 'state.topic' is not there",
            "kafka-topics.sh --bootstrap-server one:9092 --create --topic memory --partitions 4 "
            "--config cleanup.policy=compact");
    f.input_partitions = 0;
    refused(&f, "is not there", "--partitions 1 ");
}
END_TEST

START_TEST(it_may_have_fewer_partitions_than_the_input)
{
    struct ek_state_topic_facts f = FIT;
    f.input_partitions = 12;
    ck_assert_int_eq(judge(&f, NULL), 0);
}
END_TEST

START_TEST(settings_that_would_lose_a_state_are_told_with_the_command_that_changes_them)
{
    struct ek_state_topic_facts f = FIT;
    f.compacted = 0;
    refused(&f, "is not compacted",
            "kafka-configs.sh --bootstrap-server one:9092 --alter --topic memory --add-config "
            "cleanup.policy=compact");
    f = FIT;
    f.batch_bytes = 100000;
    refused(&f, "takes 100000 bytes at a time", "--add-config max.message.bytes=1048588");
}
END_TEST

Suite *suite_state_topic(void)
{
    return ek_suite("state_topic", a_topic_that_fits_is_taken_and_one_that_cannot_be_asked_for_too,
                    a_missing_topic_is_told_with_the_command_that_makes_it,
                    it_may_have_fewer_partitions_than_the_input,
                    settings_that_would_lose_a_state_are_told_with_the_command_that_changes_them);
}
