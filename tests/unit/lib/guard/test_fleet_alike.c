/* Rules have the same effect with one instance and in a fleet. The same lists through one guard, a
 * fleet of one and a fleet of two yield the same findings, incidents, decisions and limits. */
#include "fleet/command_record.h"
#include "fleet/leader.h"
#include "guard/guard_fleet.h"
#include "guard/operator_commands.h"
#include "guard/public.h"
#include "lists/codec.h"
#include "serve/assets.h"
#include "tests/check.h"
#include "tests/guard_model.h"
#include "tests/must.h"
#include "tests/stream.h"

enum {
    TRAINING = 4000,
    TICK_LISTS = 20,
    WARM = 20,
    FAULTY = 60,
    AFTER = 90,
    LINES = 64,
    LINE = 160
};

/* Reported lines, unique and sorted. */
struct report {
    int count;
    char line[LINES][LINE];
};

struct side {
    struct ek_guard *guard[2];
    struct stream stream;
    struct ek_leader *leader; /* NULL: a standalone guard */
    int guards, ticks;
    struct report report;
    bool limited;   /* compare only limits, as start and end of a route depend on timing */
    uint32_t cause; /* of the last finding */
    char place[LINE];
};

static struct ek_assets assets;

static void add_line(struct report *r, const char *line)
{
    int at = 0;
    while (at < r->count && strcmp(r->line[at], line) < 0)
        at++;
    if (at < r->count && !strcmp(r->line[at], line))
        return;
    ck_assert_int_lt(r->count, LINES);
    memmove(r->line[at + 1], r->line[at], (size_t)(r->count++ - at) * LINE);
    memcpy(r->line[at], line, LINE);
}

static const char *value_of(const char *segment, const char *value)
{
    return segment && !value ? EK_SEGMENT_OTHER : value;
}

/* A first report lacks features that join an incident later, so two findings of one incident form a
 * line. */
static void add_finding(struct side *s, const struct ek_event_finding *f)
{
    char line[LINE] = {0}, place[LINE] = {0};
    snprintf(place, LINE, "%.40s %.20s=%.20s", f->at.feature, f->at.dimension,
             value_of(f->at.dimension, f->at.value));
    snprintf(line, LINE, "confirmed %.90s %s by %s", place, ek_class_name(f->class),
             ek_action_name(f->action));
    add_line(&s->report, line);
    if (f->incident && f->incident == s->cause && strcmp(place, s->place) != 0) {
        int first = strcmp(place, s->place) < 0;
        snprintf(line, LINE, "incident of %.70s and %.70s", first ? place : s->place,
                 first ? s->place : place);
        add_line(&s->report, line);
        ck_assert_int_eq(f->members, 2);
    }
    s->cause = f->incident;
    memcpy(s->place, place, LINE);
}

static void take_events(struct side *s, struct ek_guard *g)
{
    const struct ek_event *v;
    while ((v = ek_guard_pop_event(g))) {
        char line[LINE] = {0};
        const struct ek_decision_record *d = &v->decision;
        if (v->kind == EK_EVENT_FINDING && v->finding.state == EK_CONFIRMED)
            add_finding(s, &v->finding);
        else if (v->kind == EK_EVENT_LIMIT)
            snprintf(line, LINE, "limit %d", (int)v->limit.bound);
        else if (v->kind == EK_EVENT_DECISION && (!s->limited || d->kind == EK_DECIDED_LIMIT))
            snprintf(line, LINE, "%s %s %s=%s %s", ek_decision_kind_name(d->kind), d->feature,
                     d->dimension, value_of(d->dimension, d->value), ek_action_name(d->action));
        if (*line)
            add_line(&s->report, line);
    }
}

