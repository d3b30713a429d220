/* Events of plan changes: the action and its reason. */
#include "plan/route_controller.h"
#include "tests/check.h"
#include "tests/must.h"
#include "tests/stream.h"

enum { HOLD_MS = 60000, SAID_BYTES = 2000 };

/* Findings in arm B, which is cell 1. */
struct scene {
    struct ek_manifest *m;
    struct ek_rules *rules;
    struct ek_controller *control;
    char said[SAID_BYTES]; /* since the last call */
};

static int dimension_of(void *context, int cell)
{
    (void)context;
    return cell - 1;
}

static const char *name_of(void *context, int cell)
{
    (void)context;
    return cell ? "arm" : NULL;
}

static const char *value_of(void *context, int cell)
{
    (void)context;
    return cell ? "B" : NULL;
}

static int decided(void *context, const struct ek_decision_record *d)
{
    struct scene *s = context;
    size_t used = strlen(s->said);
    snprintf(s->said + used, SAID_BYTES - used, "%s: %s\n", ek_decision_kind_name(d->kind),
             d->reason);
    return EK_OK;
}

static struct ek_rules *rules_of(const struct scene *s, const char *mode)
{
    struct ek_rules *r = NULL;
    char text[200];
    snprintf(text, sizeof text, "segments: [arm]\ndefaults: {min_duration: 60s}\n");
    must(ek_rules_parse(&r, s->m, "r", text, strlen(text), NULL));
    for (int i = 0; i < r->feature_count; i++)
        r->feature[i].mode = (enum ek_mode)ek_mode_parse(mode);
    return r;
}

static struct ek_controller *control_of(struct scene *s)
{
    const struct ek_controller_setup setup = {
        .manifest = s->m,
        .rules = s->rules,
        .means = {.model = true},
        .cells = {.dimension_of = dimension_of, .name_of = name_of, .value_of = value_of},
        .callbacks = {.decided = decided, .context = s}};
    struct ek_controller *c = NULL;
    must(ek_controller_new(&c, &setup, NULL));
    return c;
}

static void start(struct scene *s, const char *mode)
{
    *s = (struct scene){.m = stream_manifest()};
    s->rules = rules_of(s, mode);
    s->control = control_of(s);
}

static void end(struct scene *s)
{
    ek_controller_free(s->control);
    ek_rules_free(s->rules);
    ek_manifest_free(s->m);
}

/* Advance the stream to that time. Return its events. */
static const char *told_at(struct scene *s, int64_t time_ms)
{
    bool changed;
    s->said[0] = 0;
    must(ek_controller_update(s->control, time_ms, 1, &changed));
    return s->said;
}

static const char *told_of(struct scene *s, enum ek_finding_state state, int64_t time_ms)
{
    const struct ek_finding cents = {.state = state,
                                     .cell = 1,
                                     .dimension = "arm",
                                     .value = "B",
                                     .class = EK_SCALE,
                                     .factor = 100,
                                     .factor_low = 95,
                                     .factor_high = 105,
                                     .share = 1,
                                     .query_feature = -1};
    ek_controller_add_finding(s->control, &cents, time_ms);
    return told_at(s, time_ms);
}

/* Continue the controller under other rules, as after a reload. */
static const char *told_under(struct scene *s, const char *mode, int64_t time_ms)
{
    struct ek_buf state;
    ek_buf_init(&state, 0);
    struct ek_serialize out = {.out = &state};
    ek_controller_desired_serialize(s->control, &out, 3, 2);
    ek_controller_serialize(s->control, &out, 3, 2);
    must(out.rc);
    struct ek_rules *rules = s->rules;
    ek_controller_free(s->control);
    s->rules = rules_of(s, mode);
    s->control = control_of(s);
    struct ek_serialize in = {.at = state.data, .end = state.data + state.length};
    ek_controller_desired_serialize(s->control, &in, 3, 2);
    ek_controller_serialize(s->control, &in, 3, 2);
    must(in.rc);
    ek_controller_restored(s->control, time_ms);
    ek_rules_free(rules);
    ek_buf_release(&state);
    return told_at(s, time_ms);
}

START_TEST(a_fault_that_goes_and_comes_is_counted)
{
    struct scene s;
    start(&s, "enforce");
    ck_assert_str_eq(told_of(&s, EK_CONFIRMED, 1000),
                     "route: a finding requests route: it is enforced\n");
    ck_assert_str_eq(told_of(&s, EK_RECOVERED, 2000), "");
    ck_assert_str_eq(told_at(&s, 2000 + HOLD_MS),
                     "end: no finding requires it, and the minimum duration is over\n");
    ck_assert_str_eq(
        told_of(&s, EK_CONFIRMED, 90000),
        "relapse: the fault has come back 1 time: route is enforced, and holds 2 min\n");
    ck_assert_str_eq(told_of(&s, EK_RECOVERED, 91000), "");
    ck_assert_str_eq(told_at(&s, 91000 + HOLD_MS), "");
    ck_assert_str_ne(told_at(&s, 91000 + 2 * HOLD_MS), "");
    ck_assert_str_eq(
        told_of(&s, EK_CONFIRMED, 300000),
        "relapse: the fault has come back 2 times: route is enforced, and holds 3 min\n");
    ck_assert_str_eq(told_under(&s, "observe", 400000), "end: the rules do not allow it to act\n");
    ck_assert_str_eq(told_under(&s, "enforce", 400000),
                     "route: a finding requests route: it is enforced\n");
    end(&s);
}
END_TEST

