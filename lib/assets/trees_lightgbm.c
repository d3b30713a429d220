/* Reader of LightGBM's text models, versions v3 and v4. */
#include "assets/trees_internal.h"
#include "base/alloc.h"
#include "base/parse.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bits of `decision_type`. */
enum { IS_CATEGORY = 1, IS_DEFAULT_LEFT = 2, MISSING_ZERO = 4, MISSING_NAN = 8, KNOWN_BITS = 15 };

/* Arrays of a tree; they follow the integers in KEYS. */
enum key {
    LEAVES,
    SETS,
    LINEAR,
    SPLIT_FEATURE,
    THRESHOLD,
    DECISION_TYPE,
    LEFT_CHILD,
    RIGHT_CHILD,
    LEAF_VALUE,
    SET_BOUNDARIES,
    SET_WORDS,
    KEY_COUNT
};
static const char *const KEYS[KEY_COUNT] = {
    "num_leaves", "num_cat",     "is_linear",  "split_feature",  "threshold",    "decision_type",
    "left_child", "right_child", "leaf_value", "cat_boundaries", "cat_threshold"};

struct lightgbm {
    struct ek_trees_builder *b;
    struct ek_trees *trees;
    const char *text, *end; /* the rest of the file */
    long line;
    struct ek_text key, value;      /* of the last line; the key is empty without an equals sign */
    struct ek_text tree[KEY_COUNT]; /* of the current tree; text NULL: absent */
    size_t first_set;
};

static int fail(struct lightgbm *l, const char *problem)
{
    return ek_fail_at(l->b->e, EK_EFORMAT, NULL, l->line, 0, "%s", problem);
}

static int tree_fail(struct lightgbm *l, enum key k)
{
    return ek_fail(l->b->e, EK_EFORMAT, "tree %d: invalid or missing '%s'", l->trees->tree_count,
                   KEYS[k]);
}

/* Read the next line. Return false at the end of the file. */
static bool next_line(struct lightgbm *l)
{
    if (l->text == l->end)
        return false;
    const char *line = l->text, *newline = memchr(line, '\n', (size_t)(l->end - line));
    const char *stop = newline ? newline : l->end;
    l->text = newline ? newline + 1 : l->end;
    l->line++;
    if (stop > line && stop[-1] == '\r')
        stop--;
    const char *equals = memchr(line, '=', (size_t)(stop - line));
    l->key = (struct ek_text){line, equals ? (size_t)(equals - line) : 0};
    l->value = equals ? (struct ek_text){equals + 1, (size_t)(stop - equals - 1)}
                      : (struct ek_text){line, (size_t)(stop - line)};
    return true;
}

static bool is(struct ek_text text, const char *word)
{
    return text.length == strlen(word) && !memcmp(text.text, word, text.length);
}

/* Remove the next word from `rest`. Return false without one. */
static bool next_word(struct ek_text *rest, struct ek_text *word)
{
    while (rest->length && *rest->text == ' ') {
        rest->text++;
        rest->length--;
    }
    const char *space = rest->length ? memchr(rest->text, ' ', rest->length) : NULL;
    *word = (struct ek_text){rest->text, space ? (size_t)(space - rest->text) : rest->length};
    rest->text += word->length;
    rest->length -= word->length;
    return word->length > 0;
}

static bool next_integer(struct ek_text *rest, int64_t *out)
{
    struct ek_text word;
    return next_word(rest, &word) && !ek_parse_i64(word.text, word.length, out);
}

static bool next_double(struct ek_text *rest, double *out)
{
    struct ek_text word;
    return next_word(rest, &word) && !ek_parse_double(word.text, word.length, out);
}

/* Return the only integer of a value, or -1. */
static int64_t one_integer(struct ek_text value)
{
    int64_t n;
    return value.text && next_integer(&value, &n) && !value.length ? n : -1;
}

