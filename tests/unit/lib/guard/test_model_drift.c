/* Agreement watch: list selection, events, and healthy variation. */
#include "base/alloc.h"
#include "serve/agreement_watch.h"

#include "base/rng.h"
#include "guard/event_json.h"
#include "plan/open_findings.h"
#include "score/agreement.h"
#include "tests/check.h"
#include "tests/plain_model.h"
#include "tests/stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEMS = 12, BUDGET = 10000000 };

struct scene {
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_agreement_watch *watch;
    struct ek_rng rng;
    struct ek_list query;
    double student[ITEMS];
    uint64_t number; /* of queries; the watch compares all */
};

/* Upstream scores are the model's plus noise of that size. */
static void draw(struct scene *s, double noise)
{
    for (int i = 0; i < ITEMS; i++) {
        s->student[i] = ek_rng_normal(&s->rng);
        s->query.score[i] = s->student[i] + noise * ek_rng_normal(&s->rng);
    }
}

/* Return the lists until the state changes, or -1 if it does not within `most`. */
static int compare(struct scene *s, double noise, int most)
{
    for (int i = 0; i < most; i++) {
        bool changed;
        draw(s, noise);
        ck_assert_int_eq(
            ek_agreement_watch_list(s->watch, &s->query, s->student, s->number++, &changed, NULL),
            EK_OK);
        if (changed)
            return i;
    }
    return -1;
}

static struct ek_agreement_view view(const struct scene *s)
{
    struct ek_agreement_view v;
    ek_agreement_watch_view(s->watch, &v);
    return v;
}

/* Create a watch for a model measured on 400 lists with that noise. known: the model stores it. */
static void begin(struct scene *s, double noise, bool known)
{
    char path[] = "/tmp/ek-drift-XXXXXX";
    memset(s, 0, sizeof *s);
    close(mkstemp(path));
    s->manifest = stream_manifest();
    s->model = ek_save_plain_model(s->manifest, path);
    unlink(path);
    ek_rng_seed(&s->rng, 6);
    ek_list_init(&s->query);
    ck_assert_int_eq(ek_list_resize(&s->query, ITEMS, 3, 1), EK_OK);
    ck_assert_int_eq(ek_agreement_watch_new(&s->watch, s->model, BUDGET, NULL), EK_OK);
    struct ek_agreement_sums sums = {0};
    struct ek_ranker *c;
    ck_assert_int_eq(ek_ranker_new(&c, NULL), EK_OK);
    for (int i = 0; i < 400; i++) {
        struct ek_agreement a;
        bool valid;
        draw(s, noise);
        ck_assert_int_eq(ek_compare(c, s->student, s->query.score, ITEMS, &a, &valid, NULL), EK_OK);
        ek_agreement_add(&sums, &a);
    }
    ek_ranker_free(c);
    ek_agreement_watch_free(s->watch);
    if (known)
        s->model->agreement = ek_agreement_result(&sums);
    ck_assert_int_eq(ek_agreement_watch_new(&s->watch, s->model, BUDGET, NULL), EK_OK);
}

static void end(struct scene *s)
{
    ek_agreement_watch_free(s->watch);
    ek_list_release(&s->query);
    ek_model_free(s->model);
    ek_manifest_free(s->manifest);
}

START_TEST(one_list_of_each_block_has_its_turn_at_no_fixed_distance)
{
    struct scene s, t;
    int block[200] = {0}, turns = 0, same = 0;
    begin(&s, .2, true);
    begin(&t, .2, true);
    int every = view(&s).every, last = 0, distance = 0;
    for (int i = 0; i < 200 * every; i++) {
        bool turn = ek_agreement_watch_is_due(s.watch);
        ck_assert_int_eq(turn, ek_agreement_watch_is_due(t.watch));
        block[i / every] += turn;
        same += turn && i - last == distance;
        if (turn) {
            distance = i - last;
            last = i;
            turns++;
        }
    }
    ck_assert_int_eq(turns, 200);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(block[i], 1);
    ck_assert_int_lt(same, 20);
    end(&s);
    end(&t);
}
END_TEST

START_TEST(a_larger_network_has_its_turn_more_rarely)
{
    struct scene s;
    begin(&s, .2, true);
    int small = view(&s).every;
    s.model->hidden[0] = 1024;
    ek_agreement_watch_free(s.watch);
    ck_assert_int_eq(ek_agreement_watch_new(&s.watch, s.model, BUDGET, NULL), EK_OK);
    ck_assert_int_gt(view(&s).every, small);
    s.model->hidden[0] = 8;
    end(&s);
}
END_TEST

