/* Decision log: numbers, retention, JSON, and parts of the checkpoint. */
#include "guard/event_json.h"
#include "plan/decisions.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static struct ek_decisions *new_ring(void)
{
    struct ek_decisions *d;
    ck_assert_int_eq(ek_decisions_new(&d), EK_OK);
    return d;
}

/* Add a decision with this reason and number (0: the next). Return whether it was new. */
static bool add(struct ek_decisions *d, uint64_t number, const char *why)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_STEP);
    bool is_new;
    m.number = number;
    m.reason = why;
    ck_assert_int_eq(ek_decisions_add(d, &m, &is_new), EK_OK);
    return is_new;
}

static const char *why_of(const struct ek_decisions *d, uint64_t number)
{
    const struct ek_decision_record *m = ek_decisions_at(d, number);
    return m ? m->reason : "gone";
}

START_TEST(decisions_are_numbered_from_one)
{
    struct ek_decisions *d = new_ring();
    char why[] = "because";
    ck_assert_uint_eq(ek_decisions_last(d), 0);
    ck_assert_ptr_null(ek_decisions_at(d, 0));
    ck_assert(add(d, 0, why));
    why[0] = 'x'; /* the log has a copy */
    ck_assert_uint_eq(ek_decisions_last(d), 1);
    ck_assert_str_eq(why_of(d, 1), "because");
    ck_assert_uint_eq(ek_decisions_at(d, 1)->number, 1);
    ck_assert_ptr_null(ek_decisions_at(d, 2));
    ek_decisions_free(d);
}
END_TEST

START_TEST(the_last_1024_are_kept)
{
    struct ek_decisions *d = new_ring();
    char why[20];
    for (int i = 1; i <= EK_DECISIONS_RETAINED + 5; i++) {
        snprintf(why, sizeof why, "number %d", i);
        ck_assert(add(d, 0, why));
    }
    ck_assert_str_eq(why_of(d, 5), "gone");
    ck_assert_str_eq(why_of(d, 6), "number 6");
    ck_assert_str_eq(why_of(d, EK_DECISIONS_RETAINED + 5), "number 1029");
    ek_decisions_free(d);
}
END_TEST

START_TEST(one_that_is_there_is_not_taken_again)
{
    struct ek_decisions *d = new_ring();
    ck_assert(add(d, 7, "the first"));
    ck_assert(!add(d, 7, "again"));
    ck_assert_str_eq(why_of(d, 7), "the first");
    ck_assert(add(d, 5, "late")); /* lower numbers are missing */
    ck_assert_str_eq(why_of(d, 5), "late");
    ck_assert_uint_eq(ek_decisions_last(d), 7);
    ck_assert(add(d, 0, "the next"));
    ck_assert_uint_eq(ek_decisions_last(d), 8);
    ck_assert(add(d, 7 + EK_DECISIONS_RETAINED, "far ahead"));
    ck_assert(!add(d, 7, "gone by now"));
    ck_assert(!add(d, 6, "too old, though its place is free"));
    ck_assert_str_eq(why_of(d, 7), "gone");
    ek_decisions_free(d);
}
END_TEST

static void assert_json(const struct ek_decision_record *m, const char *expected)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_decision_record_json(&out, m), EK_OK);
    ck_assert_str_eq(ek_buf_string(&out), expected);
    ek_buf_release(&out);
}