static void copy_text(char *to, size_t size, struct ek_text text)
{
    snprintf(to, size, "%.*s", (int)(text.length < size ? text.length : size - 1), text.text);
}

/* ----------------------------------------------------------------- header */

/* Objectives whose predict returns the sum of the leaves. */
static const char *const IDENTITIES[] = {"lambdarank",    "rank_xendcg", "regression",
                                         "regression_l1", "huber",       "fair",
                                         "quantile",      "mape",        "custom"};

static int read_sigmoid(struct lightgbm *l, struct ek_text rest)
{
    static const char prefix[] = "sigmoid:";
    struct ek_text word;
    size_t n = sizeof prefix - 1;
    l->trees->link = EK_LINK_LOGISTIC;
    l->trees->sigmoid = 1;
    while (next_word(&rest, &word))
        if (word.length > n && !memcmp(word.text, prefix, n) &&
            (ek_parse_finite(word.text + n, word.length - n, &l->trees->sigmoid) ||
             l->trees->sigmoid <= 0))
            return fail(l, "invalid 'sigmoid' of the objective");
    return EK_OK;
}

/* The first word is the objective, the others are parameters. */
static int read_objective(struct lightgbm *l)
{
    struct ek_text rest = l->value, name, word;
    bool is_known = false, is_root = false;
    if (!next_word(&rest, &name))
        return fail(l, "'objective' is empty");
    copy_text(l->trees->objective, sizeof l->trees->objective, name);
    if (is(name, "binary"))
        return read_sigmoid(l, rest);
    for (size_t i = 0; i < sizeof IDENTITIES / sizeof *IDENTITIES; i++)
        is_known |= is(name, IDENTITIES[i]);
    while (next_word(&rest, &word))
        is_root |= is(word, "sqrt");
    if (is_known && !is_root)
        return EK_OK;
    return ek_fail(l->b->e, EK_EFORMAT,
                   "objective '%s%s' is not supported; supported are lambdarank, rank_xendcg, "
                   "binary and regression without a link function",
                   l->trees->objective, is_root ? " sqrt" : "");
}

static int read_names(struct lightgbm *l)
{
    struct ek_text rest = l->value, word;
    for (int i = 0; i < l->trees->columns.count; i++) {
        if (!next_word(&rest, &word))
            return fail(l, "fewer 'feature_names' than features");
        if (ek_columns_name(&l->trees->columns, i, word.text, word.length))
            return ek_fail(l->b->e, EK_ENOMEM, "out of memory");
    }
    if (next_word(&rest, &word))
        return fail(l, "more 'feature_names' than features");
    ek_columns_drop_default_names(&l->trees->columns, "Column_");
    return EK_OK;
}

static int read_columns(struct lightgbm *l)
{
    int64_t n = one_integer(l->value);
    if (l->trees->columns.count)
        return fail(l, "duplicate 'max_feature_idx'");
    if (n < 0 || n >= EK_FEATURES_MAX)
        return ek_fail(l->b->e, EK_EFORMAT, "a model needs 1 to %d features", EK_FEATURES_MAX);
    l->trees->columns.count = (int)n + 1;
    return EK_OK;
}

static int read_version(struct lightgbm *l)
{
    copy_text(l->trees->version, sizeof l->trees->version, l->value);
    if (is(l->value, "v3") || is(l->value, "v4"))
        return EK_OK;
    return ek_fail(l->b->e, EK_EFORMAT,
                   "version '%s' of LightGBM's text format is not supported; v3 and v4 are",
                   l->trees->version);
}