static void begin(struct side *s, int instances)
{
    static const char *const name[] = {"a", "b"};
    const struct ek_leader_setup setup = {.manifest = assets.manifest,
                                          .profile = assets.profile,
                                          .rules = assets.rules,
                                          .means = {.model = true},
                                          .name = "a"};
    *s = (struct side){.guards = instances ? instances : 1,
                       .limited = assets.rules->max_routed_features < 2};
    stream_start(&s->stream, 50);
    for (int i = 0; i < s->guards; i++)
        must(ek_guard_new(&s->guard[i], &assets, NULL));
    for (int i = 0; i < instances; i++)
        must(ek_guard_join(s->guard[i], name[i], 1, 0, NULL));
    if (!instances)
        return;
    must(ek_leader_new(&s->leader, &setup, NULL));
    ek_leader_start(s->leader, 0);
}

static void end(struct side *s)
{
    stream_end(&s->stream);
    for (int i = 0; i < s->guards; i++)
        ek_guard_free(s->guard[i]);
    ek_leader_free(s->leader);
}

static int to_leader(void *context, const void *bytes, size_t length)
{
    struct side *s = context;
    return ek_leader_receive(s->leader, bytes, length, s->ticks * 1000, NULL);
}

static void publish(struct side *s)
{
    struct ek_buf record;
    ek_buf_init(&record, 0);
    for (int i = 0; i < s->guards; i++)
        must(ek_guard_write_report(s->guard[i], false, to_leader, s, NULL));
    must(ek_leader_advance(s->leader, s->ticks * 1000, &record, NULL));
    if (record.length)
        must(ek_leader_apply_record(s->leader, record.data, record.length, NULL));
    for (int i = 0; record.length && i < s->guards; i++)
        must(ek_guard_receive_plan(s->guard[i], record.data, record.length, s->ticks * 1000, NULL));
    ek_buf_release(&record);
}

static void pass(struct side *s, int number, const int *factor)
{
    struct ek_guard *g = s->guard[number % s->guards];
    struct ek_list *q = stream_next(&s->stream);
    struct ek_buf message;
    ek_buf_init(&message, 0);
    if (s->ticks > 5 && s->ticks < WARM && number < 2) /* a value without its own segment */
        q->segments[0].value = stream_text("C");
    for (int f = 0; factor && s->stream.arm_b && f < 2; f++)
        stream_scale(q, f, factor[f]);
    must(ek_codec_encode(assets.manifest, q, EK_FEATURES_ARRAY, &message, NULL));
    must(ek_guard_observe(g, message.data, message.length, q->time_ms, NULL));
    take_events(s, g);
    ek_buf_release(&message);
}

static void run(struct side *s, int ticks, const int *factor)
{
    for (int end_at = s->ticks + ticks; s->ticks < end_at;) {
        for (int n = 0; n < TICK_LISTS; n++)
            pass(s, n, factor);
        s->ticks++;
        if (s->leader)
            publish(s);
        for (int i = 0; i < s->guards; i++)
            take_events(s, s->guard[i]);
    }
}

static void give(struct side *s, const struct ek_order *o)
{
    struct ek_buf record;
    struct ek_error e = {0};
    ek_buf_init(&record, 0);
    if (!s->leader) {
        ck_assert_msg(!ek_guard_carry_out(s->guard[0], o, NULL, &e), "%s", e.message);
        return;
    }
    ck_assert_msg(!ek_guard_check_order(s->guard[0], o, &e), "%s", e.message);
    must(ek_fleet_order_write(o, assets.manifest->hash, &record));
    must(ek_leader_receive(s->leader, record.data, record.length, s->ticks * 1000, &e));
    ek_buf_release(&record);
}

/* The decision on a command is reported with its reply. */
static int take_answer(void *context, const void *bytes, size_t length)
{
    static struct ek_fleet_reply reply;
    struct side *s = context;
    char line[LINE] = {0};
    must(ek_fleet_reply_open(&reply, bytes, length, NULL));
    const struct ek_decision_record *d = &reply.decided.is;
    ck_assert_int_eq(reply.code, EK_OK);
    snprintf(line, LINE, "%s %s %s=%s %s", ek_decision_kind_name(d->kind), d->feature, d->dimension,
             value_of(d->dimension, d->value), ek_action_name(d->action));
    add_line(&s->report, line);
    return EK_OK;
}

