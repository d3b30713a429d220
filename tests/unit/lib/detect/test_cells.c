/* Segment cells: the busiest values have one, others share one, and a reassigned cell keeps nothing
 * of its former value. */
#include "base/hash.h"
#include "detect/cells.h"
#include "detect/detector.h"
#include "tests/check.h"
#include "tests/stream.h"

struct bench {
    struct ek_cells *cells;
    struct ek_list query;
    char value[24];
};

static char ARM[] = "arm";

static void setup(struct bench *b, int limit)
{
    char *dimensions[] = {ARM};
    ck_assert_int_eq(ek_cells_new(&b->cells, dimensions, 1, limit), EK_OK);
    ek_list_init(&b->query);
    b->query.segment_count = 1;
}

static void teardown(struct bench *b)
{
    ek_cells_free(b->cells);
}

/* Observe one list of value number `value`. Return its cell. */
static int see(struct bench *b, const char *prefix, int value)
{
    int16_t ids[EK_CELLS_PER_LIST];
    snprintf(b->value, sizeof b->value, "%s%d", prefix, value);
    b->query.segments[0] = (struct ek_segment){stream_text(ARM), stream_text(b->value)};
    ck_assert_int_eq(ek_cells_lookup(b->cells, &b->query, 1, ids), EK_OK);
    return ids[1];
}

static int owns(struct bench *b, const char *value)
{
    for (int i = 1; i < ek_cells_count(b->cells); i++)
        if (ek_cells_value(b->cells, i) && !strcmp(ek_cells_value(b->cells, i), value))
            return i;
    return 0;
}

START_TEST(values_beyond_the_limit_share_a_cell)
{
    struct bench b;
    int16_t ids[EK_CELLS_PER_LIST];
    setup(&b, 4);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(see(&b, "v", i), i < 3 ? i + 1 : 4);
    ck_assert_ptr_null(ek_cells_value(b.cells, 4));
    ck_assert_int_eq(ek_cells_count(b.cells), 5);
    b.query.segment_count = 0;
    ek_cells_lookup(b.cells, &b.query, 1, ids);
    ck_assert_int_eq(ids[1], -1);
    teardown(&b);
}
END_TEST

START_TEST(by_default_255_values_have_a_cell_beside_all_traffic)
{
    struct bench b;
    setup(&b, EK_CELLS_DEFAULT_MAX);
    for (int i = 1; i < EK_CELLS_DEFAULT_MAX; i++)
        ck_assert_int_eq(see(&b, "v", i), i);
    ck_assert_str_eq(ek_cells_value(b.cells, EK_CELLS_DEFAULT_MAX - 1), "v255");
    ck_assert_int_eq(see(&b, "v", EK_CELLS_DEFAULT_MAX), EK_CELLS_DEFAULT_MAX);
    ck_assert_ptr_null(ek_cells_value(b.cells, EK_CELLS_DEFAULT_MAX));
    teardown(&b);
}
END_TEST

START_TEST(how_many_values_and_lists_are_pooled_is_known)
{
    struct bench b;
    setup(&b, 4);
    for (int i = 0; i < 4000; i++)
        see(&b, "v", i % 1000);
    struct ek_cells_share s = ek_cells_get_share(b.cells, 0);
    ck_assert_str_eq(s.dimension, "arm");
    ck_assert_int_eq(s.own, 3);
    ck_assert(s.pooled_values > 970 && s.pooled_values < 1030);
    ck_assert_uint_eq(s.lists, 4000);
    ck_assert_uint_eq(s.pooled, 4000 - 3 * 4);
    teardown(&b);
}
END_TEST