static int read_header_line(struct lightgbm *l)
{
    if (is(l->key, "version"))
        return read_version(l);
    if (is(l->key, "num_class") || is(l->key, "num_tree_per_iteration"))
        return one_integer(l->value) == 1
                   ? EK_OK
                   : fail(l, "a model of several classes is not supported; it has no one score");
    if (is(l->key, "max_feature_idx"))
        return read_columns(l);
    if (is(l->key, "objective"))
        return read_objective(l);
    if (is(l->key, "feature_names"))
        return !l->trees->columns.count ? fail(l, "'feature_names' without 'max_feature_idx'")
               : l->trees->columns.name ? fail(l, "duplicate 'feature_names'")
                                        : read_names(l);
    if (!l->key.length && is(l->value, "average_output"))
        return ek_fail(l->b->e, EK_EFORMAT,
                       "boosting 'rf' (average_output) is not supported; 'gbdt', 'dart' and 'goss' "
                       "are");
    return EK_OK;
}

/* ----------------------------------------------------------------- trees */

/* Read the category sets of the tree. */
static int read_sets(struct lightgbm *l, int64_t sets)
{
    struct ek_text bounds = l->tree[SET_BOUNDARIES], words = l->tree[SET_WORDS];
    int64_t from, to, word;
    l->first_set = l->trees->category_count;
    if (!sets)
        return EK_OK;
    if (!bounds.text || !words.text || !next_integer(&bounds, &from) || from)
        return tree_fail(l, SET_BOUNDARIES);
    for (int64_t i = 0; i < sets; i++, from = to) {
        if (!next_integer(&bounds, &to) || to < from)
            return tree_fail(l, SET_BOUNDARIES);
        if (ek_trees_add_set(l->b) < 0)
            return EK_ENOMEM;
        for (int64_t w = from; w < to; w++) {
            if (!next_integer(&words, &word) || word < 0 || word > UINT32_MAX)
                return tree_fail(l, SET_WORDS);
            if (ek_trees_add_word(l->b, (uint32_t)word))
                return EK_ENOMEM;
        }
    }
    return next_integer(&words, &word) ? tree_fail(l, SET_WORDS) : EK_OK;
}

/* Set the bits of the split. A missing value without a direction of its own counts as 0. */
static int set_decision(struct lightgbm *l, struct ek_raw_node *n, int64_t type, int64_t sets)
{
    bool is_left = type & IS_DEFAULT_LEFT, is_zero = (type & 12) == MISSING_ZERO;
    if (type < 0 || type > KNOWN_BITS || (type & 12) == 12)
        return tree_fail(l, DECISION_TYPE);
    if (type & IS_CATEGORY) {
        if (!(n->threshold >= 0 && n->threshold < (double)sets))
            return tree_fail(l, THRESHOLD);
        n->threshold = (double)(l->first_set + (size_t)n->threshold);
        n->split |= EK_NODE_CATEGORY; /* missing values go right */
        return EK_OK;
    }
    if (!(type & 12))
        is_left = n->threshold >= 0;
    n->split |= (is_left ? EK_NODE_MISSING_LEFT : 0) | (is_zero ? EK_NODE_ZERO_MISSING : 0);
    return EK_OK;
}

/* A negative child is ~leaf; leaves follow the inner nodes. */
static int64_t child_of(int64_t child, int64_t leaves)
{
    if (child >= 0)
        return child < leaves - 1 ? child : -1;
    return ~child < leaves ? leaves - 1 + ~child : -1;
}

static int read_splits(struct lightgbm *l, int64_t leaves, int64_t sets)
{
    struct ek_text rest[KEY_COUNT];
    memcpy(rest, l->tree, sizeof rest);
    for (int64_t i = 0; i < leaves - 1; i++) {
        struct ek_raw_node *n = &l->b->raw[i];
        int64_t column, type, left, right;
        if (!next_integer(&rest[SPLIT_FEATURE], &column) || column < 0 ||
            column >= l->trees->columns.count)
            return tree_fail(l, SPLIT_FEATURE);
        if (!next_double(&rest[THRESHOLD], &n->threshold))
            return tree_fail(l, THRESHOLD);
        if (!next_integer(&rest[DECISION_TYPE], &type))
            return tree_fail(l, DECISION_TYPE);
        if (!next_integer(&rest[LEFT_CHILD], &left))
            return tree_fail(l, LEFT_CHILD);
        if (!next_integer(&rest[RIGHT_CHILD], &right))
            return tree_fail(l, RIGHT_CHILD);
        n->split = (uint32_t)column;
        n->left = child_of(left, leaves);
        n->right = child_of(right, leaves);
        if (set_decision(l, n, type, sets))
            return EK_EFORMAT;
    }
    for (int64_t i = 0; i < leaves; i++) {
        struct ek_raw_node *n = &l->b->raw[leaves - 1 + i];
        n->split = EK_NODE_LEAF;
        if (!next_double(&rest[LEAF_VALUE], &n->threshold))
            return tree_fail(l, LEAF_VALUE);
    }
    return EK_OK;
}

