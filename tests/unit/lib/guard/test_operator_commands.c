/* Pins of operators and rules, and the pause: their effect on lists, events and state. */
#include "tests/check.h"
#include "tests/guard_model.h"
#include "tests/state_world.h"
#include "tests/stream.h"

#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "guard/operator_commands.h"
#include "guard/operator_json.h"

enum { TRAINING = 4000, PRICE = 0 };

#define OBSERVE "version: 1\ndefaults: {mode: observe, confirmation_lists: 64}\nsegments: [arm]\n"
#define ENFORCE                                                                                    \
    "version: 1\ndefaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\nsegments: " \
    "[arm]\n"

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct stream stream;
    struct ek_buf message;
    struct state_store store;
    double price;     /* of arm B, relative to training */
    int routed[2];    /* lists of arm A, of arm B */
    int paused;       /* lists */
    char *decided[9]; /* the first events */
    int decisions;
    char found[1500], plan[1500]; /* the last such events */
};

static struct ek_rules *rules_of(const struct ek_manifest *m, const char *text)
{
    struct ek_rules *rules = NULL;
    struct ek_error e = {0};
    int rc = ek_rules_parse(&rules, m, "rules", text, strlen(text), &e);
    ck_assert_msg(!rc, "%s", e.message);
    return rules;
}

static struct bench *bench_with(const char *rules, int cells, bool model)
{
    struct bench *b = calloc(1, sizeof *b);
    struct ek_assets *a = &b->assets;
    a->manifest = stream_manifest();
    a->profile = stream_profile(a->manifest, TRAINING);
    a->model = model ? guard_model(a->manifest) : NULL;
    a->rules = rules_of(a->manifest, rules);
    a->cells = cells;
    must(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL));
    must(ek_guard_new(&b->guard, a, NULL));
    stream_start(&b->stream, 21);
    b->stream.number = 1000; /* seconds: a stream with event time */
    ek_buf_init(&b->message, 0);
    b->price = 1;
    return b;
}

static struct bench *bench_of(const char *rules)
{
    return bench_with(rules, 0, true);
}

static void forget(struct bench *b)
{
    for (int i = 0; i < b->decisions && i < 9; i++)
        free(b->decided[i]);
    b->decisions = b->paused = b->routed[0] = b->routed[1] = 0;
}

static void bench_free(struct bench *b)
{
    forget(b);
    ek_buf_release(&b->message);
    stream_end(&b->stream);
    ek_guard_free(b->guard);
    state_clear(&b->store);
    ek_assets_release(&b->assets);
    free(b);
}

static void read_events(struct bench *b)
{
    const char *text;
    while (ek_guard_next_event(b->guard, &text)) {
        if (!strncmp(text, "{\"event\":\"decision\"", 19) && b->decisions++ < 9)
            b->decided[b->decisions - 1] = strdup(text);
        if (!strncmp(text, "{\"event\":\"finding\"", 18))
            snprintf(b->found, sizeof b->found, "%s", text);
        if (!strncmp(text, "{\"event\":\"plan\"", 15))
            snprintf(b->plan, sizeof b->plan, "%s", text);
    }
}

/* Run a list per second. */
static void run(struct bench *b, int lists)
{
    size_t length;
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&b->stream);
        if (b->stream.arm_b)
            stream_scale(q, PRICE, b->price);
        ek_buf_clear(&b->message);
        must(ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &b->message, NULL));
        must(ek_guard_observe(b->guard, b->message.data, b->message.length, q->time_ms, NULL));
        const void *out = ek_guard_score(b->guard, &length, NULL);
        ck_assert_ptr_nonnull(out);
        const char *action = ek_guard_action(b->guard);
        b->routed[b->stream.arm_b] += !strcmp(action, "routed");
        b->paused += !strcmp(action, "paused");
        if (strcmp(action, "routed") != 0)
            ck_assert(length == b->message.length && !memcmp(out, b->message.data, length));
        read_events(b);
    }
}

static void pin(struct bench *b, const char *value, const char *action, int64_t until_ms)
{
    struct ek_error e = {0};
    int rc = ek_guard_pin(b->guard, "price", value ? "arm" : NULL, value, action, until_ms, "ana",
                          "miles", &e);
    ck_assert_msg(!rc, "%s", e.message);
    read_events(b);
}