/* An accepted or dismissed finding ends its route at once: no minimum duration is over then. */
static const char *told_pause(struct scene *s, bool paused, int64_t time_ms)
{
    ek_controller_pause(s->control, paused, time_ms);
    return told_at(s, time_ms);
}

/* During a pause no start or end of an action is reported. */
START_TEST(what_changes_while_all_is_paused_is_told_afterwards)
{
    for (int kept = 0; kept < 2; kept++) { /* also after a restart */
        struct scene s;
        start(&s, "enforce");
        ck_assert_str_eq(told_pause(&s, true, 500), "");
        ck_assert_str_eq(told_of(&s, EK_CONFIRMED, 1000), "");
        ck_assert_str_eq(told_pause(&s, false, 2000),
                         "route: a finding requests route: it is enforced\n");
        ck_assert_str_eq(told_pause(&s, true, 3000), "");
        if (kept)
            ck_assert_str_eq(told_under(&s, "enforce", 3000), "");
        ck_assert_str_eq(told_of(&s, EK_RECOVERED, 4000), "");
        ck_assert_str_eq(told_at(&s, 4000 + HOLD_MS), "");
        ck_assert_str_eq(told_pause(&s, false, 5000 + HOLD_MS),
                         "end: no finding requires it since before the pause\n");
        ck_assert_str_eq(told_pause(&s, true, 6000 + HOLD_MS), "");
        ck_assert_str_eq(told_pause(&s, false, 7000 + HOLD_MS), "");
        end(&s);
    }
}
END_TEST

START_TEST(with_recover_manual_a_route_ends_when_somebody_says_so)
{
    struct scene s;
    struct ek_error e;
    start(&s, "enforce");
    s.rules->recover_auto = false;
    ck_assert_int_eq(ek_controller_resume(s.control, 0, 1, 500, &e), EK_ESTATE);
    told_of(&s, EK_CONFIRMED, 1000);
    ck_assert_int_eq(ek_controller_resume(s.control, 0, 1, 1500, &e),
                     EK_ESTATE); /* its fault is present */
    ck_assert_str_eq(told_of(&s, EK_RECOVERED, 2000), "");
    ck_assert_str_eq(told_at(&s, 2000 + 100 * HOLD_MS), "");
    ck_assert(ek_plan_awaits(&ek_controller_plan(s.control)->entry[0]));
    ck_assert_str_eq(told_of(&s, EK_CONFIRMED, 3000 + 100 * HOLD_MS), ""); /* it has returned */
    ck_assert(!ek_plan_awaits(&ek_controller_plan(s.control)->entry[0]));
    told_of(&s, EK_RECOVERED, 4000 + 100 * HOLD_MS);
    must(ek_controller_resume(s.control, 0, 1, 5000 + 100 * HOLD_MS, &e));
    ck_assert_str_eq(told_at(&s, 5000 + 100 * HOLD_MS),
                     "end: the fault has cleared, and an operator has ended it\n");
    ck_assert_int_eq(ek_controller_plan(s.control)->count, 0);
    end(&s);
}
END_TEST

/* As after a reload. */
START_TEST(rules_that_let_routes_end_do_so_with_those_that_wait)
{
    struct scene s;
    start(&s, "enforce");
    s.rules->recover_auto = false;
    told_of(&s, EK_CONFIRMED, 1000);
    told_of(&s, EK_RECOVERED, 2000);
    ck_assert_str_eq(told_under(&s, "enforce", 3000), "");
    ck_assert_str_eq(told_at(&s, 1000 + HOLD_MS),
                     "end: no finding requires it, and the minimum duration is over\n");
    end(&s);
}
END_TEST

START_TEST(what_is_dismissed_ends_for_another_reason)
{
    struct scene s;
    start(&s, "enforce");
    told_of(&s, EK_CONFIRMED, 1000);
    ck_assert_str_eq(told_of(&s, EK_DISMISSED, 2000), "end: no finding requests it\n");
    end(&s);
}
END_TEST

START_TEST(another_mode_of_the_rules_is_told_as_what_it_does)
{
    struct scene s;
    start(&s, "shadow");
    told_of(&s, EK_CONFIRMED, 1000);
    ck_assert_str_eq(told_under(&s, "shadow", 5000), "");
    ck_assert_str_eq(told_under(&s, "canary", 5000),
                     "route: under the current rules it is in a canary of 5% of the lists\n");
    ck_assert_str_eq(told_under(&s, "enforce", 5000),
                     "step: under the current rules it is enforced\n");
    ck_assert_str_eq(told_under(&s, "shadow", 5000),
                     "end: under the current rules it is in shadow, so that no output changes\n");
    end(&s);
}
END_TEST

Suite *suite_controller_events(void)
{
    return ek_suite("control_told", a_fault_that_goes_and_comes_is_counted,
                    what_changes_while_all_is_paused_is_told_afterwards,
                    with_recover_manual_a_route_ends_when_somebody_says_so,
                    rules_that_let_routes_end_do_so_with_those_that_wait,
                    what_is_dismissed_ends_for_another_reason,
                    another_mode_of_the_rules_is_told_as_what_it_does);
}
