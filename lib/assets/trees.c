#include "assets/trees.h"

#include "assets/trees_internal.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ek_tree_library_name(enum ek_tree_library library)
{
    return library == EK_LIGHTGBM ? "LightGBM" : "XGBoost";
}

void ek_trees_free(struct ek_trees *t)
{
    if (!t)
        return;
    ek_columns_release(&t->columns);
    void *const arrays[] = {t->root,  t->depth,    t->weight,       t->node,
                            t->value, t->category, t->category_word};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    ek_free(t);
}

double ek_trees_cost(const struct ek_trees *t)
{
    double sum = 0;
    for (int i = 0; i < t->tree_count; i++)
        sum += 1 + t->depth[i];
    return sum;
}

/* ----------------------------------------------------------------- construction */

static int out_of_memory(const struct ek_trees_builder *b)
{
    return ek_fail(b->e, EK_ENOMEM, "out of memory");
}

static void release_builder(struct ek_trees_builder *b)
{
    ek_free(b->raw);
    ek_free(b->order);
    ek_free(b->placed);
}

int ek_trees_builder_reserve(struct ek_trees_builder *b, size_t nodes)
{
    if (nodes > b->raw_capacity) {
        release_builder(b);
        b->raw_capacity = 0;
        b->raw = ek_calloc(nodes, sizeof *b->raw);
        b->order = ek_calloc(nodes, sizeof *b->order);
        b->placed = ek_calloc(nodes, sizeof *b->placed);
        if (!b->raw || !b->order || !b->placed)
            return out_of_memory(b);
        b->raw_capacity = nodes;
    }
    memset(b->raw, 0, nodes * sizeof *b->raw);
    return EK_OK;
}

static bool grow(void *array, size_t count, size_t *capacity, size_t size)
{
    void **at = array, *grown = ek_grow(*at, count, capacity, size);
    if (grown)
        *at = grown;
    return grown != NULL;
}

int64_t ek_trees_add_set(struct ek_trees_builder *b)
{
    struct ek_trees *t = b->trees;
    if (!grow(&t->category, t->category_count, &b->set_capacity, sizeof *t->category)) {
        out_of_memory(b);
        return -1;
    }
    t->category[t->category_count] = (struct ek_category_set){t->category_words, 0};
    return (int64_t)t->category_count++;
}

int ek_trees_add_word(struct ek_trees_builder *b, uint32_t word)
{
    struct ek_trees *t = b->trees;
    if (!grow(&t->category_word, t->category_words, &b->word_capacity, sizeof *t->category_word))
        return out_of_memory(b);
    t->category_word[t->category_words++] = word;
    t->category[t->category_count - 1].words++;
    return EK_OK;
}

/* Append an empty node. */
static int add_node(struct ek_trees_builder *b)
{
    struct ek_trees *t = b->trees;
    if (!grow(&t->node, t->node_count, &b->node_capacity, sizeof *t->node) ||
        !grow(&t->value, t->node_count, &b->value_capacity, sizeof *t->value))
        return out_of_memory(b);
    t->node_count++;
    return EK_OK;
}

static int check_raw(const struct ek_trees_builder *b, uint32_t number, size_t nodes)
{
    const struct ek_raw_node *n = &b->raw[number];
    const struct ek_trees *t = b->trees;
    int tree = t->tree_count;
    bool leaf = n->split & EK_NODE_LEAF;
    if (leaf && !isfinite(n->threshold))
        return ek_fail(b->e, EK_EFORMAT, "tree %d: node %u has a value that is not finite", tree,
                       number);
    if (leaf)
        return EK_OK;
    if (!(n->threshold > (double)-INFINITY)) /* inf separates missing values from all others */
        return ek_fail(b->e, EK_EFORMAT, "tree %d: node %u has an invalid threshold", tree, number);
    if ((int)(n->split & EK_NODE_COLUMN) >= t->columns.count)
        return ek_fail(b->e, EK_EFORMAT, "tree %d: node %u has feature %u of %d", tree, number,
                       n->split & EK_NODE_COLUMN, t->columns.count);
    const int64_t child[] = {n->left, n->right};
    for (int i = 0; i < 2; i++) {
        if (child[i] < 0 || (uint64_t)child[i] >= nodes)
            return ek_fail(b->e, EK_EFORMAT, "tree %d: node %u has a child that does not exist",
                           tree, number);
        if (b->placed[child[i]])
            return ek_fail(b->e, EK_EFORMAT,
                           "tree %d: node %u has a child with two parents, so this is no tree",
                           tree, number);
        b->placed[child[i]] = true;
    }
    return EK_OK;
}

/* Write the raw node to its place, which exists; the places of its children follow the last. */
static int place(struct ek_trees_builder *b, uint32_t number, size_t at)
{
    const struct ek_raw_node *n = &b->raw[number];
    struct ek_trees *t = b->trees;
    size_t left = t->node_count;
    if (n->split & EK_NODE_LEAF) {
        t->node[at] = (struct ek_tree_node){(double)INFINITY, EK_NODE_LEAF | EK_NODE_MISSING_LEFT,
                                            (uint32_t)at};
        t->value[at] = n->threshold;
        return EK_OK;
    }
    t->has_zero_missing |= (n->split & EK_NODE_ZERO_MISSING) != 0;
    t->has_categories |= (n->split & EK_NODE_CATEGORY) != 0;
    int rc = add_node(b);
    if (!rc)
        rc = add_node(b);
    if (!rc) /* the array may have moved */
        t->node[at] = (struct ek_tree_node){n->threshold, n->split, (uint32_t)left};
    return rc;
}