static void follow(struct side *s, int instances, const struct ek_order *o, int orders)
{
    static const int factor[2] = {100, 1000};
    begin(s, instances);
    run(s, WARM, NULL);
    for (int i = 0; i < orders; i++)
        give(s, &o[i]);
    run(s, 2, NULL);
    if (s->leader)
        must(ek_leader_write_replies(s->leader, take_answer, s));
    run(s, FAULTY, factor);
    run(s, AFTER, NULL);
}

static void ck_alike(const char *rules, const struct ek_order *o, int orders, const char *has)
{
    static struct side side[3];
    bool found = false;
    assets = (struct ek_assets){.manifest = stream_manifest(), .cells = 3};
    assets.profile = stream_profile(assets.manifest, TRAINING);
    assets.model = guard_model(assets.manifest);
    must(ek_rules_parse(&assets.rules, assets.manifest, "rules", rules, strlen(rules), NULL));
    must(ek_codec_new(&assets.codec, assets.manifest, NULL, NULL, NULL));
    for (int i = 0; i < 3; i++)
        follow(&side[i], i, o, orders);
    for (int k = 0; k < side[0].report.count; k++)
        found |= strstr(side[0].report.line[k], has) != NULL;
    ck_assert_msg(found, "nothing has '%s'", has);
    for (int i = 1; i < 3; i++)
        for (int k = 0; k < LINES; k++)
            ck_assert_msg(!strcmp(side[i].report.line[k], side[0].report.line[k]),
                          "line %d, %d instances: '%s', alone '%s'", k, i, side[i].report.line[k],
                          side[0].report.line[k]);
    for (int i = 0; i < 3; i++)
        end(&side[i]);
    ek_assets_release(&assets);
}

START_TEST(findings_incidents_and_decisions_are_those_of_one_guard)
{
    ck_alike("version: 1\n"
             "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
             "segments: [arm]\n",
             NULL, 0, "incident of price arm=B and size arm=B");
}
END_TEST

START_TEST(a_limit_of_routed_features_is_that_of_one_guard)
{
    ck_alike("version: 1\n"
             "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
             "segments: [arm]\n"
             "limits: {max_routed_features: 0, on_limit: keep}\n",
             NULL, 0, "limit ");
}
END_TEST

START_TEST(a_limit_of_the_routed_share_is_that_of_one_guard)
{
    ck_alike("version: 1\n"
             "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
             "segments: [arm]\n"
             "limits: {max_routed_share: .3}\n",
             NULL, 0, "limit 7");
    ck_alike("version: 1\n"
             "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
             "segments: [arm]\n"
             "limits: {max_routed_share: .7}\n",
             NULL, 0, "route price arm=B route");
}
END_TEST

START_TEST(pins_are_those_of_one_guard)
{
    const struct ek_order order[] = {{.id = {ek_text_from("a"), 1, 1},
                                      .kind = EK_DECIDED_PIN,
                                      .feature = "price",
                                      .segment = "arm",
                                      .value = EK_SEGMENT_OTHER,
                                      .action = EK_ACT_ROUTE,
                                      .author = "ana"},
                                     {.id = {ek_text_from("a"), 1, 2},
                                      .kind = EK_DECIDED_PIN,
                                      .feature = "size",
                                      .segment = "arm",
                                      .value = "B",
                                      .action = EK_ACT_NONE}};
    ck_alike("version: 1\n"
             "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
             "segments: [arm]\n"
             "pins: [{feature: price, segment: {arm: A}, action: blank}]\n",
             order, 2, "pin price arm=(other) route");
}
END_TEST

Suite *suite_fleet_alike(void)
{
    return ek_suite("fleet_alike", findings_incidents_and_decisions_are_those_of_one_guard,
                    a_limit_of_routed_features_is_that_of_one_guard,
                    a_limit_of_the_routed_share_is_that_of_one_guard, pins_are_those_of_one_guard);
}
