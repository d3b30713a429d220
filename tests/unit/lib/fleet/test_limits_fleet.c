/* Named limits of fleet records: one at a limit is accepted, one above is rejected as damaged
 * without effect. The test writes them by hand, like an attacker with access to the fleet's topics.
 */
#include "fleet/leader.h"
#include "fleet/plan_record.h"
#include "fleet/evidence_report.h"
#include "fleet/pool.h"
#include "fleet/guardrails.h"
#include "fleet/row_samples.h"
#include "fleet/comparison_record.h"
#include "tests/check.h"
#include "tests/fleet_plan.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/stream_world.h"

static const char RULES[] = "version: 1\ndefaults: {mode: enforce}\nsegments: [arm]\n";
static const struct ek_fleet_dimensions ARM = {1, {{"arm", 3}}};
enum { LARGE = 16 << 20, PRICE = 0, HAS_TIME = 10 };

/* Return the manifest that records are checked against. */
static struct ek_manifest *features(void)
{
    static struct ek_manifest *m;
    if (!m)
        m = stream_manifest();
    return m;
}

static struct ek_text name_of(int length)
{
    static char name[1000];
    memset(name, 'n', sizeof name);
    return (struct ek_text){name, (size_t)length};
}

static struct ek_fleet_cell value(int number)
{
    static char text[16];
    snprintf(text, sizeof text, "v%d", number);
    return (struct ek_fleet_cell){ARM.name[0], stream_text(text)};
}

static void put_finding(struct ek_serialize *w, int number)
{
    struct ek_finding f = {.feature = PRICE,
                           .episode = (uint32_t)number,
                           .class = EK_SCALE,
                           .query_feature = -1,
                           .factor = 2,
                           .factor_low = 1.9,
                           .factor_high = 2.1,
                           .share = 1,
                           .spread_ratio = 1};
    struct ek_fleet_cell cell = value(number);
    ek_wire_cell(w, &ARM, &cell);
    ek_fleet_finding_walk(w, features(), &f);
}

static struct ek_fleet_head head_of(struct ek_text instance, uint64_t number)
{
    return (struct ek_fleet_head){.instance = instance,
                                  .start = 1,
                                  .number = number,
                                  .manifest = features()->hash,
                                  .dimensions = ARM};
}

/* Element counts of a report. */
struct tick {
    int cells, findings, lists;
    int64_t evidence; /* of each bet, in each segment */
    struct ek_text instance;
    int64_t time_ms;
    uint64_t profile;
};

static void put_tick(struct ek_buf *out, const struct tick *t)
{
    struct ek_serialize w;
    struct ek_fleet_head head = head_of(t->instance, 1);
    head.time_ms = t->time_ms;
    head.profile = t->profile;
    ek_record_writer_start(&w, out, EK_FLEET_REPORT);
    ek_fleet_head_walk(&w, &head);
    ek_record_write(&w, 0); /* accepted shifts */
    ek_record_write(&w, (uint64_t)t->cells);
    for (int i = 0; i < t->cells; i++) {
        struct ek_fleet_cell cell = value(i);
        ek_wire_cell(&w, &ARM, &cell);
        ek_record_write(&w, t->lists > 0);
        if (t->lists) {
            ek_record_write(&w, PRICE);
            ek_record_write(&w, (uint64_t)t->lists);
        }
        for (int b = 0; t->lists && b < EK_BETS; b++)
            ek_wire_time(&w, &(int64_t){t->evidence});
    }
    ek_record_write(&w, (uint64_t)t->findings);
    for (int i = 0; i < t->findings; i++)
        put_finding(&w, i);
    ek_record_write(&w, 0); /* lists */
    ek_record_write(&w, 0); /* and segments with lists */
    must(ek_record_writer_finish(&w));
}

