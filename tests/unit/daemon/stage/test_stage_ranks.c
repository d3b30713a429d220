/* Shadow-scoring results of workers reach the guard and the API. */
#include "daemon/base/clock.h"
#include "base/rng.h"
#include "daemon/base/metrics.h"
#include "base/alloc.h"
#include "score/scorer.h"
#include "tests/plain_model.h"
#include "tests/stage_scene.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAULT_FROM = 600, MORE_TRAINING = 3000, PARTITIONS = 4 };

static void price_in_cents(struct ek_list *q, uint64_t i)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, 9, i);
    make_short(q, i);
    for (int k = 0; k < q->items; k++)
        q->score[k] = ek_rng_normal(&r);
    for (int k = 0; i >= FAULT_FROM && k < q->items; k++)
        q->x[k * q->item_features] *= 100;
}

static void begin_routing(struct scene *s, const char *percent)
{
    char path[] = "/tmp/ek-ranks-XXXXXX";
    begin_with(s, PARTITIONS);
    close(mkstemp(path));
    s->assets.model = ek_save_plain_model(s->assets.manifest, path);
    unlink(path);
    for (int i = 0; i < s->assets.rules->feature_count; i++)
        s->assets.rules->feature[i].mode = EK_MODE_ENFORCE;
    s->spread = PARTITIONS;
    s->change = price_in_cents;
    train(s, MORE_TRAINING);
    set(s, "pipeline.workers", "2");
    set(s, "pipeline.shadow_scoring_cpu_percent", percent);
}

/* Separately, as partitions are read one after the other. */
static void feed_fault(struct scene *s)
{
    feed(s, 0, FAULT_FROM);
    wait_for(s, FAULT_FROM);
    feed(s, FAULT_FROM, MANY);
}

static uint64_t counter(struct scene *s, enum ek_counter which)
{
    return ek_metrics_counter(ek_stage_parts(s->stage).metrics, which);
}

/* Wait for all routed lists: a comparison follows its output. */
static void wait_for_trials(struct scene *s, uint64_t routed)
{
    int64_t until = ek_now_ms() + WAIT_MS;
    while (counter(s, EK_COUNT_SHADOW_SCORED) + counter(s, EK_COUNT_SHADOW_SKIPPED) < routed &&
           ek_now_ms() < until)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    ck_assert_uint_eq(counter(s, EK_COUNT_SHADOW_SCORED) + counter(s, EK_COUNT_SHADOW_SKIPPED),
                      routed);
}

START_TEST(figures_of_a_worker_come_to_the_guard)
{
    struct scene s;
    begin_routing(&s, "100");
    start(&s);
    ck_assert(page_has(s.stage, "/api/v1/impact", "\"routes\":[]"));
    feed_fault(&s);
    uint64_t routed = wait_for(&s, MANY).routed;
    ck_assert_uint_gt(routed, 100);
    wait_for_trials(&s, routed);
    ck_assert_uint_gt(counter(&s, EK_COUNT_SHADOW_SCORED), 0);
    wait_for_page(
        s.stage, "/api/v1/impact",
        "{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\",\"mode\":\"enforce\",");
    wait_for_page(s.stage, "/api/v1/impact", "\"output_vs_upstream\":{\"lists\":");
    wait_for_page(s.stage, "/metrics",
                  "\nevenkeel_rank_kendall_tau{feature=\"price\",segment=\"all\"} ");
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_shadow_scoring_skipped_lists_total "));
    finish(&s);
    end(&s);
}
END_TEST

static bool samples_have(struct ek_stage *stage, const char *part)
{
    const struct ek_http_query query = {.feature = "price"};
    const char *type;
    struct ek_buf body;
    ek_buf_init(&body, 0);
    const struct ek_api api = {.stage = stage};
    ck_assert_uint_eq(ek_http_page(&api, "/api/v1/samples", &query, &type, &body), 200);
    bool has = strstr(ek_buf_string(&body), part) != NULL;
    ek_buf_release(&body);
    return has;
}

/* Lists come one by one until one is sampled, since a worker with a full queue samples none. */
static void feed_until_sampled(struct scene *s, const char *part)
{
    int64_t until = ek_now_ms() + WAIT_MS;
    for (uint64_t i = MANY; !samples_have(s->stage, part) && ek_now_ms() < until; i++) {
        feed(s, i, i + 1);
        wait_for(s, i + 1);
    }
    ck_assert_msg(samples_have(s->stage, part), "samples: no '%s'", part);
}