START_TEST(nothing_is_told_while_they_rank_as_they_did)
{
    struct scene s;
    begin(&s, .2, true);
    ck_assert_int_eq(compare(&s, .2, 20000), -1);
    struct ek_agreement_view v = view(&s);
    ck_assert_int_eq(v.state, EK_AGREEMENT_HOLDS);
    ck_assert_uint_eq(v.lists, 20000);
    ck_assert_int_eq(v.recent, EK_AGREEMENT_WINDOW);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        ck_assert(v.now[i] > v.least[i] && v.least[i] < v.trained[i]);
        ck_assert_double_eq_tol(v.now[i], s.model->agreement.mean[i], .1);
    }
    end(&s);
}
END_TEST

START_TEST(a_drift_is_told_with_its_begin_and_so_is_its_end)
{
    struct scene s;
    begin(&s, .2, true);
    ck_assert_int_eq(compare(&s, .2, 500), -1);
    int delay = compare(&s, 1, 300);
    ck_assert_int_ge(delay, 3);
    ck_assert_int_le(delay, 60);
    struct ek_agreement_view v = view(&s);
    ck_assert_int_eq(v.state, EK_AGREEMENT_DRIFTED);
    ck_assert_uint_ge(v.since_query, 490);
    ck_assert_uint_le(v.since_query, 515);
    ck_assert(v.now[EK_AGREEMENT_TAU] < v.least[EK_AGREEMENT_TAU]);
    ck_assert_int_eq(compare(&s, 1, 2000), -1); /* reported once */
    int back = compare(&s, .2, 2000);
    ck_assert_int_ge(back, EK_AGREEMENT_WINDOW / 4);
    ck_assert_int_le(back, 4 * EK_AGREEMENT_WINDOW);
    ck_assert_int_eq(view(&s).state, EK_AGREEMENT_HOLDS);
    ck_assert_int_ge(compare(&s, 1, 300), 0); /* reported again on recurrence */
    end(&s);
}
END_TEST

/* Pairs keep their order except for the first place: tau hardly changes. */
START_TEST(another_first_item_alone_is_told)
{
    struct scene s;
    int i = 0;
    begin(&s, .1, true);
    for (bool changed = false; !changed && i < 300; i++) {
        draw(&s, .1);
        int first = 0, second = 1;
        for (int k = 0; k < ITEMS; k++)
            if (s.query.score[k] > s.query.score[first])
                first = k;
        second = first ? 0 : 1;
        for (int k = 0; k < ITEMS; k++)
            if (k != first && s.query.score[k] > s.query.score[second])
                second = k;
        s.query.score[second] = s.query.score[first] + 1;
        ck_assert_int_eq(
            ek_agreement_watch_list(s.watch, &s.query, s.student, (uint64_t)i, &changed, NULL),
            EK_OK);
    }
    ck_assert_int_le(i, 60);
    end(&s);
}
END_TEST

START_TEST(a_model_that_does_not_say_has_figures_and_no_verdict)
{
    struct scene s;
    begin(&s, .2, false);
    ck_assert_int_eq(compare(&s, .2, 200), -1);
    ck_assert_int_eq(compare(&s, 5, 2000), -1);
    struct ek_agreement_view v = view(&s);
    ck_assert_int_eq(v.state, EK_AGREEMENT_UNKNOWN);
    ck_assert(v.now[EK_AGREEMENT_TAU] < .5);
    ck_assert(isnan(v.trained[0]) && isnan(v.least[0]));
    s.model->agreement =
        (struct ek_model_agreement){EK_AGREEMENT_REFERENCE_MIN - 1, {1, 1, 1}, {0, 0, 0}};
    ek_agreement_watch_free(s.watch);
    ck_assert_int_eq(ek_agreement_watch_new(&s.watch, s.model, BUDGET, NULL), EK_OK);
    ck_assert_int_eq(view(&s).state, EK_AGREEMENT_UNKNOWN);
    end(&s);
}
END_TEST

START_TEST(the_gap_is_that_of_now_once_there_are_lists_enough)
{
    struct scene s;
    begin(&s, .2, true);
    const struct ek_model_agreement *f = &s.model->agreement;
    double taught = hypot(1 - f->mean[EK_AGREEMENT_TAU], f->sd[EK_AGREEMENT_TAU]) / 2;
    compare(&s, .3, EK_AGREEMENT_REFERENCE_MIN - 1);
    ck_assert_int_eq(view(&s).state, EK_AGREEMENT_HOLDS);
    ck_assert_double_eq_tol(ek_agreement_gap(s.watch), taught, 1e-12);
    ck_assert_int_ge(compare(&s, 5, 100), 0);
    ck_assert_int_lt(view(&s).recent, EK_AGREEMENT_REFERENCE_MIN); /* drifted: lists since then */
    ck_assert(ek_agreement_gap(s.watch) > .25);
    end(&s);
    begin(&s, .2, true);
    compare(&s, .3, EK_AGREEMENT_WINDOW);
    double now = (1 - view(&s).now[EK_AGREEMENT_TAU]) / 2, gap = ek_agreement_gap(s.watch);
    ck_assert(gap > taught && gap > now && gap < 1.5 * now); /* a root mean square */
    end(&s);
    begin(&s, .2, false);
    compare(&s, 5, 200);
    ck_assert(ek_agreement_gap(s.watch) == 0);
    end(&s);
}
END_TEST

