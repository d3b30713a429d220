/* Reader of XGBoost's JSON models, versions 1 to 3, boosters gbtree and dart. */
#include "assets/trees_internal.h"
#include "base/alloc.h"
#include "base/parse.h"
#include "yaml/json_parse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Categories are below this number, or the value counts as no category. */
enum { VERSION_MAX = 3, CATEGORIES_MAX = 1 << 24, SPLIT_CATEGORY = 1 };

struct xgboost {
    struct ek_trees_builder *b;
    struct ek_trees *trees;
};

static int fail(struct xgboost *x, const char *problem)
{
    return ek_fail(x->b->e, EK_EFORMAT, "%s", problem);
}

static int invalid(struct xgboost *x, const char *key)
{
    return ek_fail(x->b->e, EK_EFORMAT, "invalid or missing '%s'", key);
}

static int tree_fail(struct xgboost *x, const char *key)
{
    return ek_fail(x->b->e, EK_EFORMAT, "tree %d: invalid or missing '%s'", x->trees->tree_count,
                   key);
}

/* Return a nested member, NULL if absent. The path ends with NULL. */
static yyjson_val *member(yyjson_val *v, const char *const *path)
{
    for (; v && *path; path++)
        v = yyjson_obj_get(v, *path);
    return v;
}

/* Return a count in decimal digits, or -1: parameters are strings. */
static int64_t count_of(yyjson_val *v)
{
    const char *text = yyjson_get_str(v);
    int64_t n;
    return text && !ek_parse_i64(text, EK_WHOLE, &n) && n >= 0 ? n : -1;
}

static int64_t integer_at(yyjson_val *v)
{
    return yyjson_is_bool(v) ? yyjson_is_true(v) : yyjson_is_int(v) ? yyjson_get_sint(v) : -1;
}

/* ----------------------------------------------------------------- learner */

static int read_version(struct xgboost *x, yyjson_val *root)
{
    yyjson_val *v = yyjson_obj_get(root, "version");
    int64_t number[3] = {-1, -1, -1};
    for (size_t i = 0; i < 3 && i < yyjson_arr_size(v); i++)
        number[i] = integer_at(yyjson_arr_get(v, i));
    if (number[0] < 0 || number[1] < 0 || number[2] < 0)
        return invalid(x, "version");
    snprintf(x->trees->version, sizeof x->trees->version, "%d.%d.%d", (int)number[0],
             (int)number[1], (int)number[2]);
    if (number[0] >= 1 && number[0] <= VERSION_MAX)
        return EK_OK;
    return ek_fail(x->b->e, EK_EFORMAT,
                   "version %s of XGBoost is not supported; versions 1 to %d are",
                   x->trees->version, VERSION_MAX);
}

/* Objectives, and whether predict applies the logistic function to the sum of the leaves. */
static const struct {
    const char *name;
    bool is_logistic;
} OBJECTIVES[] = {
    {"rank:ndcg", false},         {"rank:pairwise", false},        {"rank:map", false},
    {"reg:squarederror", false},  {"reg:linear", false},           {"reg:squaredlogerror", false},
    {"reg:absoluteerror", false}, {"reg:pseudohubererror", false}, {"binary:logitraw", false},
    {"binary:logistic", true},    {"reg:logistic", true}};

static int read_objective(struct xgboost *x, yyjson_val *learner)
{
    const char *name = yyjson_get_str(member(learner, (const char *[]){"objective", "name", NULL}));
    if (!name)
        return invalid(x, "objective");
    snprintf(x->trees->objective, sizeof x->trees->objective, "%s", name);
    for (size_t i = 0; i < sizeof OBJECTIVES / sizeof *OBJECTIVES; i++)
        if (!strcmp(name, OBJECTIVES[i].name)) {
            x->trees->link = OBJECTIVES[i].is_logistic ? EK_LINK_LOGISTIC : EK_LINK_IDENTITY;
            return EK_OK;
        }
    return ek_fail(x->b->e, EK_EFORMAT,
                   "objective '%.60s' is not supported; supported are rank:*, binary:logistic, "
                   "binary:logitraw and regression without a link function",
                   name);
}

/* Set the score before the first tree. The file has a probability for the logistic function, as
 * one number or a list of one. */
static int read_base_score(struct xgboost *x, yyjson_val *param)
{
    const char *text = yyjson_get_str(yyjson_obj_get(param, "base_score"));
    size_t length = text ? strlen(text) : 0;
    double value;
    if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (!text || ek_parse_finite(text, length, &value) || !isfinite((float)value))
        return invalid(x, "base_score");
    float base = (float)value;
    if (x->trees->link == EK_LINK_LOGISTIC) {
        if (!(base > 0 && base < 1))
            return invalid(x, "base_score");
        base = -logf(1.0f / base - 1.0f);
    }
    x->trees->base_score = base;
    return EK_OK;
}