/* One in three faulty lists is a part without the list's means. */
static void partly(struct ek_list *q, uint64_t i)
{
    price_in_cents(q, i);
    if (i >= FAULT_FROM && i % 3 == 0)
        q->list_items = q->items + 1;
}

START_TEST(lists_that_their_message_keeps_from_being_scored_take_no_route_back)
{
    struct scene s;
    begin_routing(&s, "100");
    s.change = partly;
    start(&s);
    feed_fault(&s);
    wait_for_trials(&s, wait_for(&s, MANY).routed);
    ck_assert_uint_gt(counter(&s, EK_COUNT_SCORE_FAILED), 100);
    wait_for_page(s.stage, "/api/v1/impact", "\"output_vs_upstream\":{\"lists\":");
    ck_assert(page_has(s.stage, "/api/v1/impact", ",\"not_scored\":0,"));
    ck_assert(page_has(s.stage, "/metrics",
                       "\nevenkeel_routes_rolled_back_total{reason=\"error_rate\"} 0\n"));
    finish(&s);
    end(&s);
}
END_TEST

START_TEST(what_is_known_of_a_routed_feature_is_shown)
{
    static const char price[] = "/api/v1/features/price", all[] = "/api/v1/overview";
    struct scene s;
    begin_routing(&s, "100");
    start(&s);
    ck_assert(page_has(s.stage, all, "\"text\":\"not ready: ") ||
              page_has(s.stage, all, "\"status\":\"ok\""));
    ck_assert(samples_have(s.stage, "{\"feature\":\"price\",\"lists\":[]}"));
    feed_fault(&s);
    wait_for_trials(&s, wait_for(&s, MANY).routed);
    wait_for_page(s.stage, price, "\"findings\":[{\"event\":\"finding\"");
    wait_for_page(s.stage, price, "\"routes\":[{\"feature\":\"price\",\"segment\":null,");
    wait_for_page(s.stage, price, "\"histogram\":{\"training_items\":");
    wait_for_page(s.stage, price, "\"history\":{\"alarm_ln\":");
    wait_for_page(s.stage, price, "\"confirmed\"]}");
    wait_for_page(s.stage, all, "\"status\":\"mitigated\"");
    wait_for_page(s.stage, all, "\"mitigation\":{\"action\":\"route\",\"mode\":\"enforce\"");
    wait_for_page(s.stage, all, "\"if_unmitigated\":{\"lists\":");
    feed_until_sampled(&s, "\"routes\":[{\"feature\":\"price\",\"mitigation\":\"route\"}]");
    ck_assert(samples_have(s.stage, "\"upstream_rank\":1,\"plan_score\":"));
    finish(&s);
    end(&s);
}
END_TEST

START_TEST(without_time_for_trials_lists_are_passed_over_and_counted)
{
    struct scene s;
    begin_routing(&s, "0");
    start(&s);
    feed_fault(&s);
    uint64_t routed = wait_for(&s, MANY).routed;
    ck_assert_uint_gt(routed, 100);
    wait_for_trials(&s, routed);
    ck_assert_uint_eq(counter(&s, EK_COUNT_SHADOW_SCORED), 0);
    wait_for_page(s.stage, "/api/v1/impact", "\"compared\":0,\"compared_exclusive\":0,\"routed\":");
    finish(&s);
    end(&s);
}
END_TEST

START_TEST(nothing_is_tried_while_nothing_is_wanted)
{
    struct scene s;
    begin_routing(&s, "100");
    s.change = make_short;
    start(&s);
    feed(&s, 0, LISTS);
    wait_for(&s, LISTS);
    join(&s);
    ck_assert_uint_eq(counter(&s, EK_COUNT_SHADOW_SCORED) + counter(&s, EK_COUNT_SHADOW_SKIPPED),
                      0);
    ck_assert(page_has(s.stage, "/api/v1/impact", "\"routes\":[]"));
    ek_stage_free(s.stage);
    end(&s);
}
END_TEST

/* Trees that split prices and review counts, and their scorer: the upstream ranker. */
static struct ek_model *model_of_trees(const struct ek_manifest *m)
{
    enum { STEPS = 60 };
    struct ek_model *model = ek_calloc(1, sizeof *model);
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ek_buf_text(&text, "tree\nversion=v4\nmax_feature_idx=1\nfeature_names=price review_count\n");
    for (int i = 0; i < 2 * STEPS; i++)
        ek_buf_printf(&text,
                      "Tree=%d\nnum_leaves=2\nnum_cat=0\nsplit_feature=%d\nthreshold=%d\n"
                      "decision_type=8\nleft_child=-1\nright_child=-2\nleaf_value=0 %d\n\n",
                      i, i % 2, 10 + 5 * i, i % 2 ? 1 : -2);
    ek_buf_text(&text, "end of trees\n");
    ck_assert_int_eq(ek_trees_parse(&model->trees, "m", (const char *)text.data, text.length, NULL),
                     EK_OK);
    ck_assert_int_eq(ek_model_check(model, m, NULL), EK_OK);
    ek_buf_release(&text);
    return model;
}

