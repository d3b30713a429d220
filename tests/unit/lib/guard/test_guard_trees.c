/* A guard after the user's own ranker of trees: a list that shows a fault has the scores again that
 * it had before the fault; all others keep theirs. */

#include "base/alloc.h"
#include "base/file.h"
#include "guard/event.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"
#include "score/scorer.h"
#include "guard/guard_assets.h"
#include "serve/agreement_watch.h"
#include "tests/check.h"
#include "tests/guard_model.h"
#include "tests/stream.h"

#include <string.h>
#include <unistd.h>

enum { TRAINING = 4000, PRICE = 0, HEALTHY = 200, CONFIRMED = 500, LISTS = 700, TREES = 40 };

/* Cents are a unit of the feature, so the divisor is exact. */
#define RULES(mode)                                                                                \
    "version: 1\nsegments: [arm]\ndefaults: {mode: " mode ", actions: {missing: auto}}\n"          \
    "features: {price: {units: [cents]}}\n"

struct scene {
    struct ek_assets a;
    struct ek_guard *guard;
    struct ek_scorer *ranker;
    struct stream stream;
    struct ek_buf message;
    struct ek_list faulty, out;
    double healthy[64]; /* scores of the list before the fault */
    enum ek_feature_encoding encoding;
    void (*fault)(struct ek_list *q);
    int number;
};

/* LightGBM trees that split prices from 40 to 196 and sizes from 10 to 49. */
static struct ek_model *model_of_trees(void)
{
    struct ek_model *model = ek_calloc(1, sizeof *model);
    struct ek_buf text;
    struct ek_error e;
    ek_buf_init(&text, 0);
    ek_buf_text(&text,
                "tree\nversion=v4\nmax_feature_idx=3\nfeature_names=nights size flag price\n");
    for (int i = 0; i < 2 * TREES; i++)
        ek_buf_printf(&text,
                      "Tree=%d\nnum_leaves=2\nnum_cat=0\nsplit_feature=%d\nthreshold=%d\n"
                      "decision_type=8\nleft_child=-1\nright_child=-2\nleaf_value=%.3g %.3g\n\n",
                      i, i % 2 ? 1 : 3, i % 2 ? 10 + i / 2 : 40 + 2 * i, .1 + .013 * i,
                      i % 2 ? .3 + .001 * i : -.2 - .017 * i);
    ek_buf_text(&text, "end of trees\n");
    int rc = ek_trees_parse(&model->trees, "trees", (const char *)text.data, text.length, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ek_buf_release(&text);
    return model;
}

static void open_assets(struct ek_assets *a, const char *rules)
{
    struct ek_error e;
    a->manifest = stream_manifest();
    a->profile = stream_profile(a->manifest, TRAINING);
    a->model = model_of_trees();
    ck_assert_int_eq(ek_model_check(a->model, a->manifest, NULL), EK_OK);
    int rc = ek_rules_parse(&a->rules, a->manifest, "rules", rules, strlen(rules), &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL), EK_OK);
}

static void setup(struct scene *s, const char *rules)
{
    memset(s, 0, sizeof *s);
    open_assets(&s->a, rules);
    ck_assert_int_eq(ek_guard_new(&s->guard, &s->a, NULL), EK_OK);
    ck_assert_int_eq(ek_scorer_new(&s->ranker, s->a.model, NULL), EK_OK);
    stream_start(&s->stream, 8);
    ek_buf_init(&s->message, 0);
    ek_list_init(&s->faulty);
    ek_list_init(&s->out);
}

static void teardown(struct scene *s)
{
    ek_guard_free(s->guard);
    ek_scorer_free(s->ranker);
    stream_end(&s->stream);
    ek_buf_release(&s->message);
    ek_list_release(&s->faulty);
    ek_list_release(&s->out);
    ek_assets_release(&s->a);
}

static void cents(struct ek_list *q)
{
    stream_scale(q, PRICE, 100);
}