/* Convert the collected lines. A leaf has at least two bytes in the file, so `leaves` is bounded by
 * its size. */
static int add_tree(struct lightgbm *l)
{
    int64_t leaves = one_integer(l->tree[LEAVES]), sets = one_integer(l->tree[SETS]);
    int64_t most = (int64_t)(l->tree[LEAF_VALUE].length + 1) / 2;
    if (l->tree[LINEAR].text && one_integer(l->tree[LINEAR]) != 0)
        return ek_fail(l->b->e, EK_EFORMAT, "tree %d is linear ('linear_tree'): not supported",
                       l->trees->tree_count);
    if (leaves < 1 || leaves > most)
        return tree_fail(l, LEAVES);
    if (sets < 0 || sets >= leaves)
        return tree_fail(l, SETS);
    int rc = ek_trees_builder_reserve(l->b, (size_t)(2 * leaves - 1));
    if (!rc)
        rc = read_sets(l, sets);
    if (!rc)
        rc = read_splits(l, leaves, sets);
    return rc ? rc : ek_trees_add(l->b, (size_t)(2 * leaves - 1), false);
}

/* Read the lines of one tree, up to an empty line. */
static int read_tree(struct lightgbm *l)
{
    memset(l->tree, 0, sizeof l->tree);
    if (one_integer(l->value) != l->trees->tree_count)
        return fail(l, "trees are not numbered from 0");
    while (next_line(l) && (l->key.length || l->value.length))
        for (int i = 0; i < KEY_COUNT; i++)
            if (is(l->key, KEYS[i]))
                l->tree[i] = l->value;
    return add_tree(l);
}

/* Categories of a data frame are numbered by the Python package, not in the trees. */
static int check_rest(struct lightgbm *l)
{
    static const char prefix[] = "pandas_categorical:";
    size_t n = sizeof prefix - 1;
    while (next_line(l)) {
        struct ek_text t = l->value;
        if (l->key.length || t.length < n || memcmp(t.text, prefix, n) != 0)
            continue;
        t = (struct ek_text){t.text + n, t.length - n};
        if (!is(t, "null") && !is(t, "[]"))
            return fail(l, "categories of a pandas data frame are not supported; train on their "
                           "codes");
    }
    return EK_OK;
}

int ek_trees_read_lightgbm(struct ek_trees_builder *b, const char *text, size_t length)
{
    struct lightgbm l = {.b = b, .trees = b->trees, .text = text, .end = text + length};
    bool is_complete = false;
    int rc = EK_OK;
    b->trees->library = EK_LIGHTGBM;
    while (!rc && !is_complete && next_line(&l)) {
        is_complete = !l.key.length && is(l.value, "end of trees");
        if (is(l.key, "Tree") && !(l.trees->columns.count && l.trees->version[0]))
            rc = fail(&l, "trees before 'version' and 'max_feature_idx'");
        else
            rc = is(l.key, "Tree") ? read_tree(&l) : read_header_line(&l);
    }
    if (rc)
        return rc;
    return is_complete ? check_rest(&l) : fail(&l, "truncated: 'end of trees' is missing");
}
