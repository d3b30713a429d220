/* Scores of trees are those of LightGBM and XGBoost, bit by bit. */
#include "score/tree_scorer.h"
#include "assets/model.h"
#include "base/alloc.h"
#include "score/scorer.h"
#include "tests/golden_trees.h"

enum { COLUMNS = 4, ROWS = 60 };

static struct ek_trees *trees_of(const json_t *model, const struct ek_manifest *m)
{
    const char *text = json_string_value(json_object_get(model, "text"));
    struct ek_trees *t;
    struct ek_error e;
    ck_assert_msg(!ek_trees_parse(&t, "model", text, strlen(text), &e) &&
                      !ek_columns_bind(&t->columns, m, &e),
                  "%s", e.message);
    return t;
}

/* Set a list to `count` golden rows, and `x` to their values as doubles. */
static void set_list(struct ek_list *q, double *x, const json_t *golden, size_t first, int count)
{
    ck_assert_int_eq(ek_list_resize(q, count, COLUMNS, 1), EK_OK);
    for (size_t i = 0; i < (size_t)count * COLUMNS; i++) {
        x[i] = golden_trees_value(golden, first + i / COLUMNS, i % COLUMNS);
        q->x[i] = (float)x[i];
    }
    q->query[0] = 3;
}

static void check_model(const json_t *golden, const json_t *model, const struct ek_manifest *m)
{
    const json_t *expected = json_object_get(model, "scores");
    struct ek_trees *t = trees_of(model, m);
    struct ek_tree_scorer *s;
    struct ek_list q;
    double x[ROWS * COLUMNS], scores[ROWS];
    ek_list_init(&q);
    ck_assert_int_eq(ek_tree_scorer_new(&s, t), EK_OK);
    for (int count = 1; count <= 40; count++) { /* blocks, whole and in part */
        set_list(&q, x, golden, (size_t)count % 20, count);
        ek_tree_scorer_score(s, &q, x, scores);
        for (int i = 0; i < count; i++) {
            double score =
                json_number_value(json_array_get(expected, (size_t)count % 20 + (size_t)i));
            ck_assert_msg(scores[i] == score, "%s, row %d: %.17g, not %.17g",
                          json_string_value(json_object_get(model, "name")), count % 20 + i,
                          scores[i], score);
        }
    }
    ek_list_release(&q);
    ek_tree_scorer_free(s);
    ek_trees_free(t);
}

START_TEST(scores_are_those_of_the_library)
{
    json_t *golden = golden_trees(), *model;
    struct ek_manifest *m = golden_trees_manifest();
    size_t i;
    json_array_foreach(json_object_get(golden, "models"), i, model)
    {
        check_model(golden, model, m);
    }
    ck_assert_uint_eq(i, 12);
    ek_manifest_free(m);
    json_decref(golden);
}
END_TEST

/* LightGBM with a root that splits at the double before 0.1 in float32. */
#define SPLIT(threshold, type)                                                                     \
    "tree\nversion=v4\nnum_class=1\nmax_feature_idx=0\nfeature_names=price\n\nTree=0\n"            \
    "num_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=" threshold "\ndecision_type=" type       \
    "\nleft_child=-1\nright_child=-2\nleaf_value=1 2\n\nend of trees\n"

static double score_of(const char *text, double price)
{
    struct ek_manifest *m = golden_trees_manifest();
    struct ek_trees *t;
    struct ek_tree_scorer *s;
    struct ek_list q;
    double x[COLUMNS] = {price}, score;
    struct ek_error e;
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 1, COLUMNS, 1), EK_OK);
    ck_assert_msg(!ek_trees_parse(&t, "model", text, strlen(text), &e) &&
                      !ek_columns_bind(&t->columns, m, &e),
                  "%s", e.message);
    ck_assert_int_eq(ek_tree_scorer_new(&s, t), EK_OK);
    ek_tree_scorer_score(s, &q, x, &score);
    ek_tree_scorer_free(s);
    ek_trees_free(t);
    ek_list_release(&q);
    ek_manifest_free(m);
    return score;
}

START_TEST(lightgbm_compares_doubles)
{
    ck_assert(score_of(SPLIT("0.10000000000000001", "8"), .1) == 1);
    ck_assert(score_of(SPLIT("0.10000000000000001", "8"), (double).1f) == 2);
}
END_TEST

START_TEST(missing_values_go_where_lightgbm_sends_them)
{
    static const double zero = 1e-36;
    ck_assert(score_of(SPLIT("5", "8"), NAN) == 2 && score_of(SPLIT("5", "10"), NAN) == 1);
    ck_assert(score_of(SPLIT("5", "0"), NAN) == 1); /* a missing value counts as 0 */
    ck_assert(score_of(SPLIT("-5", "2"), NAN) == 2);
    ck_assert(score_of(SPLIT("5", "4"), NAN) == 2 && score_of(SPLIT("-5", "6"), NAN) == 1);
    ck_assert(score_of(SPLIT("5", "4"), zero) == 2 && score_of(SPLIT("-5", "6"), -zero) == 1);
    ck_assert(score_of(SPLIT("5", "4"), 1e-34) == 1 && score_of(SPLIT("5", "8"), zero) == 1);
    ck_assert(score_of(SPLIT("inf", "8"), INFINITY) == 1);
}
END_TEST