/* Place the nodes level by level. Node i of `order` is at `root` + i. */
static int place_all(struct ek_trees_builder *b, size_t nodes, size_t *placed, int *depth)
{
    size_t root = b->trees->node_count, level_end = 1, known = 1;
    int rc = add_node(b);
    memset(b->placed, 0, nodes * sizeof *b->placed);
    b->placed[0] = true;
    b->order[0] = 0;
    *depth = 0;
    for (size_t i = 0; i < known && !rc; i++) {
        uint32_t number = b->order[i];
        const struct ek_raw_node *n = &b->raw[number];
        if (i == level_end) {
            level_end = known;
            ++*depth;
        }
        rc = check_raw(b, number, nodes);
        if (!rc)
            rc = place(b, number, root + i);
        if (!rc && !(n->split & EK_NODE_LEAF)) {
            b->order[known++] = (uint32_t)n->left;
            b->order[known++] = (uint32_t)n->right;
        }
    }
    *placed = known;
    return rc;
}

int ek_trees_add(struct ek_trees_builder *b, size_t nodes, bool with_unused)
{
    struct ek_trees *t = b->trees;
    size_t placed, count = (size_t)t->tree_count;
    int depth;
    if (t->tree_count == EK_TREES_MAX)
        return ek_fail(b->e, EK_ELIMIT, "more than %d trees", EK_TREES_MAX);
    if (!grow(&t->root, count, &b->root_capacity, sizeof *t->root) ||
        !grow(&t->depth, count, &b->depth_capacity, sizeof *t->depth))
        return out_of_memory(b);
    t->root[count] = (uint32_t)t->node_count;
    int rc = place_all(b, nodes, &placed, &depth);
    if (rc)
        return rc;
    if (placed < nodes && !with_unused)
        return ek_fail(b->e, EK_EFORMAT, "tree %d: its root does not reach %zu of %zu nodes",
                       t->tree_count, nodes - placed, nodes);
    t->depth[count] = depth;
    t->tree_count++;
    return EK_OK;
}

/* ----------------------------------------------------------------- files */

static bool starts_with(const char *text, size_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length >= n && !memcmp(text, prefix, n);
}

/* Return the length of JSON white space at the start. */
static size_t blank(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && (text[n] == ' ' || text[n] == '\t' || text[n] == '\n' || text[n] == '\r'))
        n++;
    return n;
}

/* Return whether JSON begins with this key. */
static bool has_first_key(const char *text, size_t length, const char *key)
{
    size_t at = blank(text, length);
    if (at == length || text[at] != '{')
        return false;
    at += 1 + blank(text + at + 1, length - at - 1);
    return starts_with(text + at, length - at, key);
}

/* The binary form begins with a brace and the length of the first key. */
static bool is_ubjson(const char *text, size_t length)
{
    return starts_with(text, length, "{L") || starts_with(text, length, "{i\007") ||
           starts_with(text, length, "{U\007");
}

static bool is_lightgbm(const char *text, size_t length)
{
    return starts_with(text, length, "tree\n") || starts_with(text, length, "tree\r\n");
}

static bool is_lightgbm_dump(const char *text, size_t length)
{
    return has_first_key(text, length, "\"name\":\"tree\"") ||
           has_first_key(text, length, "\"name\": \"tree\"");
}

static bool is_xgboost(const char *text, size_t length)
{
    return has_first_key(text, length, "\"learner\"");
}

bool ek_trees_begins(const void *bytes, size_t length)
{
    return is_lightgbm(bytes, length) || is_lightgbm_dump(bytes, length) ||
           is_xgboost(bytes, length) || is_ubjson(bytes, length);
}

static int read_any(struct ek_trees_builder *b, const char *text, size_t length)
{
    if (is_lightgbm(text, length))
        return ek_trees_read_lightgbm(b, text, length);
    if (is_xgboost(text, length))
        return ek_trees_read_xgboost(b, text, length);
    if (is_ubjson(text, length))
        return ek_fail(b->e, EK_EFORMAT,
                       "XGBoost's binary form is not supported; save the model as 'model.json'");
    if (is_lightgbm_dump(text, length))
        return ek_fail(b->e, EK_EFORMAT,
                       "LightGBM's JSON dump is not supported; save the model with 'save_model'");
    return ek_fail(b->e, EK_EFORMAT, "neither a LightGBM text model nor an XGBoost JSON model");
}

int ek_trees_parse(struct ek_trees **out, const char *name, const char *text, size_t length,
                   struct ek_error *e)
{
    struct ek_trees_builder b = {.trees = ek_calloc(1, sizeof *b.trees), .e = e};
    int rc = b.trees ? read_any(&b, text, length) : out_of_memory(&b);
    if (!rc && !b.trees->tree_count)
        rc = ek_fail(e, EK_EFORMAT, "the model has no trees");
    release_builder(&b);
    if (rc) {
        if (e)
            ek_error_place(e, name, 0, 0);
        ek_trees_free(b.trees);
        return rc;
    }
    *out = b.trees;
    return EK_OK;
}

int ek_trees_load(struct ek_trees **out, const char *path, struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, EK_TREES_BYTES_MAX);
    int rc = ek_file_read(path, &text, e);
    if (!rc)
        rc = ek_trees_parse(out, path, (const char *)text.data, text.length, e);
    ek_buf_release(&text);
    return rc;
}