START_TEST(a_newcomer_that_becomes_busy_takes_the_cell_of_a_silent_value)
{
    struct bench b;
    int taken;
    setup(&b, 4);
    for (int i = 0; i < 3000; i++)
        see(&b, "v", i % 10 ? i % 2 : 2); /* v2 is the least busy of three */
    ck_assert_int_eq(ek_cells_reuse_count(b.cells), 0);
    int silent = owns(&b, "v2");
    for (int i = 0; i < 3000 && !owns(&b, "new7"); i++)
        see(&b, i % 2 ? "new" : "v", i % 2 ? 7 : i % 4 / 2);
    ck_assert_int_eq(owns(&b, "new7"), silent);
    ck_assert_int_eq(owns(&b, "v2"), 0);
    ck_assert_int_eq(ek_cells_reused(b.cells, &taken)[0], silent);
    ck_assert_int_eq(taken, 1);
    see(&b, "v", 2);
    ek_cells_reused(b.cells, &taken);
    ck_assert_int_eq(taken, 0);
    teardown(&b);
}
END_TEST

START_TEST(values_that_are_equally_busy_do_not_take_turns)
{
    struct bench b;
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    setup(&b, 8);
    for (int i = 0; i < 200000; i++)
        see(&b, "v", (int)ek_rng_uniform_int(&r, 12));
    ck_assert_uint_eq(ek_cells_reuse_count(b.cells), 0);
    teardown(&b);
}
END_TEST

START_TEST(a_cell_in_use_is_not_taken)
{
    struct bench b;
    setup(&b, 3);
    for (int i = 0; i < 40; i++)
        see(&b, "v", i % 2);
    ek_cells_retain(b.cells, 1);
    ek_cells_retain(b.cells, 2);
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(see(&b, "new", 0), 3);
    ek_cells_release(b.cells, 2);
    for (int i = 0; i < 100; i++)
        see(&b, "new", 0);
    ck_assert_int_eq(owns(&b, "new0"), 2);
    ck_assert_int_eq(owns(&b, "v0"), 1);
    teardown(&b);
}
END_TEST

START_TEST(two_values_of_one_list_do_not_take_each_others_cell)
{
    char app[] = "app", *dimensions[] = {ARM, app};
    struct ek_cells *c;
    struct ek_list q;
    int16_t ids[EK_CELLS_PER_LIST];
    ek_list_init(&q);
    ck_assert_int_eq(ek_cells_new(&c, dimensions, 2, 2), EK_OK);
    q.segment_count = 2;
    for (int i = 0; i < 500; i++) {
        const char *a = i < 10 ? "old" : "x", *b = i < 10 ? "old" : "y";
        q.segments[0] = (struct ek_segment){stream_text(ARM), stream_text(a)};
        q.segments[1] = (struct ek_segment){stream_text(app), stream_text(b)};
        ck_assert_int_eq(ek_cells_lookup(c, &q, 1, ids), EK_OK);
        for (int d = 0; d < 2; d++)
            ck_assert_int_eq(ek_cells_dimension(c, ids[1 + d]), d);
    }
    ck_assert_int_eq(ek_cells_reuse_count(c), 1);
    ek_cells_free(c);
}
END_TEST

/* Value number by rank with frequency 1 / rank; every fourth list has a new value. */
static int zipf(struct ek_rng *r, int list)
{
    if (list % 4 == 0)
        return 1000 + list;
    return (int)exp(ek_rng_uniform(r) * log(400)) - 1;
}

START_TEST(the_busiest_have_cells_among_values_that_come_once)
{
    struct bench b;
    struct ek_rng r;
    char name[24];
    ek_rng_seed(&r, 6);
    setup(&b, 32);
    for (int i = 0; i < 5000; i++) /* early values are rare later */
        see(&b, "early", (int)ek_rng_uniform_int(&r, 40));
    for (int i = 0; i < 100000; i++)
        see(&b, "v", zipf(&r, i));
    for (int v = 0; v < 12; v++) {
        snprintf(name, sizeof name, "v%d", v);
        ck_assert_msg(owns(&b, name) > 0, "%s has no cell", name);
    }
    teardown(&b);
}
END_TEST

