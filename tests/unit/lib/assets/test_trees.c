/* Tree models: their features, and invalid files with their errors. */
#include "assets/trees.h"
#include "assets/model.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "tests/golden_trees.h"
#include "tests/limit.h"
#include "tests/temporary.h"

#include <unistd.h>

static struct ek_trees *parse(const char *text)
{
    struct ek_trees *t;
    struct ek_error e;
    ck_assert_msg(!ek_trees_parse(&t, "model.txt", text, strlen(text), &e), "%s", e.message);
    return t;
}

static void check_refused(const char *text, size_t length, const char *says)
{
    struct ek_trees *t;
    struct ek_error e;
    char full[600];
    int rc = ek_trees_parse(&t, "model.txt", text, length, &e);
    ck_assert_msg(rc == EK_EFORMAT, "%d, not '%s'", rc, says);
    ck_assert_str_eq(ek_error_text(&e, full, sizeof full), says);
}

/* Return the text with the first `from` replaced; freed by the caller. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    struct ek_buf b;
    ck_assert_msg(at != NULL, "no '%s'", from);
    ek_buf_init(&b, 0);
    ek_buf_add(&b, text, (size_t)(at - text));
    ek_buf_text(&b, to);
    ek_buf_text(&b, at + strlen(from));
    char *result = ek_strdup(ek_buf_string(&b));
    ek_buf_release(&b);
    return result;
}

struct change {
    const char *from, *to, *says;
};

static void check_changes(const char *model, const struct change *change, size_t count)
{
    json_t *golden = golden_trees();
    const char *text = golden_trees_text(golden, model);
    for (size_t i = 0; i < count; i++) {
        char *bad = replaced(text, change[i].from, change[i].to);
        check_refused(bad, strlen(bad), change[i].says);
        ek_free(bad);
    }
    json_decref(golden);
}

/* ----------------------------------------------------------------- features */