START_TEST(a_decision_reads_as_json)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_PAUSE);
    m.number = 3;
    m.query = 41;
    m.time_ms = 1790001121472;
    m.before = 6;
    m.after = 7;
    m.actor = "ana";
    m.reason = "the \"new\" arm";
    m.request = "hotels-0-41";
    assert_json(&m, "{\"event\":\"decision\",\"sequence\":3,\"list\":41,\"time_ms\":1790001121472,"
                    "\"type\":\"pause\",\"actor\":\"ana\",\"plan\":{\"before\":6,\"after\":7},"
                    "\"request\":\"hotels-0-41\",\"reason\":\"the \\\"new\\\" arm\"}");
    m = ek_decision_get(EK_DECIDED_ROLLBACK);
    m.number = 4;
    m.feature = "price";
    m.dimension = "arm";
    m.value = "B";
    m.action = EK_ACT_ROUTE;
    m.percent = 1250;
    m.finding = 17;
    m.class = EK_SCALE;
    m.factor = 100.3;
    m.fraction = 1;
    m.guardrail = EK_GUARDRAIL_RANKS;
    m.observed = .625;
    m.limit = .5;
    m.instance = "hotels-0";
    assert_json(&m,
                "{\"event\":\"decision\",\"sequence\":4,\"list\":0,\"time_ms\":0,"
                "\"type\":\"rollback\",\"actor\":\"system\",\"plan\":{\"before\":0,\"after\":0}"
                ",\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route\","
                "\"percent\":12.5,\"finding_id\":\"price-17\",\"class\":\"scale\",\"factor\":100.3,"
                "\"fraction\":1,\"guardrail\":\"rank_change_p95\",\"observed\":0.625,\"limit\":0.5,"
                "\"instance\":\"hotels-0\",\"reason\":null}");
    m = ek_decision_get(EK_DECIDED_PIN);
    m.feature = "price";
    m.dimension = "app"; /* a value without a separate cell */
    assert_json(&m, "{\"event\":\"decision\",\"sequence\":0,\"list\":0,\"time_ms\":0,"
                    "\"type\":\"pin\",\"actor\":\"system\",\"plan\":{\"before\":0,\"after\":0},"
                    "\"feature\":\"price\",\"segment\":{\"app\":\"(other)\"},\"reason\":null}");
    m = ek_decision_get(EK_DECIDED_REVERT);
    m.actor = "";
    m.accept = 3;
    m.normal = 4;
    assert_json(&m, "{\"event\":\"decision\",\"sequence\":0,\"list\":0,\"time_ms\":0,"
                    "\"type\":\"revert\",\"actor\":null,\"plan\":{\"before\":0,\"after\":0},"
                    "\"accept\":3,\"version\":4,\"reason\":null}");
}
END_TEST