START_TEST(what_values_are_called_does_not_matter)
{
    struct bench a, b;
    struct ek_rng r;
    ek_rng_seed(&r, 7);
    setup(&a, 16);
    setup(&b, 16);
    for (int i = 0; i < 60000; i++) {
        int value = zipf(&r, i), mine = see(&a, "v", value);
        ck_assert_int_eq(see(&b, "renamed", 1000000 - value), mine);
    }
    ck_assert_uint_ge(ek_cells_reuse_count(a.cells), 3);
    teardown(&a);
    teardown(&b);
}
END_TEST

/* Findings of a detector with few cells on a stream with arms named by `name_arm`. */
struct told {
    int suspected, confirmed, recovered, cell;
    char value[24];
};

typedef int arm_of(struct ek_rng *r, int list);

static struct told watch(const char *rules, int cells, int lists, arm_of *arm, int faulty_from,
                         int faulty_arm)
{
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *p = stream_profile(m, 6000);
    struct ek_rules *read;
    struct ek_detector *d;
    struct ek_finding f;
    struct stream s;
    struct ek_rng r;
    char value[24];
    struct told t = {0};
    ck_assert_int_eq(ek_rules_parse(&read, m, "rules", rules, strlen(rules), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new_with(&d, m, p, read, cells, NULL), EK_OK);
    stream_start(&s, 31);
    ek_rng_seed(&r, 32);
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&s);
        int own = arm(&r, i);
        snprintf(value, sizeof value, "v%d", own);
        q->segments[0].value = stream_text(value);
        if (i >= faulty_from && own == faulty_arm)
            stream_scale(q, 0, 100);
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(d, &f)) {
            t.suspected += f.state == EK_SUSPECTED;
            t.recovered += f.state == EK_RECOVERED;
            t.confirmed += f.state == EK_CONFIRMED;
            if (f.state == EK_CONFIRMED) {
                t.cell = f.cell;
                snprintf(t.value, sizeof t.value, "%s", f.value ? f.value : "");
            }
        }
    }
    stream_end(&s);
    ek_detector_free(d);
    ek_rules_free(read);
    ek_profile_free(p);
    ek_manifest_free(m);
    return t;
}

/* Four values are busy, replaced every 400 lists: cells are reassigned all the time. */
static int in_turns(struct ek_rng *r, int list)
{
    return list / 400 * 4 + (int)ek_rng_uniform_int(r, 4);
}

START_TEST(cells_that_change_hands_stay_inside_the_budget)
{
    enum { LISTS = 60000, BUDGET = 2000 };
    static const char rules[] = "version: 1\n"
                                "defaults: {false_alarms: 1 per 2000 lists}\n"
                                "segments: [arm]\n";
    struct told t = watch(rules, 6, LISTS, in_turns, LISTS, 0);
    /* At most LISTS / BUDGET are expected, plus three standard deviations. */
    ck_assert_int_le(t.suspected, LISTS / BUDGET + 17);
}
END_TEST

static int a_new_arm(struct ek_rng *r, int list)
{
    return list > 4000 && ek_rng_uniform_int(r, 2) == 0 ? 99 : (int)ek_rng_uniform_int(r, 8);
}

START_TEST(a_fault_of_a_new_value_is_found_there_although_all_cells_were_taken)
{
    static const char rules[] = "version: 1\nsegments: [arm]\n";
    struct told t = watch(rules, 6, 9000, a_new_arm, 7500, 99);
    ck_assert_int_ge(t.confirmed, 1);
    ck_assert_str_eq(t.value, "v99");
    ck_assert_int_eq(t.recovered, 0);
}
END_TEST

/* Arm 5 is busy and faulty, then absent; others replace it. */
static int one_that_goes(struct ek_rng *r, int list)
{
    return list < 3000 ? 3 + (int)ek_rng_uniform_int(r, 3) : 100 + (int)ek_rng_uniform_int(r, 5);
}

START_TEST(a_value_that_takes_a_cell_inherits_no_fault)
{
    static const char rules[] = "version: 1\nsegments: [arm]\n";
    struct told t = watch(rules, 4, 60000, one_that_goes, 2950, 5);
    ck_assert_int_le(t.confirmed, 1); /* while the faulty arm is there */
    ck_assert_str_eq(t.value, t.confirmed ? "v5" : "");
}
END_TEST