static void unpin(struct bench *b, const char *value)
{
    struct ek_error e = {0};
    int rc = ek_guard_unpin(b->guard, "price", value ? "arm" : NULL, value, "ana", NULL, &e);
    ck_assert_msg(!rc, "%s", e.message);
    read_events(b);
}

/* Check that all or none of an arm's lists since the last call were routed. */
static void ck_routed(struct bench *b, bool a, bool b_too)
{
    forget(b);
    run(b, 40);
    ck_assert(a ? b->routed[0] > 5 : !b->routed[0]);
    ck_assert(b_too ? b->routed[1] > 5 : !b->routed[1]);
    if (a && b_too)
        ck_assert_int_eq(b->routed[0] + b->routed[1], 40);
}

static void ck_decided(const struct bench *b, int number, const char *part)
{
    ck_assert_int_lt(number, b->decisions);
    ck_assert_msg(strstr(b->decided[number], part) != NULL, "no '%s' in %s", part,
                  b->decided[number]);
}

/* In any mode. */
START_TEST(a_pin_of_a_person_acts_from_the_next_list_on)
{
    struct bench *b = bench_of(OBSERVE);
    run(b, 20);
    pin(b, "B", "route", 0);
    ck_assert_int_eq(b->decisions, 1);
    ck_decided(b, 0,
               "\"list\":20,\"time_ms\":1019000,\"type\":\"pin\",\"actor\":\"ana\","
               "\"plan\":{\"before\":0,\"after\":1},\"feature\":\"price\","
               "\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route\"");
    ck_decided(b, 0, "\"reason\":\"miles\"");
    ck_routed(b, false, true);
    unpin(b, "B");
    ck_decided(b, 0, "\"type\":\"unpin\",\"actor\":\"ana\",\"plan\":{\"before\":1,\"after\":2}");
    ck_routed(b, false, false);
    pin(b, NULL, "route", 0);
    ck_routed(b, true, true);
    pin(b, "A", "none", 0);
    ck_routed(b, false, true);
    bench_free(b);
}
END_TEST

START_TEST(a_value_is_pinned_before_its_first_list)
{
    struct bench *b = bench_of(OBSERVE);
    pin(b, "B", "route", 0);
    ck_routed(b, false, true);
    bench_free(b);
}
END_TEST