/* A trained model and a list of three items for ek_scorer. */
struct scene {
    json_t *golden;
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_list q;
    double x[ROWS * COLUMNS];
};

static void setup(struct scene *s)
{
    const char *text;
    s->golden = golden_trees();
    text = golden_trees_text(s->golden, "XGBoost, ndcg");
    s->manifest = golden_trees_manifest();
    s->model = ek_calloc(1, sizeof *s->model);
    ck_assert_int_eq(ek_trees_parse(&s->model->trees, "model", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_model_check(s->model, s->manifest, NULL), EK_OK);
    ck_assert_int_eq(ek_scorer_new(&s->scorer, s->model, NULL), EK_OK);
    ek_list_init(&s->q);
    set_list(&s->q, s->x, s->golden, 0, ROWS);
}

static void teardown(struct scene *s)
{
    ek_list_release(&s->q);
    ek_scorer_free(s->scorer);
    ek_model_free(s->model);
    ek_manifest_free(s->manifest);
    json_decref(s->golden);
}

START_TEST(a_repaired_list_has_its_scores_again)
{
    struct scene s;
    struct ek_treatment t[2] = {{EK_ACT_REPAIR, 100}, {EK_ACT_NONE, 0}};
    double healthy[ROWS], faulty[ROWS], repaired[ROWS];
    int other = 0;
    setup(&s);
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, NULL, healthy, NULL), EK_OK);
    for (int i = 0; i < ROWS; i++)
        s.q.x[i * COLUMNS] *= 100;
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, NULL, faulty, NULL), EK_OK);
    ck_assert_int_eq(ek_scorer_score_finite(s.scorer, &s.q, t, repaired, NULL), EK_OK);
    for (int i = 0; i < ROWS; i++) {
        ck_assert(repaired[i] == healthy[i]);
        other += faulty[i] != healthy[i];
    }
    ck_assert_int_gt(other, ROWS / 4);
    ck_assert_int_eq(ek_scorer_score_values(s.scorer, &s.q, s.x, repaired, NULL), EK_OK);
    ck_assert_mem_eq(repaired, healthy, sizeof healthy);
    teardown(&s);
}
END_TEST

START_TEST(a_blank_feature_is_missing)
{
    struct scene s;
    struct ek_treatment t[2] = {{EK_ACT_BLANK, 0}, {EK_ACT_NONE, 0}};
    double blank[ROWS], missing[ROWS];
    setup(&s);
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, t, blank, NULL), EK_OK);
    for (int i = 0; i < ROWS; i++)
        s.q.x[i * COLUMNS] = NAN;
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, NULL, missing, NULL), EK_OK);
    ck_assert_mem_eq(blank, missing, sizeof blank);
    teardown(&s);
}
END_TEST

START_TEST(trees_cannot_be_routed)
{
    struct scene s;
    struct ek_treatment t[2] = {{EK_ACT_NONE, 0}, {EK_ACT_ROUTE, 0}};
    struct ek_error e;
    double scores[ROWS];
    setup(&s);
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, t, scores, &e), EK_ESTATE);
    ck_assert_str_eq(e.message,
                     "'route' of feature 'distance' needs a network of 'evenkeel train', "
                     "and this is a model of XGBoost");
    t[1] = (struct ek_treatment){EK_ACT_REPAIR, 0};
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, t, scores, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "'repair' of feature 'distance' needs a positive value");
    s.q.sources = 2;
    ck_assert(!ek_scorer_uses_sources(s.scorer, &s.q));
    teardown(&s);
}
END_TEST

START_TEST(a_list_of_other_features_is_refused)
{
    struct scene s;
    struct ek_error e;
    double scores[1];
    setup(&s);
    ck_assert_int_eq(ek_list_resize(&s.q, 1, COLUMNS + 1, 1), EK_OK);
    ck_assert_int_eq(ek_scorer_score(s.scorer, &s.q, NULL, scores, &e), EK_ESTATE);
    ck_assert_int_eq(ek_scorer_score_values(s.scorer, &s.q, s.x, scores, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "list has 5 item and 1 query features, the model 4 and 1");
    teardown(&s);
}
END_TEST

Suite *suite_tree_scorer(void);
Suite *suite_tree_scorer(void)
{
    return ek_suite("tree_scorer", scores_are_those_of_the_library, lightgbm_compares_doubles,
                    missing_values_go_where_lightgbm_sends_them,
                    a_repaired_list_has_its_scores_again, a_blank_feature_is_missing,
                    trees_cannot_be_routed, a_list_of_other_features_is_refused);
}