static int read_names(struct xgboost *x, yyjson_val *learner)
{
    yyjson_val *names = yyjson_obj_get(learner, "feature_names");
    size_t count = yyjson_arr_size(names);
    if (count && count != (size_t)x->trees->columns.count)
        return invalid(x, "feature_names");
    for (size_t i = 0; i < count; i++) {
        yyjson_val *v = yyjson_arr_get(names, i);
        if (!yyjson_is_str(v))
            return invalid(x, "feature_names");
        if (ek_columns_name(&x->trees->columns, (int)i, yyjson_get_str(v), yyjson_get_len(v)))
            return ek_fail(x->b->e, EK_ENOMEM, "out of memory");
    }
    ek_columns_drop_default_names(&x->trees->columns, "f");
    return EK_OK;
}

static int read_learner(struct xgboost *x, yyjson_val *learner)
{
    yyjson_val *param = yyjson_obj_get(learner, "learner_model_param");
    int64_t columns = count_of(yyjson_obj_get(param, "num_feature"));
    int64_t classes = count_of(yyjson_obj_get(param, "num_class"));
    yyjson_val *targets = yyjson_obj_get(param, "num_target"); /* since version 1.6 */
    if (columns < 1 || columns > EK_FEATURES_MAX)
        return ek_fail(x->b->e, EK_EFORMAT, "a model needs 1 to %d features", EK_FEATURES_MAX);
    if (classes < 0 || classes > 1 || (targets && count_of(targets) != 1))
        return fail(x, "a model of several classes or targets is not supported; it has no one "
                       "score");
    x->trees->columns.count = (int)columns;
    int rc = read_objective(x, learner);
    if (!rc)
        rc = read_base_score(x, param);
    return rc ? rc : read_names(x, learner);
}

/* ----------------------------------------------------------------- trees */

static const double NO_SET = -1; /* the threshold of a node without categories */

/* Add the category sets of a tree, and set the thresholds of their nodes to the set numbers. */
static int read_categories(struct xgboost *x, yyjson_val *tree, size_t nodes)
{
    yyjson_val *node = yyjson_obj_get(tree, "categories_nodes");
    yyjson_val *size = yyjson_obj_get(tree, "categories_sizes");
    yyjson_val *all = yyjson_obj_get(tree, "categories");
    size_t used = 0;
    if (yyjson_arr_size(node) != yyjson_arr_size(size))
        return tree_fail(x, "categories_sizes");
    for (size_t i = 0; i < nodes; i++)
        x->b->raw[i].threshold = NO_SET;
    for (size_t i = 0; i < yyjson_arr_size(node); i++) {
        int64_t number = integer_at(yyjson_arr_get(node, i));
        int64_t count = integer_at(yyjson_arr_get(size, i));
        uint32_t bits = 0, word = 0;
        if (number < 0 || (uint64_t)number >= nodes)
            return tree_fail(x, "categories_nodes");
        if (count < 0 || (uint64_t)count > yyjson_arr_size(all) - used)
            return tree_fail(x, "categories_sizes");
        int64_t set = ek_trees_add_set(x->b), last = -1;
        if (set < 0)
            return EK_ENOMEM;
        for (int64_t k = 0; k < count; k++) {
            int64_t category = integer_at(yyjson_arr_get(all, used++));
            if (category <= last || category >= CATEGORIES_MAX)
                return tree_fail(x, "categories");
            last = category;
            for (; word < (uint32_t)category / 32; word++, bits = 0)
                if (ek_trees_add_word(x->b, bits))
                    return EK_ENOMEM;
            bits |= (uint32_t)1 << category % 32;
        }
        if (count && ek_trees_add_word(x->b, bits))
            return EK_ENOMEM;
        x->b->raw[number].threshold = (double)set;
    }
    return EK_OK;
}

struct tree_arrays {
    yyjson_val *left, *right, *column, *condition, *missing_left, *type;
};

static const struct {
    const char *key;
    size_t at;
    bool is_optional;
} ARRAYS[] = {{"left_children", offsetof(struct tree_arrays, left), false},
              {"right_children", offsetof(struct tree_arrays, right), false},
              {"split_indices", offsetof(struct tree_arrays, column), false},
              {"split_conditions", offsetof(struct tree_arrays, condition), false},
              {"default_left", offsetof(struct tree_arrays, missing_left), false},
              {"split_type", offsetof(struct tree_arrays, type), true}};