START_TEST(a_pin_runs_out_in_stream_time)
{
    struct bench *b = bench_of(OBSERVE);
    run(b, 10);
    pin(b, NULL, "route", 1000 * (1010 + 25));
    forget(b);
    run(b, 40);
    ck_assert_int_eq(b->routed[0] + b->routed[1], 25);
    ck_assert_int_eq(b->decisions, 1);
    ck_decided(b, 0,
               "\"time_ms\":1035000,\"type\":\"expired\",\"actor\":\"system\","
               "\"plan\":{\"before\":1,\"after\":2},\"feature\":\"price\",\"segment\":null");
    ck_decided(b, 0, "\"reason\":\"the pin of ana has expired: miles\"");
    struct ek_error e = {0};
    ck_assert_int_eq(ek_guard_unpin(b->guard, "price", NULL, NULL, NULL, NULL, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "'price' is not pinned there");
    ck_assert_int_eq(ek_guard_pin(b->guard, "price", NULL, NULL, "route", 1040000, NULL, NULL, &e),
                     EK_EUSAGE);
    ck_assert_str_eq(e.message,
                     "the pin would be over: it ends at 1970-01-01T00:17:20.000Z, and the "
                     "stream is at 1970-01-01T00:17:29.000Z");
    bench_free(b);
}
END_TEST

START_TEST(a_pin_goes_before_what_findings_want)
{
    struct bench *b = bench_of(ENFORCE);
    run(b, 300);
    b->price = 100;
    run(b, 300);
    ck_routed(b, false, true);
    pin(b, "B", "none", 0);
    ck_routed(b, false, false);
    unpin(b, "B");
    ck_routed(b, false, true);
    bench_free(b);
}
END_TEST

START_TEST(the_same_place_is_pinned_once)
{
    struct bench *b = bench_of(OBSERVE);
    run(b, 10);
    pin(b, NULL, "none", 0);
    pin(b, NULL, "route", 0);
    ck_routed(b, true, true);
    unpin(b, NULL);
    ck_routed(b, false, false);
    bench_free(b);
}
END_TEST

#define PINNED                                                                                     \
    OBSERVE "pins:\n"                                                                              \
            "  - {feature: price, segment: {arm: B}, action: route, reason: miles}\n"              \
            "  - {feature: size, action: route, until: 1970-01-01T00:15:00Z}\n"                    \
            "  - {feature: size, segment: {arm: B}, action: route, until: 1970-01-01T00:17:30Z}\n"

START_TEST(a_pin_of_the_rules_routes_from_the_first_list_on)
{
    struct bench *b = bench_of(OBSERVE "pins: [{feature: price, action: route, reason: miles}]\n");
    ck_routed(b, true, true);
    ck_assert_int_eq(b->decisions, 0);
    bench_free(b);
}
END_TEST

/* One of them expired before the first list: it has no event. */
START_TEST(pins_of_the_rules_run_out_too)
{
    struct bench *b = bench_of(PINNED);
    ck_routed(b, false, true);
    ck_assert_int_eq(b->decisions, 0);
    ck_routed(b, false, true);
    ck_assert_int_eq(b->decisions, 1);
    ck_decided(b, 0, "\"time_ms\":1050000,\"type\":\"expired\"");
    ck_decided(b, 0, "\"feature\":\"size\",\"segment\":{\"arm\":\"B\"}");
    ck_decided(b, 0, "\"reason\":\"the pin of the rules, line 7, column 5, has expired\"");
    struct ek_error e = {0};
    ck_assert_int_eq(ek_guard_unpin(b->guard, "size", "arm", "B", NULL, NULL, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "'size' is not pinned there");
    ck_assert_int_eq(ek_controller_plan(b->guard->control)->count, 1);
    bench_free(b);
}
END_TEST

START_TEST(a_pin_of_a_person_goes_before_one_of_the_rules)
{
    struct bench *b = bench_of(PINNED);
    struct ek_error e = {0};
    run(b, 100);
    ck_routed(b, false, true);
    pin(b, "B", "none", 0);
    ck_routed(b, false, false);
    unpin(b, "B");
    ck_routed(b, false, true);
    ck_assert_int_eq(ek_guard_unpin(b->guard, "price", "arm", "B", NULL, NULL, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message,
                                 "'price' is pinned there by the rules, line 5, column 5: "
                                 "remove that pin from the file"));
    ck_routed(b, false, true);
    bench_free(b);
}
END_TEST

/* Check that nothing changes and no event is sent. */
static void ck_refused(struct bench *b, int rc, int code, const struct ek_error *e,
                       const char *hint)
{
    const char *event;
    ck_assert_int_eq(rc, code);
    ck_assert_msg(strstr(e->message, hint) != NULL, "%s", e->message);
    ck_assert_int_eq(ek_guard_next_event(b->guard, &event), 0);
}

START_TEST(a_pin_that_finds_no_cell_changes_nothing)
{
    struct bench *b = bench_with(OBSERVE, 2, true);
    struct ek_error e = {0};
    run(b, 10);
    pin(b, "A", "route", 0);
    int rc = ek_guard_pin(b->guard, "price", "arm", "C", "route", 0, NULL, NULL, &e);
    ck_refused(b, rc, EK_ELIMIT, &e, "no cell is left for arm=C, all are in use");
    ck_routed(b, true, false);
    bench_free(b);
}
END_TEST

START_TEST(what_is_no_name_is_refused_with_the_nearest)
{
    struct bench *b = bench_of(OBSERVE);
    struct ek_guard *g = b->guard;
    struct ek_error e = {0};
    char long_text[600];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    run(b, 10);
    static const struct {
        const char *feature, *segment, *value, *action;
        int code;
        const char *hint;
    } wrong[] = {
        {"prise", NULL, NULL, "route", EK_EUSAGE, "did you mean 'price'?"},
        {"nights", NULL, NULL, "route", EK_EUSAGE, "query feature 'nights' is not watched"},
        {"price", "arms", "B", "route", EK_EUSAGE, "did you mean 'arm'?"},
        {"price", "arm", NULL, "route", EK_EUSAGE, "needs a value"},
        {"price", NULL, NULL, "routes", EK_EUSAGE, "did you mean 'route'?"},
        {"price", NULL, NULL, "stop", EK_EUSAGE, "expected none, alert, route"},
        {"price", NULL, NULL, "repair", EK_EUSAGE, "a pin cannot repair"},
        {"flag", NULL, NULL, "blank", EK_EUSAGE, "needs a routable feature"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int rc = ek_guard_pin(g, wrong[i].feature, wrong[i].segment, wrong[i].value,
                              wrong[i].action, 0, NULL, NULL, &e);
        ck_refused(b, rc, wrong[i].code, &e, wrong[i].hint);
    }
    int rc = ek_guard_pin(g, "price", NULL, NULL, "route", 0, long_text, NULL, &e);
    ck_refused(b, rc, EK_EUSAGE, &e, "the author has 599 bytes, at most 64");
    rc = ek_guard_pin(g, "price", NULL, NULL, "route", 0, NULL, long_text, &e);
    ck_refused(b, rc, EK_EUSAGE, &e, "the reason has 599 bytes, at most 500");
    rc = ek_guard_pin(g, "price", "arm", long_text, "route", 0, NULL, NULL, &e);
    ck_refused(b, rc, EK_EUSAGE, &e, "a value that is pinned has at most 200 bytes, not 599");
    rc = ek_guard_unpin(g, "price", "arm", "C", NULL, NULL, &e);
    ck_refused(b, rc, EK_ESTATE, &e, "'price' is not pinned there");
    const char *event;
    must(ek_guard_pause(g, NULL, NULL, &e));
    while (ek_guard_next_event(g, &event))
        continue;
    rc = ek_guard_pin(g, NULL, NULL, NULL, "route", 0, NULL, NULL, &e);
    ck_refused(b, rc, EK_EUSAGE, &e, "needs the name of a feature");
    struct ek_decision_record since;
    ck_assert(ek_guard_paused(g, &since));
    must(ek_guard_pin(g, "flag", NULL, NULL, "none", 0, NULL, NULL, &e));
    bench_free(b);
}
END_TEST

START_TEST(without_a_model_nothing_can_be_routed)
{
    struct bench *b = bench_with(PINNED, 0, false);
    struct ek_error e = {0};
    run(b, 10);
    int rc = ek_guard_pin(b->guard, "price", NULL, NULL, "route", 0, NULL, NULL, &e);
    ck_refused(b, rc, EK_ESTATE, &e, "there is no model");
    ck_assert_int_eq(ek_controller_plan(b->guard->control)->count, 0);
    bench_free(b);
}
END_TEST

START_TEST(there_are_at_most_a_thousand_pins)
{
    struct bench *b = bench_with(OBSERVE, EK_PINS_MAX, true);
    struct ek_error e = {0};
    char value[20];
    for (int i = 0; i < EK_PINS_MAX; i++) {
        snprintf(value, sizeof value, "v%d", i / 2);
        must(ek_guard_pin(b->guard, i % 2 ? "price" : "size", "arm", value, "route", 0, NULL, NULL,
                          &e));
    }
    read_events(b);
    int rc = ek_guard_pin(b->guard, "price", NULL, NULL, "route", 0, NULL, NULL, &e);
    ck_refused(b, rc, EK_ELIMIT, &e, "at most 1000 pins");
    must(ek_guard_unpin(b->guard, "price", "arm", "v7", NULL, NULL, &e));
    must(ek_guard_pin(b->guard, "price", NULL, NULL, "route", 0, NULL, NULL, &e));
    bench_free(b);
}
END_TEST

START_TEST(an_instance_of_a_fleet_cannot_be_pinned_alone)
{
    struct bench *b = bench_of(OBSERVE);
    struct ek_error e = {0};
    must(ek_guard_join(b->guard, "a", 1, 16, NULL));
    int rc = ek_guard_pin(b->guard, "price", NULL, NULL, "route", 0, NULL, NULL, &e);
    ck_refused(b, rc, EK_ESTATE, &e, "submit the command to the fleet");
    must(ek_guard_pause(b->guard, "ana", NULL, &e));
    bench_free(b);
    b = bench_of(PINNED); /* pins of the rules always apply */
    must(ek_guard_join(b->guard, "a", 1, 16, &e));
    bench_free(b);
}
END_TEST

static void pause(struct bench *b, bool on)
{
    struct ek_error e = {0};
    int rc =
        on ? ek_guard_pause(b->guard, "ana", "odd", &e) : ek_guard_resume(b->guard, "bo", NULL, &e);
    ck_assert_msg(!rc, "%s", e.message);
    read_events(b);
}

START_TEST(while_it_is_paused_every_list_passes_as_it_came)
{
    struct bench *b = bench_of(ENFORCE);
    run(b, 300);
    b->price = 100;
    run(b, 300);
    ck_routed(b, false, true);
    forget(b);
    pause(b, true);
    pause(b, true); /* the first reason is kept */
    ck_assert_int_eq(b->decisions, 1);
    ck_decided(b, 0, "\"type\":\"pause\",\"actor\":\"ana\",\"plan\":{\"before\":1,\"after\":2}");
    run(b, 100);
    ck_assert_int_eq(b->paused, 100);
    forget(b);
    pause(b, false);
    ck_decided(b, 0, "\"type\":\"resume\",\"actor\":\"bo\",\"plan\":{\"before\":2,\"after\":3}");
    ck_routed(b, false, true);
    bench_free(b);
}
END_TEST

static void ck_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no '%s' in %s", part, text);
}

START_TEST(what_is_found_during_a_pause_is_not_enforced_until_it_is_over)
{
    struct bench *b = bench_of(ENFORCE);
    run(b, 300);
    pause(b, true);
    b->price = 100;
    run(b, 300);
    ck_has(b->found, "\"mitigation\":\"route\",\"mode\":\"enforce\",\"paused\":true");
    ck_has(b->found, "; action: route, not enforced while all is paused\"");
    ck_assert_int_eq(b->decisions, 1);
    ck_has(b->plan, "\"entries\":[]");
    forget(b);
    pause(b, false);
    ck_has(b->found, "\"state\":\"updated\"");
    ck_has(b->found, "\"mitigation\":\"route\",\"mode\":\"enforce\",\"incident_id\"");
    ck_has(b->plan, "\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route\"");
    ck_assert_int_eq(b->decisions, 2);
    ck_decided(b, 0, "\"type\":\"route\",\"actor\":\"system\"");
    ck_decided(b, 1, "\"type\":\"resume\",\"actor\":\"bo\"");
    forget(b);
    pause(b, true);
    ck_has(b->found, "\"mode\":\"enforce\",\"paused\":true");
    bench_free(b);
}
END_TEST

static int resume_price(struct bench *b, struct ek_error *e)
{
    int rc = ek_guard_resume_route(b->guard, "price", "arm", "B", "bo", "checked", e);
    read_events(b);
    return rc;
}

START_TEST(with_recover_manual_a_person_ends_a_route_whose_fault_is_gone)
{
    struct bench *b = bench_of(
        "version: 1\n"
        "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s, recover: manual}\n"
        "segments: [arm]\n");
    struct ek_error e;
    run(b, 300);
    b->price = 100;
    run(b, 300);
    ck_routed(b, false, true);
    ck_assert_int_eq(resume_price(b, &e), EK_ESTATE);
    b->price = 1;
    run(b, 300);
    ck_has(b->found, "\"state\":\"recovered\"");
    ck_has(b->found, "\"stays\":true");
    ck_has(b->found, "back to normal; its route stays until 'evenkeel resume --feature price "
                     "--segment arm=B' ends it");
    ck_has(b->plan, "\"source\":\"finding\",\"fault_cleared\":true");
    ck_routed(b, false, true);
    ck_assert_int_eq(resume_price(b, &e), EK_OK);
    ck_decided(b, 0, "\"type\":\"end\"");
    ck_decided(b, 1, "\"type\":\"resume\",\"actor\":\"bo\"");
    ck_routed(b, false, false);
    bench_free(b);
}
END_TEST

static void ck_pins(struct bench *b, const char *want)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_guard_pins_json(b->guard, &out));
    ck_assert_str_eq(ek_buf_string(&out), want);
    ek_buf_release(&out);
}