/* Return the only position of the bytes `of` in `in`. */
static size_t place_of(const struct ek_buf *in, const void *of, size_t length)
{
    const uint8_t *at = memmem(in->data, in->length, of, length);
    ck_assert_ptr_nonnull(at);
    return (size_t)(at - in->data);
}

/* A state older than the limit: a value of 200 bytes becomes one of 201. */
static void lengthen(struct ek_buf *state, const char *value)
{
    enum { MOST = EK_SEGMENT_BYTES_MAX };
    uint64_t was = ek_hash(value, MOST, 1), is = ek_hash(value, MOST + 1, 1);
    size_t key = place_of(state, &was, sizeof was);
    memcpy(state->data + key, &is, sizeof is);
    size_t text = place_of(state, value, MOST);
    ck_assert_uint_eq(state->data[text - 4], MOST);
    state->data[text - 4]++;
    ck_assert_int_eq(ek_buf_add(state, "x", 1), EK_OK);
    memmove(state->data + text + 1, state->data + text, state->length - 1 - text);
    state->data[text] = 'x';
}

START_TEST(a_longer_value_that_a_state_has_a_cell_for_keeps_it)
{
    struct bench b;
    struct ek_buf state;
    int16_t ids[EK_CELLS_PER_LIST];
    char value[EK_SEGMENT_BYTES_MAX + 2];
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = 0;
    ek_buf_init(&state, 0);
    setup(&b, 4);
    see(&b, "v", 0);
    b.query.segments[0].value.text = value;
    b.query.segments[0].value.length = EK_SEGMENT_BYTES_MAX;
    ck_assert_int_eq(ek_cells_lookup(b.cells, &b.query, 1, ids), EK_OK);
    ck_assert_int_eq(ids[1], 2);
    struct ek_serialize write = {.out = &state};
    ek_cells_serialize(b.cells, &write);
    teardown(&b);
    lengthen(&state, value);
    setup(&b, 4);
    struct ek_serialize read = {.at = state.data, .end = state.data + state.length};
    ek_cells_serialize(b.cells, &read);
    ck_assert_int_eq(read.rc, EK_OK);
    b.query.segments[0] = (struct ek_segment){stream_text(ARM), stream_text(value)};
    ck_assert_int_eq(ek_cells_lookup(b.cells, &b.query, 1, ids), EK_OK);
    ck_assert_int_eq(ids[1], 2); /* so its lists are observed, and open changes end */
    ek_cells_find(b.cells, &b.query, ids);
    ck_assert_int_eq(ids[1], 2);
    value[0] = 'y';
    ck_assert_int_eq(ek_cells_lookup(b.cells, &b.query, 1, ids), EK_OK);
    ck_assert_ptr_null(ek_cells_value(b.cells, ids[1])); /* no other value gets one */
    ek_buf_release(&state);
    teardown(&b);
}
END_TEST

Suite *suite_cells(void)
{
    return ek_suite("cells", values_beyond_the_limit_share_a_cell,
                    by_default_255_values_have_a_cell_beside_all_traffic,
                    how_many_values_and_lists_are_pooled_is_known,
                    a_newcomer_that_becomes_busy_takes_the_cell_of_a_silent_value,
                    values_that_are_equally_busy_do_not_take_turns, a_cell_in_use_is_not_taken,
                    two_values_of_one_list_do_not_take_each_others_cell,
                    the_busiest_have_cells_among_values_that_come_once,
                    what_values_are_called_does_not_matter,
                    cells_that_change_hands_stay_inside_the_budget,
                    a_fault_of_a_new_value_is_found_there_although_all_cells_were_taken,
                    a_value_that_takes_a_cell_inherits_no_fault,
                    a_longer_value_that_a_state_has_a_cell_for_keeps_it);
}