static int tick(struct tick t, char said[SAID_BYTES])
{
    struct ek_buf b;
    struct ek_evidence_report read;
    struct ek_error e = {0};
    ek_buf_init(&b, LARGE);
    put_tick(&b, &t);
    int rc = ek_evidence_report_open(&read, b.data, b.length, features(), &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_buf_release(&b);
    return rc;
}

static int tick_cells(int count, char said[SAID_BYTES])
{
    return tick((struct tick){.cells = count, .instance = name_of(1)}, said);
}

static int tick_findings(int count, char said[SAID_BYTES])
{
    return tick((struct tick){.findings = count, .instance = name_of(1)}, said);
}

static int tick_lists(int count, char said[SAID_BYTES])
{
    return tick((struct tick){.cells = 1, .lists = count, .instance = name_of(1)}, said);
}

static int tick_name(int length, char said[SAID_BYTES])
{
    return tick((struct tick){.instance = name_of(length)}, said);
}

/* Before and after 1970. */
static int tick_time(int time, char said[SAID_BYTES])
{
    int64_t ms = EK_FLEET_TIME_MAX - HAS_TIME + time;
    int rc = tick((struct tick){.instance = name_of(1), .time_ms = -ms}, said);
    return rc ? rc : tick((struct tick){.instance = name_of(1), .time_ms = ms}, said);
}

START_TEST(a_tick_beyond_a_limit_is_refused_and_one_at_it_is_read)
{
    ck_limit(tick_cells, EK_FLEET_CELLS_MAX, "", "damaged");
    ck_limit(tick_findings, EK_EPISODES_MAX, "", "damaged");
    ck_limit(tick_lists, EK_FLEET_LISTS_MAX, "", "damaged");
    ck_limit(tick_name, EK_FLEET_NAME_MAX, "", "damaged");
    ck_limit(tick_time, HAS_TIME, "", "damaged");
}
END_TEST

/* Element counts of a plan. */
struct plan {
    int decided, findings, asks;
};

static int plan(struct plan p, char said[SAID_BYTES])
{
    struct ek_fleet_limits none = {.free_ms = -1};
    static const struct ek_decision_record one = {
        .number = 1, .kind = EK_DECIDED_PAUSE, .actor = "x"};
    const struct ek_fleet_plan_head head = {
        .decider = name_of(1), .term = 1, .version = 1, .dimensions = ARM};
    struct ek_buf b;
    struct ek_serialize w;
    struct ek_fleet_plan read;
    struct ek_error e = {0};
    ek_buf_init(&b, LARGE);
    ek_fleet_plan_start(&w, &b, &head);
    for (int i = 0; i < 5; i++) /* entries, modes, desired plan, rollouts, pins */
        ek_record_write(&w, 0);
    ek_fleet_limits_walk(&w, &none);
    ek_record_write(&w, 0);
    ek_serialize_u64(&w, &(uint64_t){0});
    ek_record_write(&w, 0); /* accepted shifts */
    ek_record_write(&w, (uint64_t)p.decided);
    for (int i = 0; i < p.decided; i++)
        ek_fleet_decision_write(&w, &one);
    ek_record_write(&w, (uint64_t)p.findings);
    for (int i = 0; i < p.findings; i++)
        put_finding(&w, i);
    ek_record_write(&w, (uint64_t)p.asks);
    for (int i = 0; i < p.asks; i++)
        ek_row_request_walk(&w, &(struct ek_row_request){stream_text("price"), 1, 1});
    must(ek_record_writer_finish(&w));
    int rc = ek_fleet_plan_open(&read, b.data, b.length, features(), &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_buf_release(&b);
    return rc;
}

static int plan_decided(int count, char said[SAID_BYTES])
{
    return plan((struct plan){.decided = count}, said);
}

static int plan_findings(int count, char said[SAID_BYTES])
{
    return plan((struct plan){.findings = count}, said);
}

static int plan_asks(int count, char said[SAID_BYTES])
{
    return plan((struct plan){.asks = count}, said);
}

START_TEST(a_plan_beyond_a_limit_is_refused_and_one_at_it_is_read)
{
    ck_limit(plan_decided, EK_FLEET_DECISIONS_MAX, "", "damaged");
    ck_limit(plan_findings, EK_FLEET_FINDINGS_MAX, "", "damaged");
    ck_limit(plan_asks, EK_ROW_REQUESTS_MAX, "", "damaged");
}
END_TEST

/* Write the row of a list without a usable value. */
static void put_row(struct ek_serialize *w, uint64_t number)
{
    ek_record_write(w, number);
    ek_record_write(w, 0);
    ek_record_write(w, 0); /* its stratum */
    for (int i = 0; i < 2; i++)
        ek_wire_f32(w, &(float){0});
    for (int i = 0; i < EK_SHARES + 2; i++) /* values, segments */
        ek_record_write(w, 0);
    for (int i = 0; i < features()->query_count; i++)
        ek_wire_f32(w, &(float){0});
}

static int rows(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    struct ek_serialize w;
    struct ek_fleet_rows read;
    struct ek_error e = {0};
    struct ek_fleet_head head = head_of(name_of(1), 1);
    ek_buf_init(&b, LARGE);
    ek_record_writer_start(&w, &b, EK_FLEET_ROWS);
    ek_fleet_head_walk(&w, &head);
    ek_wire_text(&w, &(struct ek_text){"price", sizeof "price" - 1}, EK_FLEET_NAME_MAX);
    ek_record_write(&w, 1); /* the request */
    ek_record_write(&w, (uint64_t)count);
    for (int i = 0; i < count; i++)
        put_row(&w, (uint64_t)i);
    must(ek_record_writer_finish(&w));
    int rc = ek_fleet_rows_open(&read, b.data, b.length, features(), 1, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_buf_release(&b);
    return rc;
}

START_TEST(an_answer_has_4096_rows)
{
    ck_limit(rows, EK_FLEET_ROWS_MAX, "", "damaged");
}
END_TEST

/* Return the pool of reports that a leader receives. */
static struct ek_fleet_pool *pool_of(const struct stream_world *w)
{
    struct ek_fleet_pool *p = NULL;
    must(ek_fleet_pool_new(&p, w->manifest, w->profile, w->rules, 1, EK_FLEET_PLACES_DEFAULT_MAX,
                           NULL));
    return p;
}

static int take_tick(struct ek_fleet_pool *p, struct tick t, int64_t clock_ms, struct ek_error *e)
{
    struct ek_buf b;
    ek_buf_init(&b, LARGE);
    t.profile = ek_fleet_pool_profile(p);
    put_tick(&b, &t);
    int rc = ek_fleet_pool_add(p, b.data, b.length, clock_ms, e);
    ek_buf_release(&b);
    return rc;
}

START_TEST(a_fleet_has_1024_instances_and_one_more_when_one_is_gone)
{
    enum { LATER = EK_FLEET_EXPIRED_MS + 1 };
    struct stream_world w;
    struct ek_error e = {0};
    stream_world_start(&w, RULES, 100, 1);
    struct ek_fleet_pool *p = pool_of(&w);
    char name[16];
    for (int i = 0; i < EK_FLEET_INSTANCES_MAX; i++) {
        snprintf(name, sizeof name, "node-%d", i);
        ck_assert_int_eq(take_tick(p, (struct tick){.instance = stream_text(name)}, i, NULL), 0);
    }
    ck_assert_int_eq(ek_fleet_pool_instances(p, 0), EK_FLEET_INSTANCES_MAX);
    const struct tick more = {.instance = stream_text("more")};
    ck_assert_int_eq(take_tick(p, more, LATER - 1, &e), EK_ELIMIT);
    ck_assert_str_eq(e.message, "more than 1024 instances");
    ck_assert_int_eq(take_tick(p, more, LATER, &e), EK_OK);
    ck_assert_int_lt(ek_fleet_pool_instance(p, stream_text("node-0")), 0);
    ck_assert_int_ge(ek_fleet_pool_instance(p, stream_text("node-1")), 0);
    ek_fleet_pool_free(p);
    stream_world_end(&w);
}
END_TEST

START_TEST(a_fleet_pools_256_cells_and_counts_what_is_told_of_others)
{
    struct stream_world w;
    stream_world_start(&w, RULES, 100, 1);
    struct ek_fleet_pool *p = pool_of(&w);
    struct tick t = {.cells = EK_FLEET_PLACES_DEFAULT_MAX - 1, .lists = 1};
    t.instance = stream_text("a");
    ck_assert_int_eq(take_tick(p, t, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_fleet_pool_places(p),
                     EK_FLEET_PLACES_DEFAULT_MAX); /* including all traffic */
    ck_assert_uint_eq(ek_fleet_pool_counts(p).beyond, 0);
    t.instance = stream_text("b");
    t.cells++;
    ck_assert_int_eq(take_tick(p, t, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_fleet_pool_places(p), EK_FLEET_PLACES_DEFAULT_MAX);
    ck_assert_uint_gt(ek_fleet_pool_counts(p).beyond, 0);
    ek_fleet_pool_free(p);
    stream_world_end(&w);
}
END_TEST

START_TEST(of_65_alarms_of_a_tick_the_last_is_given_out_with_the_next)
{
    enum { SURE = 1 << 20 }; /* ln e of 1,024 */
    struct stream_world w;
    struct ek_fleet_alarm alarm[EK_FLEET_ALARMS_MAX];
    stream_world_start(&w, RULES, 100, 1);
    struct ek_fleet_pool *p = pool_of(&w);
    struct tick t = {.cells = EK_FLEET_ALARMS_MAX + 1, .lists = 1000, .evidence = SURE};
    t.instance = stream_text("a");
    ck_assert_int_eq(take_tick(p, t, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_fleet_pool_advance(p, alarm, EK_FLEET_ALARMS_MAX), EK_FLEET_ALARMS_MAX);
    t.instance = stream_text("b");
    t.evidence = 0;
    ck_assert_int_eq(take_tick(p, t, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_fleet_pool_advance(p, alarm, EK_FLEET_ALARMS_MAX), 1);
    ck_assert_int_eq(alarm[0].place, EK_FLEET_ALARMS_MAX + 1);
    ek_fleet_pool_free(p);
    stream_world_end(&w);
}
END_TEST

/* Write a record of that many price routes, each in its own segment with one compared list. */
static void put_trials(struct ek_buf *out, struct ek_text instance, int routes)
{
    struct ek_serialize w;
    struct ek_fleet_head head = head_of(instance, 1);
    ek_record_writer_start(&w, out, EK_FLEET_COMPARISONS);
    ek_fleet_head_walk(&w, &head);
    for (int i = 0; i < 1 + 4 + EK_LATENCY_WINDOW_BINS; i++) /* drifted, of lists and dead, times */
        ek_record_write(&w, 0);
    ek_record_write(&w, (uint64_t)routes);
    for (int i = 0; i < routes; i++) {
        struct ek_fleet_cell cell = value(i);
        ek_wire_cell(&w, &ARM, &cell);
        ek_wire_text(&w, &(struct ek_text){"price", sizeof "price" - 1}, EK_FLEET_NAME_MAX);
        ek_wire_word(&w, ek_action_name(EK_ACT_ROUTE), ek_action_parse);
        ek_record_write(&w, 0);
        ek_record_write(&w, 0);                               /* its sequence number */
        ek_record_write(&w, 1);                               /* compared */
        for (int n = 0; n < 4 + 2 * 6 + EK_MEAN_EVALUES; n++) /* other counts, ranks, evidence */
            ek_record_write(&w, 0);
    }
    must(ek_record_writer_finish(&w));
}

static int next_place(void *context, const struct ek_fleet_cell *cell, int *place)
{
    int *next = context;
    (void)cell;
    *place = (*next)++;
    return EK_OK;
}

static int take_trials(struct ek_fleet_guardrails *r, const char *name, int routes,
                       int64_t clock_ms, int *place)
{
    struct ek_buf b;
    ek_buf_init(&b, LARGE);
    put_trials(&b, stream_text(name), routes);
    int rc = ek_fleet_guardrails_receive(r, b.data, b.length, 0, clock_ms, next_place, place, NULL);
    ek_buf_release(&b);
    return rc;
}

static bool is_tried(struct ek_fleet_guardrails *r, int place)
{
    struct ek_rollout_stats figures;
    const struct ek_plan_entry entry = {
        .feature = PRICE, .cell = (int16_t)place, .treatment = {.action = EK_ACT_ROUTE}};
    return ek_fleet_guardrails_stats(r, &entry, 0, &figures);
}

START_TEST(of_16384_routes_and_instances_what_was_tried_counts_and_of_more_nothing_does)
{
    enum { INSTANCES = EK_FLEET_COMPARED_MAX / EK_PLAN_MAX };
    struct ek_fleet_guardrails *r = NULL;
    char name[16];
    int place = 0;
    must(ek_fleet_guardrails_new(&r, features()));
    for (int i = 0; i < INSTANCES; i++) {
        snprintf(name, sizeof name, "node-%d", i);
        ck_assert_int_eq(take_trials(r, name, EK_PLAN_MAX, 0, &place), EK_OK);
    }
    ck_assert_int_eq(place, EK_FLEET_COMPARED_MAX);
    ck_assert_int_eq(take_trials(r, "more", 1, 0, &place), EK_OK);
    ck_assert(is_tried(r, 0) && is_tried(r, EK_FLEET_COMPARED_MAX - 1));
    ck_assert(!is_tried(r, EK_FLEET_COMPARED_MAX));
    ek_fleet_guardrails_free(r);
}
END_TEST

START_TEST(what_an_instance_has_tried_stays_when_it_gives_its_place_to_a_new_one)
{
    struct ek_fleet_guardrails *r = NULL;
    char name[16];
    int place = 0;
    must(ek_fleet_guardrails_new(&r, features()));
    for (int i = 0; i < EK_FLEET_INSTANCES_MAX; i++) {
        snprintf(name, sizeof name, "node-%d", i);
        ck_assert_int_eq(take_trials(r, name, 1, i, &place), EK_OK);
    }
    ck_assert_int_eq(take_trials(r, "more", 1, EK_FLEET_EXPIRED_MS, &place), EK_ENOMEM);
    ck_assert_int_eq(take_trials(r, "more", 1, EK_FLEET_EXPIRED_MS + 1, &place), EK_OK);
    ck_assert(is_tried(r, 0) && is_tried(r, 1) && is_tried(r, place - 1));
    ek_fleet_guardrails_free(r);
}
END_TEST

Suite *suite_limits_fleet(void)
{
    return ek_suite("limits of a fleet", a_tick_beyond_a_limit_is_refused_and_one_at_it_is_read,
                    a_plan_beyond_a_limit_is_refused_and_one_at_it_is_read, an_answer_has_4096_rows,
                    a_fleet_has_1024_instances_and_one_more_when_one_is_gone,
                    a_fleet_pools_256_cells_and_counts_what_is_told_of_others,
                    of_65_alarms_of_a_tick_the_last_is_given_out_with_the_next,
                    of_16384_routes_and_instances_what_was_tried_counts_and_of_more_nothing_does,
                    what_an_instance_has_tried_stays_when_it_gives_its_place_to_a_new_one);
}