static struct ek_scorer *ranker;

static void price_in_cents_of_a_ranker(struct ek_list *q, uint64_t i)
{
    price_in_cents(q, i);
    ck_assert_int_eq(ek_scorer_score(ranker, q, NULL, q->score, NULL), EK_OK);
}

static void begin_trees(struct scene *s)
{
    begin_routing(s, "100");
    ek_model_free(s->assets.model);
    s->assets.model = model_of_trees(s->assets.manifest);
    ck_assert_int_eq(ek_scorer_new(&ranker, s->assets.model, NULL), EK_OK);
    s->change = price_in_cents_of_a_ranker;
}

START_TEST(lists_of_a_ranker_of_trees_are_repaired_and_sampled)
{
    struct scene s;
    begin_trees(&s);
    start(&s);
    feed_fault(&s);
    uint64_t routed = wait_for(&s, MANY).routed;
    ck_assert_uint_gt(routed, 100);
    wait_for_trials(&s, routed);
    ck_assert_uint_gt(counter(&s, EK_COUNT_REPAIRED_VALUES), routed);
    ck_assert_uint_eq(counter(&s, EK_COUNT_SCORE_FAILED), 0);
    wait_for_page(s.stage, "/api/v1/impact", "\"mitigation\":\"repair\",\"mode\":\"enforce\",");
    wait_for_page(s.stage, "/api/v1/impact", "\"output_vs_upstream\":{\"lists\":");
    feed_until_sampled(&s, "\"routes\":[{\"feature\":\"price\",\"mitigation\":\"repair\"}]");
    ck_assert(samples_have(s.stage, "\"upstream_rank\":1,\"plan_score\":"));
    finish(&s);
    ek_scorer_free(ranker);
    end(&s);
}
END_TEST

static void without_segments(struct ek_list *q, uint64_t i)
{
    price_in_cents_of_a_ranker(q, i);
    q->segment_count = 0;
}

/* A fault of one segment would be found in all traffic, and all lists would be routed. */
START_TEST(no_list_is_routed_until_one_has_the_segment_that_rules_name)
{
    static const char rules[] = "version: 1\ndefaults: {mode: enforce}\nsegments: [arm]\n";
    struct scene s;
    begin_trees(&s);
    ek_rules_free(s.assets.rules);
    ck_assert_int_eq(
        ek_rules_parse(&s.assets.rules, s.assets.manifest, "rules", rules, strlen(rules), NULL),
        EK_OK);
    s.change = without_segments;
    start(&s);
    feed_fault(&s);
    ck_assert_uint_eq(wait_for(&s, MANY).routed, 0);
    wait_for_page(s.stage, "/api/v1/plan", "\"feature\":\"price\",\"segment\":null,");
    wait_for_page(s.stage, "/api/v1/status", "\"unmapped\":\"segment arm\"");
    wait_for_page(s.stage, "/ready", "\"ready\":true");
    wait_for_page(s.stage, "/ready", "\"text\":\"no list has it: segment arm; ");
    ck_assert_uint_eq(counter(&s, EK_COUNT_REPAIRED_VALUES), 0);
    ck_assert_uint_gt(counter(&s, EK_COUNT_WITHHELD_REPAIRS), 0);
    s.change = price_in_cents_of_a_ranker;
    feed(&s, MANY, MANY + LISTS);
    ck_assert_uint_gt(wait_for(&s, MANY + LISTS).routed, 0);
    ck_assert_uint_gt(counter(&s, EK_COUNT_REPAIRED_VALUES), 0);
    finish(&s);
    ek_scorer_free(ranker);
    end(&s);
}
END_TEST

Suite *suite_stage_ranks(void)
{
    return ek_suite("stage_ranks", figures_of_a_worker_come_to_the_guard,
                    lists_that_their_message_keeps_from_being_scored_take_no_route_back,
                    what_is_known_of_a_routed_feature_is_shown,
                    without_time_for_trials_lists_are_passed_over_and_counted,
                    nothing_is_tried_while_nothing_is_wanted,
                    lists_of_a_ranker_of_trees_are_repaired_and_sampled,
                    no_list_is_routed_until_one_has_the_segment_that_rules_name);
}