/* Find the arrays of a tree. All have an entry per node. */
static int find_arrays(struct xgboost *x, yyjson_val *tree, struct tree_arrays *a, size_t *nodes)
{
    int64_t count = count_of(member(tree, (const char *[]){"tree_param", "num_nodes", NULL}));
    yyjson_val *width = member(tree, (const char *[]){"tree_param", "size_leaf_vector", NULL});
    for (size_t i = 0; i < sizeof ARRAYS / sizeof *ARRAYS; i++) {
        yyjson_val *v = yyjson_obj_get(tree, ARRAYS[i].key);
        bool is_absent = ARRAYS[i].is_optional && (!v || !yyjson_arr_size(v));
        if (!is_absent && (!yyjson_is_arr(v) || (int64_t)yyjson_arr_size(v) != count))
            return tree_fail(x, ARRAYS[i].key);
        *(yyjson_val **)((char *)a + ARRAYS[i].at) = is_absent ? NULL : v;
    }
    if (count < 1)
        return tree_fail(x, "num_nodes");
    if (width && count_of(width) > 1)
        return fail(x, "trees with several outputs ('size_leaf_vector') are not supported");
    *nodes = (size_t)count;
    return EK_OK;
}

/* The first values of the arrays, advanced in step: yyjson_arr_get takes linear time. */
static void advance(struct tree_arrays *a)
{
    for (size_t i = 0; i < sizeof ARRAYS / sizeof *ARRAYS; i++) {
        yyjson_val **v = (yyjson_val **)((char *)a + ARRAYS[i].at);
        *v = *v ? unsafe_yyjson_get_next(*v) : NULL;
    }
}

static void enter(struct tree_arrays *a)
{
    for (size_t i = 0; i < sizeof ARRAYS / sizeof *ARRAYS; i++) {
        yyjson_val **v = (yyjson_val **)((char *)a + ARRAYS[i].at);
        *v = *v ? yyjson_arr_get_first(*v) : NULL;
    }
}

/* Read a node. `x < t` in float32 is `x <= the float32 before t`. */
static int read_node(struct xgboost *x, const struct tree_arrays *a, struct ek_raw_node *n)
{
    int64_t column = integer_at(a->column), missing_left = integer_at(a->missing_left);
    bool is_category = a->type && integer_at(a->type) == SPLIT_CATEGORY;
    float condition = (float)yyjson_get_num(a->condition);
    bool is_number = yyjson_is_num(a->condition) && isfinite(condition);
    if (!is_number && !(is_category && integer_at(a->left) >= 0))
        return tree_fail(x, "split_conditions");
    if (!yyjson_is_int(a->left) || !yyjson_is_int(a->right))
        return tree_fail(x, "left_children");
    n->left = yyjson_get_sint(a->left);
    n->right = yyjson_get_sint(a->right);
    if (n->left == -1) {
        n->split = EK_NODE_LEAF;
        n->threshold = (double)condition;
        return EK_OK;
    }
    if (column < 0 || column >= x->trees->columns.count)
        return tree_fail(x, "split_indices");
    if (missing_left < 0 || missing_left > 1)
        return tree_fail(x, "default_left");
    n->split = (uint32_t)column | (missing_left ? EK_NODE_MISSING_LEFT : 0);
    if (!is_category)
        n->threshold = (double)nextafterf(condition, -INFINITY);
    else if (n->threshold <= NO_SET)
        return tree_fail(x, "categories_nodes");
    else
        n->split |= EK_NODE_CATEGORY;
    return EK_OK;
}

static int read_tree(struct xgboost *x, yyjson_val *tree)
{
    struct tree_arrays a;
    size_t nodes = 0;
    int rc = find_arrays(x, tree, &a, &nodes);
    if (!rc)
        rc = ek_trees_builder_reserve(x->b, nodes);
    if (!rc)
        rc = read_categories(x, tree, nodes);
    if (rc)
        return rc;
    enter(&a);
    for (size_t i = 0; i < nodes && !rc; i++, advance(&a))
        rc = read_node(x, &a, &x->b->raw[i]);
    return rc ? rc : ek_trees_add(x->b, nodes, true);
}

/* Weights of dart, one per tree. */
static int read_weights(struct xgboost *x, yyjson_val *weights, size_t trees)
{
    size_t i, most;
    yyjson_val *v;
    if (yyjson_arr_size(weights) != trees)
        return invalid(x, "weight_drop");
    if (!(x->trees->weight = ek_calloc(trees, sizeof *x->trees->weight)))
        return ek_fail(x->b->e, EK_ENOMEM, "out of memory");
    yyjson_arr_foreach(weights, i, most, v)
    {
        if (!yyjson_is_num(v) || !isfinite((float)yyjson_get_num(v)))
            return invalid(x, "weight_drop");
        x->trees->weight[i] = (float)yyjson_get_num(v);
    }
    return EK_OK;
}