static void lose_half(struct ek_list *q)
{
    for (int i = 0; i < q->items; i += 2)
        q->x[3 * i] = NAN;
}

/* Prices of two decimals: trees of a real ranker split between values of training. */
static void round_prices(struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        q->x[3 * i] = (float)(rint((double)q->x[3 * i] * 100) / 100);
}

/* Let the guard process the next list, which the ranker has scored from its values. Return the
 * output. */
static const void *next(struct scene *s, size_t *length)
{
    struct ek_list *q = stream_next(&s->stream);
    round_prices(q);
    ck_assert_int_eq(ek_scorer_score(s->ranker, q, NULL, s->healthy, NULL), EK_OK);
    if (s->fault && s->number >= HEALTHY)
        s->fault(q);
    ck_assert_int_eq(ek_scorer_score(s->ranker, q, NULL, q->score, NULL), EK_OK);
    ek_buf_clear(&s->message);
    ck_assert_int_eq(ek_codec_encode(s->a.manifest, q, s->encoding, &s->message, NULL), EK_OK);
    ck_assert_int_eq(
        ek_guard_observe(s->guard, s->message.data, s->message.length, q->time_ms, NULL), EK_OK);
    s->number++;
    const void *bytes = ek_guard_score(s->guard, length, NULL);
    ck_assert_ptr_nonnull(bytes);
    return bytes;
}