START_TEST(features_are_found_by_name)
{
    json_t *golden = golden_trees();
    struct ek_manifest *m = golden_trees_manifest();
    struct ek_trees *t = parse(golden_trees_text(golden, "LightGBM, lambdarank"));
    ck_assert_int_eq(ek_columns_bind(&t->columns, m, NULL), EK_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(t->columns.feature[i], i);
    ek_trees_free(t);
    char *other = replaced(golden_trees_text(golden, "LightGBM, lambdarank"), "price stars chain",
                           "nights chain stars");
    t = parse(other);
    ck_assert_int_eq(ek_columns_bind(&t->columns, m, NULL), EK_OK);
    ck_assert(t->columns.feature[0] == ~0 && t->columns.feature[1] == 2 &&
              t->columns.feature[2] == 1);
    ek_free(other);
    ek_trees_free(t);
    ek_manifest_free(m);
    json_decref(golden);
}
END_TEST

START_TEST(features_that_differ_are_listed)
{
    json_t *golden = golden_trees();
    struct ek_manifest *m = golden_trees_manifest();
    struct ek_error e;
    char *other = replaced(golden_trees_text(golden, "XGBoost, ndcg"), "\"stars\"", "\"rating\"");
    struct ek_trees *t = parse(other);
    ck_assert_int_eq(ek_columns_bind(&t->columns, m, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "feature 'rating' of the model is not in the manifest; model: "
                                "price, rating, chain, distance; manifest: nights, price, stars, "
                                "chain, distance");
    ek_free(other);
    ek_trees_free(t);
    ek_manifest_free(m);
    json_decref(golden);
}
END_TEST

START_TEST(long_lists_of_features_are_cut)
{
    struct ek_manifest *m = golden_trees_manifest();
    struct ek_error e;
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ek_buf_text(&b, "tree\nversion=v4\nmax_feature_idx=99\nfeature_names=");
    for (int i = 0; i < 100; i++)
        ek_buf_printf(&b, "%sfeature_%d", i ? " " : "", i);
    ek_buf_text(&b, "\nTree=0\nnum_leaves=1\nnum_cat=0\nleaf_value=1\n\nend of trees\n");
    struct ek_trees *t = parse(ek_buf_string(&b));
    ck_assert_int_eq(ek_columns_bind(&t->columns, m, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, ", ...; manifest: nights, price"));
    ck_assert_str_eq(e.message + strlen(e.message) - 8, "distance");
    ek_buf_release(&b);
    ek_trees_free(t);
    ek_manifest_free(m);
}
END_TEST

/* A model of one leaf with `columns` features without names. */
static struct ek_trees *unnamed(int columns)
{
    char text[200];
    snprintf(text, sizeof text,
             "tree\nversion=v3\nmax_feature_idx=%d\nTree=0\nnum_leaves=1\nnum_cat=0\n"
             "leaf_value=1\n\nend of trees\n",
             columns - 1);
    return parse(text);
}

static void check_positions(const char *features, int columns, const int *expected)
{
    struct ek_manifest *m;
    struct ek_trees *t = unnamed(columns);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", features, strlen(features), NULL), EK_OK);
    ck_assert_int_eq(ek_columns_bind(&t->columns, m, NULL), EK_OK);
    ck_assert_mem_eq(t->columns.feature, expected, (size_t)columns * sizeof *expected);
    ek_trees_free(t);
    ek_manifest_free(m);
}

START_TEST(features_without_names_have_the_order_of_the_manifest)
{
    static const char derived[] = GOLDEN_TREES_MANIFEST "derived_query_features: [log_list_size]\n";
    struct ek_manifest *m = golden_trees_manifest();
    struct ek_trees *t = unnamed(3);
    struct ek_error e;
    check_positions(GOLDEN_TREES_MANIFEST, 4, (const int[]){0, 1, 2, 3});
    check_positions(GOLDEN_TREES_MANIFEST, 5, (const int[]){~0, 0, 1, 2, 3});
    check_positions(derived, 4, (const int[]){0, 1, 2, 3});
    check_positions(derived, 5, (const int[]){~0, 0, 1, 2, 3});
    check_positions(derived, 6, (const int[]){~0, 0, 1, 2, 3, ~1});
    ck_assert_int_eq(ek_columns_bind(&t->columns, m, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "the model has 3 features without names, the manifest 4 item and 1 "
                                "query features; train with feature names");
    ek_trees_free(t);
    ek_manifest_free(m);
}
END_TEST

START_TEST(default_names_are_no_names)
{
    json_t *golden = golden_trees();
    static const char *const names[] = {"LightGBM, without names", "XGBoost, without names"};
    for (int i = 0; i < 2; i++) {
        struct ek_trees *t = parse(golden_trees_text(golden, names[i]));
        ck_assert_ptr_null(t->columns.name);
        ek_trees_free(t);
    }
    json_decref(golden);
}
END_TEST

/* ----------------------------------------------------------------- invalid files */

START_TEST(lightgbm_files_are_checked)
{
    static const struct change change[] = {
        {"version=v4", "version=v5",
         "model.txt: version 'v5' of LightGBM's text format is not supported; v3 and v4 are"},
        {"num_class=1", "num_class=3",
         "model.txt:3: a model of several classes is not supported; it has no one score"},
        {"num_tree_per_iteration=1", "num_tree_per_iteration=2",
         "model.txt:4: a model of several classes is not supported; it has no one score"},
        {"max_feature_idx=3", "max_feature_idx=4096",
         "model.txt: a model needs 1 to 4096 features"},
        {"max_feature_idx=3", "max_feature_idx=4",
         "model.txt:8: fewer 'feature_names' than features"},
        {"max_feature_idx=3", "max_feature_idx=2",
         "model.txt:8: more 'feature_names' than features"},
        {"max_feature_idx=3", "max_feature_idx=3\nmax_feature_idx=3",
         "model.txt:7: duplicate 'max_feature_idx'"},
        {"max_feature_idx=3\n", "", "model.txt:7: 'feature_names' without 'max_feature_idx'"},
        {"objective=lambdarank", "objective=poisson",
         "model.txt: objective 'poisson' is not supported; supported are lambdarank, rank_xendcg, "
         "binary and regression without a link function"},
        {"objective=lambdarank", "objective=regression sqrt",
         "model.txt: objective 'regression sqrt' is not supported; supported are lambdarank, "
         "rank_xendcg, binary and regression without a link function"},
        {"objective=lambdarank", "objective=binary sigmoid:-1",
         "model.txt:7: invalid 'sigmoid' of the objective"},
        {"objective=lambdarank", "objective=", "model.txt:7: 'objective' is empty"},
        {"feature_infos", "average_output\nfeature_infos",
         "model.txt: boosting 'rf' (average_output) is not supported; 'gbdt', 'dart' and 'goss' "
         "are"},
        {"Tree=0", "Tree=1", "model.txt:12: trees are not numbered from 0"},
        {"num_leaves=6", "num_leaves=7", "model.txt: tree 0: invalid or missing 'split_feature'"},
        {"num_leaves=6", "num_leaves=2147483647",
         "model.txt: tree 0: invalid or missing 'num_leaves'"},
        {"num_leaves=6", "num_leaves=0", "model.txt: tree 0: invalid or missing 'num_leaves'"},
        {"num_cat=0", "num_cat=9", "model.txt: tree 0: invalid or missing 'num_cat'"},
        {"num_cat=0", "num_cat=1", "model.txt: tree 0: invalid or missing 'cat_boundaries'"},
        {"split_feature=1", "split_feature=4",
         "model.txt: tree 0: invalid or missing 'split_feature'"},
        {"split_feature=1", "split_feature=-1",
         "model.txt: tree 0: invalid or missing 'split_feature'"},
        {"threshold=2.5", "threshold=nan ", "model.txt: tree 0: node 0 has an invalid threshold"},
        {"threshold=2.5", "threshold=x ", "model.txt: tree 0: invalid or missing 'threshold'"},
        {"decision_type=10", "decision_type=12",
         "model.txt: tree 0: invalid or missing 'decision_type'"},
        {"decision_type=10", "decision_type=16",
         "model.txt: tree 0: invalid or missing 'decision_type'"},
        {"decision_type=10", "decision_type=9",
         "model.txt: tree 0: invalid or missing 'threshold'"},
        {"left_child=2", "left_child=0",
         "model.txt: tree 0: node 0 has a child with two parents, so this is no tree"},
        {"left_child=2", "left_child=5",
         "model.txt: tree 0: node 0 has a child that does not exist"},
        {"left_child=2", "left_child=-7",
         "model.txt: tree 0: node 0 has a child that does not exist"},
        {"left_child=2", "left_child=1",
         "model.txt: tree 0: node 0 has a child with two parents, so this is no tree"},
        {"left_child=2", "left_child=9223372036854775807",
         "model.txt: tree 0: node 0 has a child that does not exist"},
        {"left_child", "other", "model.txt: tree 0: invalid or missing 'left_child'"},
        {"leaf_value=", "leaf_value=inf ",
         "model.txt: tree 0: node 5 has a value that is not "
         "finite"},
        {"is_linear=0", "is_linear=1",
         "model.txt: tree 0 is linear ('linear_tree'): not supported"},
        {"end of trees", "", "model.txt:90: truncated: 'end of trees' is missing"},
        {"pandas_categorical:null", "pandas_categorical:[[\"a\", \"b\"]]",
         "model.txt:90: categories of a pandas data frame are not supported; train on their codes"},
    };
    check_changes("LightGBM, lambdarank", change, sizeof change / sizeof *change);
}
END_TEST

START_TEST(category_sets_of_lightgbm_are_checked)
{
    static const struct change change[] = {
        {"cat_boundaries=0 1", "cat_boundaries=0",
         "model.txt: tree 2: invalid or missing 'cat_boundaries'"},
        {"cat_boundaries=0 1", "cat_boundaries=1 1",
         "model.txt: tree 2: invalid or missing 'cat_boundaries'"},
        {"cat_boundaries=0 1", "cat_boundaries=0 2",
         "model.txt: tree 2: invalid or missing 'cat_threshold'"},
        {"cat_boundaries=0 1", "cat_boundaries=0 0",
         "model.txt: tree 2: invalid or missing 'cat_threshold'"},
        {"cat_threshold=", "cat_threshold=4294967296 ",
         "model.txt: tree 2: invalid or missing 'cat_threshold'"},
    };
    check_changes("LightGBM, categories", change, sizeof change / sizeof *change);
}
END_TEST

START_TEST(nodes_that_the_root_does_not_reach_are_no_tree)
{
    static const char text[] = "tree\nversion=v4\nmax_feature_idx=0\nTree=0\nnum_leaves=4\n"
                               "num_cat=0\nsplit_feature=0 0 0\nthreshold=1 2 3\n"
                               "decision_type=8 8 8\nleft_child=-1 2 -3\nright_child=-2 -4 1\n"
                               "leaf_value=1 2 3 4\n\nend of trees\n";
    check_refused(text, sizeof text - 1, "model.txt: tree 0: its root does not reach 4 of 7 nodes");
}
END_TEST

START_TEST(xgboost_files_are_checked)
{
    static const struct change change[] = {
        {"[3,2,0]", "[4,0,0]",
         "model.txt: version 4.0.0 of XGBoost is not supported; versions 1 to 3 are"},
        {"[3,2,0]", "[3]", "model.txt: invalid or missing 'version'"},
        {"\"num_class\":\"0\"", "\"num_class\":\"3\"",
         "model.txt: a model of several classes or targets is not supported; it has no one score"},
        {"\"num_target\":\"1\"", "\"num_target\":\"2\"",
         "model.txt: a model of several classes or targets is not supported; it has no one score"},
        {"\"num_feature\":\"4\",\"num_target\"", "\"num_feature\":\"4097\",\"num_target\"",
         "model.txt: a model needs 1 to 4096 features"},
        {"\"num_feature\":\"4\",\"num_target\"", "\"num_feature\":\"3\",\"num_target\"",
         "model.txt: invalid or missing 'feature_names'"},
        {"\"name\":\"rank:ndcg\"", "\"name\":\"count:poisson\"",
         "model.txt: objective 'count:poisson' is not supported; supported are rank:*, "
         "binary:logistic, binary:logitraw and regression without a link function"},
        {"\"base_score\":\"[", "\"base_score\":\"[NaN",
         "model.txt: invalid or missing "
         "'base_score'"},
        {"\"name\":\"gbtree\"", "\"name\":\"gblinear\"",
         "model.txt: booster 'gblinear' is not supported; 'gbtree' and 'dart' are"},
        {"\"attributes\":{}", "\"attributes\":{\"best_iteration\":\"1\"}",
         "model.txt: early stopping at round 2 of 4, so which trees rank is not known; save "
         "'booster[: booster.best_iteration + 1]'"},
        {"\"enc\":[]", "\"enc\":[{}]",
         "model.txt: categories of a data frame are not supported; train on their codes"},
        {"\"tree_info\":[0", "\"tree_info\":[1", "model.txt: invalid or missing 'tree_info'"},
        {"\"num_nodes\":\"", "\"num_nodes\":\"9",
         "model.txt: tree 0: invalid or missing 'left_children'"},
        {"\"left_children\":[1", "\"left_children\":[0",
         "model.txt: tree 0: node 0 has a child with two parents, so this is no tree"},
        {"\"left_children\":[1", "\"left_children\":[1000000",
         "model.txt: tree 0: node 0 has a child that does not exist"},
        {"\"left_children\":[1", "\"left_children\":[-2",
         "model.txt: tree 0: node 0 has a child that does not exist"},
        {"\"left_children\":[1", "\"left_children\":[null",
         "model.txt: tree 0: invalid or missing 'left_children'"},
        {"\"split_indices\":[", "\"split_indices\":[4,",
         "model.txt: tree 0: invalid or missing 'split_indices'"},
        {"\"default_left\":[", "\"default_left\":[2,",
         "model.txt: tree 0: invalid or missing 'default_left'"},
        {"\"split_conditions\":[", "\"split_conditions\":[1e300,",
         "model.txt: tree 0: invalid or missing 'split_conditions'"},
        {"\"size_leaf_vector\":\"1\"", "\"size_leaf_vector\":\"2\"",
         "model.txt: trees with several outputs ('size_leaf_vector') are not supported"},
    };
    check_changes("XGBoost, ndcg", change, sizeof change / sizeof *change);
}
END_TEST

START_TEST(categories_and_weights_of_xgboost_are_checked)
{
    static const struct change categories[] = {
        {"\"categories_nodes\":[", "\"categories_nodes\":[99,",
         "model.txt: tree 0: invalid or missing 'categories_sizes'"},
        {"\"categories_sizes\":[", "\"categories_sizes\":[1,",
         "model.txt: tree 0: invalid or missing 'categories_sizes'"},
    };
    static const struct change dart[] = {
        {"\"weight_drop\":[", "\"weight_drop\":[1,", "model.txt: invalid or missing 'weight_drop'"},
        {"\"weight_drop\":[", "\"weight_drop\":[1e300],\"other\":[",
         "model.txt: invalid or missing 'weight_drop'"},
    };
    check_changes("XGBoost, categories", categories, 2);
    check_changes("XGBoost, dart", dart, 2);
}
END_TEST

/* One tree whose root splits feature 0 by category 3, as XGBoost 2 writes it. */
#define CATEGORICAL(root, leaf)                                                                    \
    "{\"learner\":{\"attributes\":{\"note\":\"NaN \\\" NaN\"},\"feature_names\":[],"               \
    "\"gradient_booster\":{\"name\":\"gbtree\",\"model\":{\"trees\":[{\"categories\":[3],"         \
    "\"categories_nodes\":[0],\"categories_sizes\":[1],\"default_left\":[0,0,0],"                  \
    "\"left_children\":[1,-1,-1],\"right_children\":[2,-1,-1],\"split_indices\":[0,0,0],"          \
    "\"split_conditions\":[" root ",1.5," leaf "],\"split_type\":[1,0,0],"                         \
    "\"tree_param\":{\"num_nodes\":\"3\"}}]}},\"learner_model_param\":{\"base_score\":\"5E-1\","   \
    "\"num_class\":\"0\",\"num_feature\":\"1\"},\"objective\":{\"name\":\"rank:ndcg\"}},"          \
    "\"version\":[2,1,4]}"

START_TEST(the_condition_of_a_categorical_split_may_be_nan)
{
    static const char bad[] = CATEGORICAL("NaN", "NaN"), worse[] = CATEGORICAL("Infinity", "1");
    struct ek_trees *t = parse(CATEGORICAL("NaN", "2.5"));
    ck_assert(t->has_categories && t->category_count == 1 && t->category_word[0] == 8);
    ek_trees_free(t);
    check_refused(bad, sizeof bad - 1, "model.txt: tree 0: invalid or missing 'split_conditions'");
    check_refused(worse, sizeof worse - 1,
                  "model.txt:1:305: invalid JSON: unexpected character, expected a JSON value");
}
END_TEST

START_TEST(a_categorical_split_needs_its_categories)
{
    const char *text = CATEGORICAL("1.0", "2.5");
    char bad[2000];
    const char *from = strstr(text, "\"categories\":[3]"), *to = strstr(text, "\"default_left");
    int n = snprintf(bad, sizeof bad,
                     "%.*s\"categories\":[],\"categories_nodes\":[],\"categories_sizes\":[],%s",
                     (int)(from - text), text, to);
    check_refused(bad, (size_t)n, "model.txt: tree 0: invalid or missing 'categories_nodes'");
}
END_TEST

/* Each part of a file, and files that only resemble a model. */
START_TEST(truncated_and_other_files_are_refused)
{
    static const struct {
        const char *text, *says;
    } other[] = {
        {"tree\n", "model.txt:1: truncated: 'end of trees' is missing"},
        {"tree\nend of trees\n", "model.txt: the model has no trees"},
        {"tree\nTree=0\n", "model.txt:2: trees before 'version' and 'max_feature_idx'"},
        {"{L\x01", "model.txt: XGBoost's binary form is not supported; save the model as "
                   "'model.json'"},
        {"{\"name\":\"tree\",\"version\":\"v4\"}",
         "model.txt: LightGBM's JSON dump is not supported; save the model with 'save_model'"},
        {"{ \"learner\": {} }", "model.txt: invalid or missing 'version'"},
        {"{\"learner\":{},\"version\":[1,0,0]}", "model.txt: a model needs 1 to 4096 features"},
        {"{\"learner\":{}", "model.txt:1:14: invalid JSON: unexpected end of data"},
        {"booster[0]:\n", "model.txt: neither a LightGBM text model nor an XGBoost JSON model"},
        {"", "model.txt: neither a LightGBM text model nor an XGBoost JSON model"},
    };
    json_t *golden = golden_trees(), *model;
    size_t i;
    for (i = 0; i < sizeof other / sizeof *other; i++)
        check_refused(other[i].text, strlen(other[i].text), other[i].says);
    json_array_foreach(json_object_get(golden, "models"), i, model)
    {
        const char *text = json_string_value(json_object_get(model, "text"));
        const char *end = strstr(text, "end of trees");
        size_t most = end ? (size_t)(end - text) : strlen(text);
        for (size_t length = 0; length < most; length += 13) {
            struct ek_trees *t;
            char *part = ek_strndup(text, length); /* of exactly this size, for the sanitizers */
            ck_assert_int_ne(ek_trees_parse(&t, "m", part, length, NULL), EK_OK);
            ek_free(part);
        }
    }
    json_decref(golden);
}
END_TEST

START_TEST(a_model_file_with_trees_loads_as_a_model)
{
    json_t *golden = golden_trees();
    struct ek_manifest *m = golden_trees_manifest();
    char path[] = "/tmp/ek-trees-XXXXXX";
    static const char *const names[] = {"LightGBM, lambdarank", "XGBoost, ndcg"};
    struct ek_error e;
    close(mkstemp(path));
    for (int i = 0; i < 2; i++) {
        struct ek_model *model;
        ck_assert_int_eq(ek_file_write(path, golden_trees_text(golden, names[i]), NULL), EK_OK);
        ck_assert_int_eq(ek_model_load(&model, path, NULL), EK_OK);
        for (int again = 0; again < 2; again++) /* a model may be checked twice */
            ck_assert_int_eq(ek_model_check(model, m, NULL), EK_OK);
        ck_assert(model->trees && model->item_features == 4 && model->routable_count == 2);
        ck_assert_int_eq(ek_model_routable(model, "distance"), 1);
        ck_assert_int_eq(ek_model_require_network(model, path, "export needs", &e), EK_EUSAGE);
        ck_assert_ptr_nonnull(strstr(e.message, "export needs a network of 'evenkeel train', and "
                                                "this is a model of "));
        ek_model_free(model);
    }
    unlink(path);
    ek_manifest_free(m);
    json_decref(golden);
}
END_TEST

/* ----------------------------------------------------------------- limits */

static int so_many_trees(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    struct ek_trees *t = NULL;
    struct ek_error e = {0};
    ek_buf_init(&b, 0);
    ek_buf_text(&b, "tree\nversion=v4\nmax_feature_idx=0\n");
    for (int i = 0; i < count; i++)
        ek_buf_printf(&b, "Tree=%d\nnum_leaves=1\nnum_cat=0\nleaf_value=1\n\n", i);
    ek_buf_text(&b, "end of trees\n");
    int rc = ek_trees_parse(&t, "model.txt", (const char *)b.data, b.length, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_trees_free(t);
    ek_buf_release(&b);
    return rc;
}

START_TEST(a_model_has_100000_trees)
{
    ck_limit(so_many_trees, EK_TREES_MAX, "model.txt: ", "more than 100000 trees");
}
END_TEST

/* A model with a file of this size. */
static int so_many_bytes(int size, char said[SAID_BYTES])
{
    static const char text[] = "tree\nversion=v4\nmax_feature_idx=0\nTree=0\nnum_leaves=1\n"
                               "num_cat=0\nleaf_value=1\n\nend of trees\n";
    char path[] = "/tmp/ek-trees-XXXXXX";
    struct ek_trees *t = NULL;
    struct ek_error e = {0};
    close(mkstemp(path));
    ck_assert_int_eq(ek_file_write(path, text, NULL), EK_OK);
    ck_assert_int_eq(truncate(path, size), 0);
    int rc = ek_trees_load(&t, path, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_trees_free(t);
    unlink(path);
    return rc;
}

START_TEST(a_model_file_has_128_mib)
{
    ck_limit(so_many_bytes, EK_TREES_BYTES_MAX, "/tmp/ek-trees-", "134217728");
}
END_TEST

Suite *suite_trees(void);
Suite *suite_trees(void)
{
    return ek_suite(
        "trees", features_are_found_by_name, features_that_differ_are_listed,
        long_lists_of_features_are_cut, features_without_names_have_the_order_of_the_manifest,
        default_names_are_no_names, lightgbm_files_are_checked,
        category_sets_of_lightgbm_are_checked, nodes_that_the_root_does_not_reach_are_no_tree,
        xgboost_files_are_checked, categories_and_weights_of_xgboost_are_checked,
        the_condition_of_a_categorical_split_may_be_nan, a_categorical_split_needs_its_categories,
        truncated_and_other_files_are_refused, a_model_file_with_trees_loads_as_a_model,
        a_model_has_100000_trees, a_model_file_has_128_mib);
}