/* After early stopping, XGBoost's interfaces use different numbers of trees. */
static int check_rounds(struct xgboost *x, yyjson_val *learner, yyjson_val *model)
{
    const char *best =
        yyjson_get_str(member(learner, (const char *[]){"attributes", "best_iteration", NULL}));
    int64_t rounds = (int64_t)yyjson_arr_size(yyjson_obj_get(model, "iteration_indptr")) - 1;
    int64_t parallel =
        count_of(member(model, (const char *[]){"gbtree_model_param", "num_parallel_tree", NULL}));
    int64_t number;
    if (rounds < 0) /* before version 2 */
        rounds = (int64_t)yyjson_arr_size(yyjson_obj_get(model, "trees")) /
                 (parallel > 0 ? parallel : 1);
    if (!best || ek_parse_i64(best, EK_WHOLE, &number) || number + 1 >= rounds)
        return EK_OK;
    return ek_fail(x->b->e, EK_EFORMAT,
                   "early stopping at round %lld of %lld, so which trees rank is not known; save "
                   "'booster[: booster.best_iteration + 1]'",
                   (long long)number + 1, (long long)rounds);
}

static int read_trees(struct xgboost *x, yyjson_val *model)
{
    yyjson_val *trees = yyjson_obj_get(model, "trees"), *info = yyjson_obj_get(model, "tree_info");
    yyjson_val *v;
    size_t i, most;
    if (yyjson_arr_size(member(model, (const char *[]){"cats", "enc", NULL})))
        return fail(x, "categories of a data frame are not supported; train on their codes");
    yyjson_arr_foreach(info, i, most, v)
    {
        if (integer_at(v))
            return invalid(x, "tree_info");
    }
    if (!yyjson_is_arr(trees))
        return invalid(x, "trees");
    yyjson_arr_foreach(trees, i, most, v)
    {
        int rc = read_tree(x, v);
        if (rc)
            return rc;
    }
    return EK_OK;
}

static int read_booster(struct xgboost *x, yyjson_val *learner)
{
    yyjson_val *booster = yyjson_obj_get(learner, "gradient_booster"), *model = booster;
    const char *name = yyjson_get_str(yyjson_obj_get(booster, "name"));
    if (!name)
        return invalid(x, "gradient_booster");
    bool is_dart = !strcmp(name, "dart");
    if (!is_dart && strcmp(name, "gbtree") != 0)
        return ek_fail(x->b->e, EK_EFORMAT,
                       "booster '%.40s' is not supported; 'gbtree' and 'dart' are", name);
    if (is_dart)
        model = yyjson_obj_get(booster, "gbtree");
    model = yyjson_obj_get(model, "model");
    int rc = check_rounds(x, learner, model);
    if (!rc)
        rc = read_trees(x, model);
    if (!rc && is_dart)
        rc = read_weights(x, yyjson_obj_get(booster, "weight_drop"), (size_t)x->trees->tree_count);
    return rc;
}

/* Return a copy in which empty strings replace NaN, which is no JSON; NULL if out of memory.
 * Versions before 3 write it as the condition of categorical splits. */
static char *replace_nan(const char *text, size_t length)
{
    char *copy = ek_strndup(text, length);
    bool is_string = false;
    for (size_t i = 0; copy && i < length; i++) {
        if (is_string && copy[i] == '\\') {
            i++;
        } else if (copy[i] == '"') {
            is_string = !is_string;
        } else if (!is_string && length - i >= 3 && !memcmp(copy + i, "NaN", 3)) {
            memcpy(copy + i, "\"\" ", 3);
            i += 2;
        }
    }
    return copy;
}

/* Parse the file. Errors as ek_json_parse. */
static int parse_text(yyjson_doc **doc, const char *text, size_t length, struct ek_json_error *why)
{
    if (!memmem(text, length, "NaN", 3))
        return ek_json_parse(doc, text, length, false, why);
    char *copy = replace_nan(text, length);
    int rc = copy ? ek_json_parse(doc, copy, length, false, why) : EK_ENOMEM;
    ek_free(copy);
    return rc;
}

int ek_trees_read_xgboost(struct ek_trees_builder *b, const char *text, size_t length)
{
    struct xgboost x = {b, b->trees};
    struct ek_json_error why;
    yyjson_doc *doc;
    b->trees->library = EK_XGBOOST;
    int rc = parse_text(&doc, text, length, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(b->e, EK_ENOMEM, "out of memory");
    if (rc)
        return ek_fail_at(b->e, EK_EFORMAT, NULL, why.line, why.column, "invalid JSON: %s",
                          why.text);
    yyjson_val *root = yyjson_doc_get_root(doc), *learner = yyjson_obj_get(root, "learner");
    rc = read_version(&x, root);
    if (!rc)
        rc = read_learner(&x, learner);
    if (!rc)
        rc = read_booster(&x, learner);
    yyjson_doc_free(doc);
    return rc;
}