/* Decode the message and the output. Only scores may differ. */
static void decode(struct scene *s, const void *bytes, size_t length)
{
    ck_assert_int_eq(
        ek_codec_decode(s->a.codec, s->message.data, s->message.length, &s->faulty, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_decode(s->a.codec, bytes, length, &s->out, NULL), EK_OK);
    size_t values = (size_t)s->out.items * 3;
    ck_assert_int_eq(s->out.items, s->faulty.items);
    ck_assert_mem_eq(s->out.x, s->faulty.x, values * sizeof *s->out.x);
}

static const char *note_of(const struct scene *s)
{
    return ek_context_repair_note(ek_guard_context(s->guard));
}

static void check_repaired(enum ek_feature_encoding encoding)
{
    struct scene s;
    int repaired = 0;
    setup(&s, RULES("enforce"));
    s.encoding = encoding;
    s.fault = cents;
    while (s.number < LISTS) {
        size_t length;
        const void *bytes = next(&s, &length);
        if (s.number <= CONFIRMED)
            continue;
        decode(&s, bytes, length);
        for (int i = 0; i < s.out.items; i++)
            ck_assert_msg(s.out.score[i] == s.healthy[i], "list %d: %.17g, not %.17g", s.number,
                          s.out.score[i], s.healthy[i]);
        repaired += !strcmp(ek_guard_action(s.guard), "repaired");
        ck_assert_str_eq(note_of(&s), "price=/100");
    }
    ck_assert_int_eq(repaired, LISTS - CONFIRMED);
    teardown(&s);
}

START_TEST(a_repaired_list_has_the_scores_that_it_had_before_the_fault)
{
    check_repaired(EK_FEATURES_ARRAY);
    check_repaired(EK_FEATURES_BIN);
    check_repaired(EK_FEATURES_MAP);
    check_repaired(EK_FEATURES_JSON);
}
END_TEST

START_TEST(a_healthy_list_under_a_plan_keeps_its_bytes)
{
    struct scene s;
    setup(&s, RULES("enforce"));
    s.fault = cents;
    size_t length;
    while (s.number < CONFIRMED)
        next(&s, &length);
    ck_assert_str_eq(ek_guard_action(s.guard), "repaired");
    s.fault = NULL;
    const void *bytes = next(&s, &length);
    ck_assert(length == s.message.length && !memcmp(bytes, s.message.data, length));
    ck_assert_str_eq(ek_guard_action(s.guard), "pass");
    ck_assert_ptr_null(note_of(&s));
    teardown(&s);
}
END_TEST

/* Compare the current list. */
static struct ek_comparison compare(struct scene *s)
{
    struct ek_comparison c;
    bool valid;
    ck_assert_int_eq(ek_guard_compare(s->guard, &c, &valid, NULL), EK_OK);
    ck_assert(valid && !c.failed);
    return c;
}

START_TEST(shadow_scoring_compares_the_order_of_the_repaired_list)
{
    struct scene s;
    int differ = 0;
    setup(&s, RULES("shadow"));
    s.fault = cents;
    while (s.number < LISTS) {
        size_t length;
        const void *bytes = next(&s, &length);
        ck_assert(length == s.message.length && !memcmp(bytes, s.message.data, length));
        if (s.number <= CONFIRMED)
            continue;
        ck_assert_str_eq(ek_guard_action(s.guard), "shadow");
        ck_assert_uint_eq(ek_guard_context(s.guard)->would_change, (size_t)s.stream.query.items);
        struct ek_comparison c = compare(&s);
        const double *scores =
            ek_rank_comparison_scores(ek_guard_context(s.guard)->rank_comparison);
        ck_assert_mem_eq(scores, s.healthy, sizeof *scores);
        differ += c.result.moved.tau < 1;
        ck_assert(!c.acting && !c.result.has_harm);
        ck_assert(!c.result.has_plain || c.result.plain.tau == 1); /* the model is the ranker */
    }
    ck_assert_int_gt(differ, (LISTS - CONFIRMED) / 2);
    s.fault = NULL;
    size_t length;
    next(&s, &length);
    ck_assert_str_eq(ek_guard_action(s.guard), "pass"); /* it shows no fault */
    ck_assert_uint_eq(ek_guard_context(s.guard)->would_change, 0);
    teardown(&s);
}
END_TEST

START_TEST(repaired_lists_are_compared_with_their_output)
{
    struct scene s;
    setup(&s, RULES("enforce"));
    s.fault = cents;
    size_t length;
    while (s.number < CONFIRMED)
        next(&s, &length);
    struct ek_comparison c = compare(&s);
    ck_assert(c.acting && c.result.moved.tau == c.result.out.tau);
    s.fault = NULL;
    next(&s, &length);
    ck_assert(compare(&s).result.moved.tau == 1); /* it keeps its order */
    teardown(&s);
}
END_TEST

START_TEST(lost_values_are_filled_for_the_ranker)
{
    static const enum ek_feature_encoding encoding[] = {EK_FEATURES_ARRAY, EK_FEATURES_MAP};
    for (int k = 0; k < 2; k++) { /* a map has no entry for a lost value */
        struct scene s;
        setup(&s, RULES("enforce"));
        s.encoding = encoding[k];
        s.fault = lose_half;
        size_t length = 0;
        const void *bytes = NULL;
        while (s.number < CONFIRMED)
            bytes = next(&s, &length);
        ck_assert_str_eq(ek_guard_action(s.guard), "repaired");
        ck_assert_ptr_nonnull(strstr(note_of(&s), "price=fill:"));
        decode(&s, bytes, length);
        double fill = strtod(note_of(&s) + strlen("price=fill:"), NULL), scores[64];
        for (int i = 0; i < s.faulty.items; i += 2)
            s.faulty.x[3 * i] = (float)fill;
        ck_assert_int_eq(ek_scorer_score(s.ranker, &s.faulty, NULL, scores, NULL), EK_OK);
        ck_assert_mem_eq(s.out.score, scores, (size_t)s.out.items * sizeof *scores);
        teardown(&s);
    }
}
END_TEST

START_TEST(a_message_without_scores_is_no_failure_of_the_model)
{
    static const char message[] = "{\"segments\":{\"arm\":\"A\"},\"query_features\":[1],\"items\":["
                                  "{\"features\":[9000,20,0]},{\"features\":[10000,20,1]}]}";
    struct scene s;
    struct ek_error e;
    setup(&s, RULES("enforce"));
    s.fault = cents;
    size_t length;
    while (s.number < CONFIRMED)
        next(&s, &length);
    ck_assert_int_eq(ek_guard_observe(s.guard, message, sizeof message - 1, 0, NULL), EK_OK);
    ck_assert_ptr_null(ek_guard_score(s.guard, &length, &e));
    ck_assert_int_eq(e.code, EK_EFORMAT);
    ck_assert(!ek_guard_context(s.guard)->failed);
    teardown(&s);
}
END_TEST

START_TEST(a_ranker_with_other_trees_than_the_model_is_reported)
{
    struct scene s;
    struct ek_agreement_view v;
    setup(&s, RULES("observe"));
    size_t length;
    while (s.number < 3000)
        next(&s, &length);
    ek_agreement_watch_view(ek_guard_agreement(s.guard), &v);
    ck_assert_int_eq(v.state, EK_AGREEMENT_HOLDS);
    ck_assert(v.lists > 0 && v.now[EK_AGREEMENT_TAU] == 1 && v.trained[EK_AGREEMENT_TAU] == 1);
    ck_assert(ek_guard_gap(s.guard) == 0);
    for (size_t i = 0; i < s.a.model->trees->node_count; i++)
        s.a.model->trees->value[i] = -s.a.model->trees->value[i];
    for (int i = 0; i < 40000 && v.state == EK_AGREEMENT_HOLDS; i++) {
        struct ek_list *q = stream_next(&s.stream);
        for (int k = 0; k < q->items; k++) /* cheap items first, as before */
            q->score[k] = -(double)q->x[3 * k];
        ek_buf_clear(&s.message);
        ck_assert_int_eq(ek_codec_encode(s.a.manifest, q, s.encoding, &s.message, NULL), EK_OK);
        ck_assert_int_eq(
            ek_guard_observe(s.guard, s.message.data, s.message.length, q->time_ms, NULL), EK_OK);
        ek_agreement_watch_view(ek_guard_agreement(s.guard), &v);
    }
    ck_assert_int_eq(v.state, EK_AGREEMENT_DRIFTED);
    struct ek_event *event = ek_event_from_model_drift(&v, 0, 0);
    ck_assert_ptr_nonnull(strstr(event->model_drift.text, " (reference 1.000), "));
    ck_assert_ptr_nonnull(strstr(event->model_drift.text, "reads its features in another order"));
    ck_assert_ptr_null(strstr(event->model_drift.text, "--teacher upstream and put"));
    ek_free(event);
    teardown(&s);
}
END_TEST

START_TEST(a_pin_of_a_route_is_refused)
{
    struct scene s;
    struct ek_error e;
    setup(&s, RULES("enforce"));
    ck_assert_int_eq(ek_guard_pin(s.guard, "price", NULL, NULL, "route", 0, "ann", "", &e),
                     EK_ESTATE);
    ck_assert_str_eq(e.message, "action 'route' needs a network of 'evenkeel train' as the model");
    ck_assert_int_eq(ek_guard_pin(s.guard, "price", NULL, NULL, "blank", 0, "ann", "", &e), EK_OK);
    size_t length;
    next(&s, &length);
    ck_assert_str_eq(ek_guard_action(s.guard), "repaired");
    ck_assert_str_eq(note_of(&s), "price=blank");
    teardown(&s);
}
END_TEST

START_TEST(a_guard_continues_with_trees_in_place_of_a_network)
{
    struct scene s;
    struct ek_assets network = {0};
    enum ek_restore_result fit;
    size_t length;
    setup(&s, RULES("enforce"));
    open_assets(&network, RULES("enforce"));
    ek_model_free(network.model);
    network.model = guard_model(network.manifest);
    ck_assert_int_eq(ek_guard_set_assets(s.guard, &network, &fit, NULL), EK_OK);
    s.fault = cents;
    while (s.number < CONFIRMED)
        next(&s, &length);
    ck_assert_str_eq(ek_guard_action(s.guard), "routed");
    ck_assert_int_eq(ek_guard_set_assets(s.guard, &s.a, &fit, NULL), EK_OK);
    const void *bytes = next(&s, &length);
    ck_assert_str_eq(ek_guard_action(s.guard), "repaired");
    decode(&s, bytes, length);
    ck_assert_mem_eq(s.out.score, s.healthy, (size_t)s.out.items * sizeof *s.healthy);
    ck_assert_int_eq(ek_guard_set_assets(s.guard, &network, &fit, NULL), EK_OK);
    next(&s, &length);
    ck_assert_str_eq(ek_guard_action(s.guard), "routed");
    ek_guard_free(s.guard);
    s.guard = NULL;
    ek_assets_release(&network);
    teardown(&s);
}
END_TEST

/* Load the assets of a scene from files, with these rules. Return the code. */
static int load(const struct scene *s, const char *rules, struct ek_error *e)
{
    static const char trees[] = "tree\nversion=v4\nmax_feature_idx=0\nfeature_names=price\nTree=0\n"
                                "num_leaves=1\nnum_cat=0\nleaf_value=1\n\nend of trees\n";
    char folder[] = "/tmp/ek-guard-trees-XXXXXX";
    struct ek_assets *a = NULL;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(ek_file_write("m.yaml", STREAM_MANIFEST, NULL), EK_OK);
    ck_assert_int_eq(ek_file_write("r.yaml", rules, NULL), EK_OK);
    ck_assert_int_eq(ek_file_write("ranker.txt", trees, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_save(s->a.profile, "p.ekp", NULL), EK_OK);
    int rc = ek_assets_load(&a, "m.yaml", "p.ekp", "r.yaml", "ranker.txt", e);
    ck_assert(rc || (ek_assets_means(a).ranker && ek_assets_belong(a, e) == EK_OK));
    ek_assets_free(a);
    unlink("m.yaml");
    unlink("r.yaml");
    unlink("ranker.txt");
    unlink("p.ekp");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    return rc;
}

START_TEST(rules_that_route_are_refused_with_trees)
{
    static const struct {
        const char *rules, *says;
    } bad[] = {
        {"defaults:\n  actions: {scale: auto, power: route_normalized}\n",
         "r.yaml:2:33: action 'route_normalized' needs a network of 'evenkeel train', and the "
         "model "
         "'ranker.txt' is of LightGBM; use 'auto' or 'repair'"},
        {"pins:\n  - {feature: price, action: route, reason: test}\n",
         "r.yaml:2:30: action 'route' needs a network of 'evenkeel train', and the model "
         "'ranker.txt' is of LightGBM; use 'auto' or 'repair'"},
    };
    struct scene s;
    struct ek_error e;
    char text[600];
    setup(&s, RULES("observe"));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(load(&s, bad[i].rules, &e), EK_ECONFIG);
        ck_assert_str_eq(ek_error_text(&e, text, sizeof text), bad[i].says);
    }
    ck_assert_int_eq(load(&s, RULES("enforce"), &e), EK_OK);
    teardown(&s);
}
END_TEST

Suite *suite_guard_trees(void);
Suite *suite_guard_trees(void)
{
    return ek_suite("guard_trees", a_repaired_list_has_the_scores_that_it_had_before_the_fault,
                    a_healthy_list_under_a_plan_keeps_its_bytes,
                    shadow_scoring_compares_the_order_of_the_repaired_list,
                    repaired_lists_are_compared_with_their_output,
                    lost_values_are_filled_for_the_ranker,
                    a_message_without_scores_is_no_failure_of_the_model,
                    a_ranker_with_other_trees_than_the_model_is_reported,
                    a_pin_of_a_route_is_refused, a_guard_continues_with_trees_in_place_of_a_network,
                    rules_that_route_are_refused_with_trees);
}