START_TEST(lists_without_an_order_are_not_compared)
{
    struct scene s;
    bool changed;
    begin(&s, .2, true);
    draw(&s, .2);
    s.query.score[3] = NAN;
    ck_assert_int_eq(ek_agreement_watch_list(s.watch, &s.query, s.student, 0, &changed, NULL),
                     EK_OK);
    ck_assert_uint_eq(view(&s).lists, 0);
    ck_assert(isnan(view(&s).now[0]));
    end(&s);
}
END_TEST

START_TEST(the_event_has_the_figures_and_says_what_to_do)
{
    struct scene s;
    struct ek_buf text;
    struct ek_agreement_view v;
    begin(&s, .2, true);
    ck_assert_int_ge(compare(&s, 1, 300), 0);
    ek_buf_init(&text, 0);
    v = view(&s);
    struct ek_event *value = ek_event_from_model_drift(&v, 77, 1234);
    ck_assert_ptr_nonnull(value);
    ck_assert_int_eq(ek_event_json(value, &text), EK_OK);
    ek_free(value);
    json_t *event = json_loads(ek_buf_string(&text), 0, NULL);
    ck_assert_ptr_nonnull(event);
    ck_assert_str_eq(json_string_value(json_object_get(event, "event")), "model_drift");
    ck_assert_str_eq(json_string_value(json_object_get(event, "state")), "drifted");
    ck_assert_int_eq(json_integer_value(json_object_get(event, "list")), 77);
    json_t *tau = json_object_get(json_object_get(event, "statistics"), "tau");
    ck_assert_double_eq_tol(json_number_value(json_object_get(tau, "current")), v.now[0], 1e-3);
    ck_assert_double_eq_tol(json_number_value(json_object_get(tau, "reference")), v.trained[0],
                            1e-3);
    ck_assert_double_eq_tol(json_number_value(json_object_get(tau, "threshold")), v.least[0], 1e-3);
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(event, "text")), "--teacher upstream"));
    json_decref(event);
    ek_buf_release(&text);
    end(&s);
}
END_TEST

START_TEST(a_finding_concerns_the_lists_of_its_cell_until_it_is_over)
{
    static const int16_t all[] = {0, 2}, other[] = {0, 3};
    struct ek_open_findings o = {0};
    struct ek_finding f = {.state = EK_SUSPECTED, .feature = 4, .cell = 2};
    ck_assert(!ek_open_findings_match(&o, all, 2));
    ek_open_findings_follow(&o, &f);
    f.state = EK_CONFIRMED;
    ek_open_findings_follow(&o, &f);
    f.feature = 5;
    ek_open_findings_follow(&o, &f);
    ck_assert(ek_open_findings_match(&o, all, 2));
    ck_assert(!ek_open_findings_match(&o, other, 2));
    f.state = EK_RECOVERED;
    ek_open_findings_follow(&o, &f);
    ck_assert(ek_open_findings_match(&o, all, 2));
    f.feature = 4;
    f.state = EK_DISMISSED;
    ek_open_findings_follow(&o, &f);
    ck_assert(!ek_open_findings_match(&o, all, 2));
    ek_open_findings_follow(&o, &f); /* one that was never reported */
    ck_assert_int_eq(o.count, 0);
}
END_TEST

Suite *suite_model_drift(void)
{
    return ek_suite(
        "model drift", one_list_of_each_block_has_its_turn_at_no_fixed_distance,
        a_larger_network_has_its_turn_more_rarely, nothing_is_told_while_they_rank_as_they_did,
        a_drift_is_told_with_its_begin_and_so_is_its_end, another_first_item_alone_is_told,
        a_model_that_does_not_say_has_figures_and_no_verdict,
        the_gap_is_that_of_now_once_there_are_lists_enough, lists_without_an_order_are_not_compared,
        the_event_has_the_figures_and_says_what_to_do,
        a_finding_concerns_the_lists_of_its_cell_until_it_is_over);
}