/* An expired pin, or one overridden by an operator, is not active. */
START_TEST(the_pins_in_force_are_shown)
{
    static const char of_rules[] = "{\"feature\":\"size\",\"segment\":{\"arm\":\"B\"},\"action\":"
                                   "\"route\",\"until_ms\":1050000,\"actor\":null,\"reason\":null,"
                                   "\"source\":\"rules\"}";
    char want[1000];
    struct bench *b = bench_of(PINNED);
    run(b, 10);
    snprintf(want, sizeof want,
             "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"action\":\"route\",\"until_"
             "ms\":null,"
             "\"actor\":null,\"reason\":\"miles\",\"source\":\"rules\"},%s]",
             of_rules);
    ck_pins(b, want);
    pin(b, "B", "none", 1040000);
    snprintf(want, sizeof want,
             "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"action\":\"none\",\"until_ms\":"
             "1040000,"
             "\"actor\":\"ana\",\"reason\":\"miles\",\"source\":\"operator\"},%s]",
             of_rules);
    ck_pins(b, want);
    run(b, 100);
    ck_pins(b, "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"action\":\"route\",\"until_"
               "ms\":null,"
               "\"actor\":null,\"reason\":\"miles\",\"source\":\"rules\"}]");
    bench_free(b);
}
END_TEST