START_TEST(each_kind_has_its_word)
{
    for (int i = 0; i < EK_DECISION_KINDS; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(ek_decision_kind_name((enum ek_decision_kind)i),
                             ek_decision_kind_name((enum ek_decision_kind)k));
    ck_assert_str_eq(ek_decision_kind_name(EK_DECIDED_ROUTE), "route");
    ck_assert_str_eq(ek_decision_kind_name(EK_DECIDED_EXPIRE), "expired");
    ck_assert_str_eq(ek_decision_kind_name(EK_DECIDED_RELOAD), "reload");
}
END_TEST

static int save(struct ek_decisions *d, int part, struct ek_buf *out)
{
    struct ek_serialize s = {.out = out};
    ek_buf_clear(out);
    ek_decisions_serialize(d, &s, part);
    return s.rc;
}

static int load(struct ek_decisions *d, int part, const struct ek_buf *from)
{
    struct ek_serialize s = {.at = from->data, .end = from->data + from->length};
    ek_decisions_serialize(d, &s, part);
    ek_serialize_require(&s, s.at == s.end);
    return s.rc;
}

static void fill(struct ek_decisions *d, int count)
{
    for (int i = 0; i < count; i++) {
        struct ek_decision_record m =
            ek_decision_get((enum ek_decision_kind)(i % EK_DECISION_KINDS));
        bool is_new;
        m.reason = i % 3 ? "because of it" : NULL;
        m.feature = i % 2 ? "price" : NULL;
        m.percent = i % 200 - 1;
        m.guardrail = (enum ek_guardrail)(i % EK_GUARDRAIL_COUNT);
        m.factor = i;
        m.time_ms = 1000 * i;
        ck_assert_int_eq(ek_decisions_add(d, &m, &is_new), EK_OK);
    }
}

START_TEST(a_ring_that_is_loaded_goes_on)
{
    struct ek_decisions *d = new_ring(), *loaded = new_ring();
    struct ek_buf part, again;
    ek_buf_init(&part, 0);
    ek_buf_init(&again, 0);
    fill(d, EK_DECISIONS_RETAINED + 100);
    for (int i = 0; i < EK_DECISIONS_PARTS; i++) {
        ck_assert_int_eq(save(d, i, &part), EK_OK);
        ck_assert_int_eq(load(loaded, i, &part), EK_OK);
        ck_assert_int_eq(save(loaded, i, &again), EK_OK);
        ck_assert_uint_eq(again.length, part.length);
        ck_assert(!memcmp(again.data, part.data, part.length));
        ck_assert_uint_eq(ek_decisions_mark(loaded, i), ek_decisions_mark(d, i));
    }
    ck_assert_uint_eq(ek_decisions_last(loaded), EK_DECISIONS_RETAINED + 100);
    ck_assert_str_eq(why_of(loaded, 201), "because of it");
    ck_assert_ptr_null(ek_decisions_at(loaded, 199)->reason);
    ck_assert(ek_decisions_at(loaded, 200)->factor == 199);
    ck_assert(add(d, 0, "one more") && add(loaded, 0, "one more"));
    ck_assert_uint_eq(ek_decisions_last(loaded), ek_decisions_last(d));
    ek_buf_release(&part);
    ek_buf_release(&again);
    ek_decisions_free(d);
    ek_decisions_free(loaded);
}
END_TEST

START_TEST(a_decision_changes_the_mark_of_its_part_only)
{
    struct ek_decisions *d = new_ring();
    uint64_t before[EK_DECISIONS_PARTS];
    ck_assert_uint_eq(ek_decisions_mark(d, 3), 0);
    fill(d, EK_DECISIONS_RETAINED + 70);
    for (int i = 0; i < EK_DECISIONS_PARTS; i++)
        before[i] = ek_decisions_mark(d, i);
    add(d, 0, "one more"); /* place 71 */
    for (int i = 0; i < EK_DECISIONS_PARTS; i++)
        ck_assert((before[i] != ek_decisions_mark(d, i)) == (i == 71 / EK_DECISIONS_PER_PART));
    ek_decisions_free(d);
    d = new_ring();
    add(d, 7, "ahead");
    before[0] = ek_decisions_mark(d, 0);
    add(d, 5, "one that was passed over");
    ck_assert(before[0] != ek_decisions_mark(d, 0));
    ek_decisions_free(d);
}
END_TEST

START_TEST(those_of_another_ring_come_behind)
{
    struct ek_decisions *d = new_ring(), *from = new_ring();
    add(d, 0, "mine");
    for (int i = 0; i < EK_DECISIONS_RETAINED - 2; i++)
        add(from, 0, "theirs");
    add(from, 3 * EK_DECISIONS_RETAINED, "late");
    ck_assert_int_eq(ek_decisions_merge(d, from), EK_OK);
    ck_assert_str_eq(why_of(d, 1), "mine");
    ck_assert_str_eq(why_of(d, 2), "late");
    ck_assert_uint_eq(ek_decisions_last(d), 2);
    ek_decisions_free(d);
    ek_decisions_free(from);
}
END_TEST

START_TEST(a_damaged_part_is_refused_or_read_whole)
{
    struct ek_decisions *d = new_ring();
    struct ek_buf part;
    ek_buf_init(&part, 0);
    fill(d, EK_DECISIONS_PER_PART);
    ck_assert_int_eq(save(d, 0, &part), EK_OK);
    for (size_t at = 0; at < part.length; at++) {
        struct ek_decisions *loaded = new_ring();
        part.data[at] ^= 0xa5;
        int rc = load(loaded, 0, &part);
        ck_assert(rc == EK_OK || rc == EK_EFORMAT);
        for (uint64_t n = 1; n <= EK_DECISIONS_PER_PART; n++) {
            const struct ek_decision_record *m = ek_decisions_at(loaded, n);
            if (m)
                ck_assert(m->kind < EK_DECISION_KINDS && m->guardrail < EK_GUARDRAIL_COUNT &&
                          m->class < EK_CLASS_COUNT);
        }
        part.data[at] ^= 0xa5;
        ek_decisions_free(loaded);
    }
    for (size_t length = 0; length < part.length; length += 37) {
        struct ek_decisions *loaded = new_ring();
        struct ek_buf cut = {.data = part.data, .length = length};
        ck_assert_int_eq(load(loaded, 0, &cut), EK_EFORMAT);
        ek_decisions_free(loaded);
    }
    ek_buf_release(&part);
    ek_decisions_free(d);
}
END_TEST

Suite *suite_decisions(void)
{
    return ek_suite("decisions", decisions_are_numbered_from_one, the_last_1024_are_kept,
                    one_that_is_there_is_not_taken_again, a_decision_reads_as_json,
                    each_kind_has_its_word, a_ring_that_is_loaded_goes_on,
                    a_decision_changes_the_mark_of_its_part_only, those_of_another_ring_come_behind,
                    a_damaged_part_is_refused_or_read_whole);
}
