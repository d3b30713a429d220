/* Agreement of model and upstream scorer in the API. */
#include "daemon/views/agreement_cache.h"
#include "tests/check.h"
#include "tests/plain_model.h"
#include "tests/stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEMS = 4 };

struct scene {
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_agreement_watch *watch;
    struct ek_agreement_cache *board;
};

static void begin(struct scene *s, uint64_t lists)
{
    char path[] = "/tmp/ek-board-XXXXXX";
    close(mkstemp(path));
    s->manifest = stream_manifest();
    s->model = ek_save_plain_model(s->manifest, path);
    unlink(path);
    s->model->agreement = (struct ek_model_agreement){lists, {.5, .75, 0}, {0, 0, 0}};
    ck_assert_int_eq(ek_agreement_watch_new(&s->watch, s->model, 1000, NULL), EK_OK);
    s->board = ek_agreement_cache_new();
    ck_assert_ptr_nonnull(s->board);
}

static void end(struct scene *s)
{
    ek_agreement_cache_free(s->board);
    ek_agreement_watch_free(s->watch);
    ek_model_free(s->model);
    ek_manifest_free(s->manifest);
}

static void compare(struct scene *s, const double *student)
{
    struct ek_list q;
    bool changed;
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, ITEMS, 3, 1), EK_OK);
    for (int i = 0; i < ITEMS; i++)
        q.score[i] = -i;
    ck_assert_int_eq(ek_agreement_watch_list(s->watch, &q, student, 0, &changed, NULL), EK_OK);
    ek_list_release(&q);
    ek_agreement_cache_set(s->board, s->watch);
}

static char *page(struct scene *s, int (*write)(struct ek_agreement_cache *, struct ek_buf *))
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(write(s->board, &out), EK_OK);
    char *text = strndup(out.data ? (char *)out.data : "", out.length);
    ek_buf_release(&out);
    return text;
}

static void assert_metrics(struct scene *s, const char *part, int there)
{
    char *text = page(s, ek_agreement_cache_metrics);
    ck_assert_msg((strstr(text, part) != NULL) == there, "'%s' in %s", part, text);
    free(text);
}

START_TEST(without_a_watch_there_is_nothing_to_show)
{
    struct scene s;
    begin(&s, 100);
    ek_agreement_cache_set(s.board, NULL);
    char *metrics = page(&s, ek_agreement_cache_metrics), *json = page(&s, ek_agreement_cache_json);
    ck_assert_str_eq(metrics, "");
    ck_assert_str_eq(json, "null");
    free(metrics);
    free(json);
    end(&s);
}
END_TEST

START_TEST(figures_of_now_and_of_training_stand_side_by_side)
{
    static const double same[ITEMS] = {4, 3, 2, 1};
    struct scene s;
    begin(&s, 100);
    ek_agreement_cache_set(s.board, s.watch);
    assert_metrics(&s, "\nevenkeel_model_agreement{", 0);
    compare(&s, same);
    assert_metrics(&s, "\nevenkeel_model_compared_lists_total 1\n", 1);
    assert_metrics(&s, "\nevenkeel_model_agreement{statistic=\"tau\"} 1\n", 1);
    assert_metrics(&s, "\nevenkeel_model_agreement_reference{statistic=\"ndcg@10\"} 0.75\n", 1);
    assert_metrics(&s, "\nevenkeel_model_agreement_threshold{statistic=\"tau\"} 0.355\n", 1);
    assert_metrics(&s, "\nevenkeel_model_agreement_threshold{statistic=\"top1\"}",
                   0); /* not tested */
    assert_metrics(&s, "\nevenkeel_model_drifted 0\n", 1);
    char *text = page(&s, ek_agreement_cache_json);
    json_t *json = json_loads(text, 0, NULL);
    ck_assert_msg(json != NULL, "%s", text);
    ck_assert_str_eq(json_string_value(json_object_get(json, "state")), "holds");
    ck_assert_int_eq(json_integer_value(json_object_get(json, "compared_lists")), 1);
    ck_assert_int_ge(json_integer_value(json_object_get(json, "one_in")), 64);
    json_t *top1 = json_object_get(json_object_get(json, "statistics"), "top1");
    ck_assert(json_number_value(json_object_get(top1, "current")) == 1);
    ck_assert(json_is_null(json_object_get(top1, "threshold")));
    json_decref(json);
    free(text);
    end(&s);
}
END_TEST

START_TEST(a_drift_shows_and_without_a_reference_there_is_no_verdict)
{
    static const double opposite[ITEMS] = {1, 2, 3, 4};
    struct scene known, unknown;
    begin(&known, 100);
    begin(&unknown, 0);
    for (int i = 0; i < 60; i++) {
        compare(&known, opposite);
        compare(&unknown, opposite);
    }
    assert_metrics(&known, "\nevenkeel_model_drifted 1\n", 1);
    assert_metrics(&unknown, "evenkeel_model_drifted", 0);
    assert_metrics(&unknown, "\nevenkeel_model_agreement{statistic=\"tau\"} -1\n", 1);
    assert_metrics(&unknown, "_trained{", 0);
    end(&known);
    end(&unknown);
}
END_TEST

Suite *suite_agreement_cache(void)
{
    return ek_suite("agreement board", without_a_watch_there_is_nothing_to_show,
                    figures_of_now_and_of_training_stand_side_by_side,
                    a_drift_shows_and_without_a_reference_there_is_no_verdict);
}