/* Return another guard restored from its state. */
static struct ek_guard *again(struct bench *b)
{
    struct ek_guard *g = NULL;
    struct ek_error e = {0};
    enum ek_restore_result fit;
    must(ek_guard_save(b->guard, 1, "", 0, state_put, &b->store, NULL));
    struct ek_state *state = state_of(&b->store, 1);
    int rc = ek_guard_load(&g, &b->assets, state, &fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ek_state_free(state);
    return g;
}

START_TEST(pins_and_a_pause_come_back_with_the_state)
{
    struct bench *b = bench_of(PINNED);
    struct ek_decision_record since;
    run(b, 100);
    pin(b, "A", "route", 1000 * 1200);
    pause(b, true);
    uint64_t version = ek_guard_plan_version(b->guard);
    struct ek_guard *g = again(b);
    ek_guard_free(b->guard);
    b->guard = g;
    ck_assert(ek_guard_paused(g, &since));
    ck_assert_str_eq(since.actor, "ana");
    ck_assert_str_eq(since.reason, "odd");
    forget(b);
    run(b, 20);
    ck_assert_int_eq(b->paused, 20);
    ck_assert_uint_eq(ek_guard_plan_version(g), version);
    pause(b, false);
    ck_assert(!ek_guard_paused(g, &since));
    ck_routed(b, true, true);
    run(b, 40);
    forget(b);
    run(b, 1);
    ck_decided(b, 0, "\"reason\":\"the pin of ana has expired: miles\"");
    ck_routed(b, false, true); /* that of the rules */
    bench_free(b);
}
END_TEST

/* Under another profile all other state restarts. */
START_TEST(a_pause_outlives_the_profile)
{
    struct bench *b = bench_of(OBSERVE);
    struct ek_guard *g = NULL;
    enum ek_restore_result fit;
    run(b, 20);
    pause(b, true);
    must(ek_guard_save(b->guard, 1, "", 0, state_put, &b->store, NULL));
    ek_profile_free(b->assets.profile);
    b->assets.profile = stream_profile(b->assets.manifest, TRAINING / 2);
    struct ek_state *state = state_of(&b->store, 1);
    must(ek_guard_load(&g, &b->assets, state, &fit, NULL));
    ck_assert_int_eq(fit, EK_RESTORE_COUNTERS_ONLY);
    ek_guard_free(b->guard);
    b->guard = g;
    forget(b);
    run(b, 10);
    ck_assert_int_eq(b->paused, 10);
    pause(b, false);
    run(b, 10);
    ck_assert_int_eq(b->paused, 10);
    ek_state_free(state);
    bench_free(b);
}
END_TEST

/* The other guard's older decisions follow those of this one in its history. */
START_TEST(a_pause_outlives_a_merge_and_then_the_profile)
{
    struct bench *b = bench_of(OBSERVE), *other = bench_of(OBSERVE);
    struct ek_decision_record since;
    struct ek_guard *g = NULL;
    enum ek_restore_result fit;
    run(other, 10);
    pause(other, true);
    pause(other, false);
    run(b, 200);
    pause(b, true);
    int64_t paused_ms = b->guard->time_ms;
    must(ek_guard_merge(b->guard, other->guard, NULL));
    ck_assert(ek_guard_paused(b->guard, &since));
    ck_assert_int_eq(since.time_ms, paused_ms);
    ck_assert_str_eq(since.actor, "ana");
    must(ek_guard_save(b->guard, 1, "", 0, state_put, &b->store, NULL));
    ek_profile_free(b->assets.profile);
    b->assets.profile = stream_profile(b->assets.manifest, TRAINING / 2);
    struct ek_state *state = state_of(&b->store, 1);
    must(ek_guard_load(&g, &b->assets, state, &fit, NULL));
    ck_assert_int_eq(fit, EK_RESTORE_COUNTERS_ONLY);
    ck_assert(ek_guard_paused(g, &since));
    ek_guard_free(g);
    ek_state_free(state);
    bench_free(other);
    bench_free(b);
}
END_TEST

/* A value has another cell there, or none yet. */
START_TEST(pins_and_a_pause_go_to_a_guard_that_is_joined)
{
    struct bench *b = bench_of(OBSERVE), *other = bench_of(OBSERVE);
    pin(b, "C", "route", 0);
    pin(b, NULL, "none", 0);
    run(b, 20);
    pin(other, "A", "none", 0);
    pin(other, "B", "route", 0);
    pin(other, NULL, "route", 0);
    pause(other, true);
    must(ek_guard_merge(b->guard, other->guard, NULL));
    read_events(b);
    forget(b);
    run(b, 5);
    ck_assert_int_eq(b->paused, 5);
    pause(b, false);
    ck_routed(b, false, true);
    unpin(b, NULL); /* that of the surviving guard stays */
    unpin(b, "C");
    unpin(b, "A");
    unpin(b, "B");
    ck_routed(b, false, false);
    bench_free(other);
    bench_free(b);
}
END_TEST

START_TEST(a_guard_in_the_place_of_a_paused_one_is_paused)
{
    struct bench *b = bench_of(OBSERVE), *other = bench_of(OBSERVE);
    struct ek_decision_record since;
    run(b, 20);
    must(ek_guard_copy_pause(b->guard, other->guard, NULL));
    ck_assert(!ek_guard_paused(b->guard, &since));
    pause(other, true);
    must(ek_guard_copy_pause(b->guard, other->guard, NULL));
    ck_assert(ek_guard_paused(b->guard, &since));
    ck_assert_str_eq(since.actor, "ana");
    run(b, 20);
    ck_assert_int_eq(b->paused, 20);
    ck_assert_int_eq(b->decisions, 0);
    bench_free(other);
    bench_free(b);
}
END_TEST

Suite *suite_operator_commands(void)
{
    return ek_suite(
        "orders", a_pin_of_a_person_acts_from_the_next_list_on,
        a_value_is_pinned_before_its_first_list, a_pin_runs_out_in_stream_time,
        a_pin_goes_before_what_findings_want, the_same_place_is_pinned_once,
        a_pin_of_the_rules_routes_from_the_first_list_on, pins_of_the_rules_run_out_too,
        a_pin_of_a_person_goes_before_one_of_the_rules, a_pin_that_finds_no_cell_changes_nothing,
        what_is_no_name_is_refused_with_the_nearest, without_a_model_nothing_can_be_routed,
        there_are_at_most_a_thousand_pins, an_instance_of_a_fleet_cannot_be_pinned_alone,
        while_it_is_paused_every_list_passes_as_it_came, the_pins_in_force_are_shown,
        what_is_found_during_a_pause_is_not_enforced_until_it_is_over,
        with_recover_manual_a_person_ends_a_route_whose_fault_is_gone,
        pins_and_a_pause_come_back_with_the_state, pins_and_a_pause_go_to_a_guard_that_is_joined,
        a_guard_in_the_place_of_a_paused_one_is_paused, a_pause_outlives_the_profile,
        a_pause_outlives_a_merge_and_then_the_profile);
}
