/* Manifest parser that reports every error with its position. */
#include "schema/manifest_read.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "yaml/yaml.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { METHOD_BYTES_MAX = 64 };

static const char DERIVED[] = "log_list_size";

struct source {
    const struct ek_yaml *y;
    struct ek_manifest *m;
    struct ek_error *e;           /* never NULL */
    struct ek_error_list *faults; /* NULL: the first error ends the parse */
};

/* Add an independent error to the list and return 0, or return it without a list. */
static int collect_error(const struct source *s, int code)
{
    return ek_error_list_collect(s->faults, code, s->e);
}

/* Return true if no error is collected, so that later parts can rely on earlier ones. */
static bool is_sound(const struct source *s)
{
    return !s->faults || !s->faults->count;
}

static int enomem(const struct source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
}

/* Copy the string of a key to *out; the caller frees it. An absent key leaves *out unchanged. */
static int read_text(const struct source *s, const struct ek_node *map, const char *key, char **out)
{
    const struct ek_node *n = ek_node_get(map, key);
    const char *text;
    int rc = n ? ek_node_text(s->y, n, key, &text, s->e) : EK_OK;
    if (!n || rc)
        return rc;
    *out = ek_strdup(text);
    return *out ? EK_OK : enomem(s);
}

static int read_bool(const struct source *s, const struct ek_node *map, const char *key, bool *out)
{
    const struct ek_node *n = ek_node_get(map, key);
    return n ? ek_node_bool(s->y, n, key, out, s->e) : EK_OK;
}

/* Set *out to whether the value is the second of two words. */
static int read_choice(const struct source *s, const struct ek_node *map, const char *key,
                       const char *first, const char *second, bool *out)
{
    const char *const words[] = {first, second};
    const struct ek_node *n = ek_node_get(map, key);
    int word = 0;
    int rc = n ? ek_node_choice(s->y, n, key, words, COUNT(words), &word, s->e) : EK_OK;
    if (n && !rc)
        *out = word == 1;
    return rc;
}

static bool has_good_length(const char *name)
{
    return *name && strlen(name) <= EK_NAME_BYTES_MAX;
}

bool ek_manifest_name_fits(const char *name)
{
    for (const char *c = name; *c; c++)
        if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c) || *c == ',' || *c == '=')
            return false;
    return has_good_length(name);
}

static int check_name(const struct source *s, const struct ek_node *n, const char *name)
{
    if (ek_manifest_name_fits(name))
        return EK_OK;
    return has_good_length(name)
               ? ek_node_fail(s->y, n, s->e,
                              "feature name '%s' must not have spaces, commas, equals or control "
                              "signs",
                              name)
               : ek_node_fail(s->y, n, s->e, "a feature name must have 1 to %d bytes",
                              EK_NAME_BYTES_MAX);
}

static int read_identity(const struct source *s, const struct ek_node *map, struct ek_feature *f)
{
    static const char *const needed[] = {"name", "index", "role"};
    for (size_t i = 0; i < COUNT(needed); i++)
        if (!ek_node_get(map, needed[i]))
            return ek_node_fail(s->y, map, s->e, "the feature has no '%s'", needed[i]);
    int64_t index = 0;
    bool query = false;
    int rc = read_text(s, map, "name", &f->name);
    if (!rc)
        rc = check_name(s, ek_node_get(map, "name"), f->name);
    if (!rc)
        rc = ek_node_int(s->y, ek_node_get(map, "index"), "index", 1, EK_INDEX_MAX, &index, s->e);
    if (!rc)
        rc = read_choice(s, map, "role", "item", "query", &query);
    f->index = (int)index;
    f->role = query ? EK_ROLE_QUERY : EK_ROLE_ITEM;
    return rc;
}

static int check_feature(const struct source *s, const struct ek_node *map,
                         const struct ek_feature *f)
{
    const struct ek_node *at = ek_node_get(map, "routable");
    if (f->routable && f->role == EK_ROLE_QUERY)
        return ek_node_fail(s->y, at, s->e, "query feature '%s' cannot be routable", f->name);
    if (f->routable && f->type == EK_TYPE_CATEGORY)
        return ek_node_fail(s->y, at, s->e, "category '%s' cannot be routable, it has no scale",
                            f->name);
    at = ek_node_get(map, "watch");
    if (at && f->role == EK_ROLE_ITEM)
        return ek_node_fail(
            s->y, at, s->e,
            "'watch' is for query features; item feature '%s' is watched unless the "
            "rules say 'watch: false'",
            f->name);
    if (f->watched && f->type == EK_TYPE_CATEGORY)
        return ek_node_fail(s->y, at, s->e, "query category '%s' cannot be watched", f->name);
    return EK_OK;
}

static int read_feature(const struct source *s, const struct ek_node *map, struct ek_feature *f)
{
    static const char *const keys[] = {"name", "index", "role",    "routable", "positive",
                                       "type", "unit",  "missing", "note",     "watch"};
    bool category = false;
    int rc = ek_node_all_keys(s->y, map, keys, COUNT(keys), s->faults, s->e);
    if (!rc)
        rc = read_identity(s, map, f);
    if (!rc)
        rc = read_bool(s, map, "routable", &f->routable);
    if (!rc)
        rc = read_bool(s, map, "positive", &f->positive);
    if (!rc)
        rc = read_bool(s, map, "watch", &f->watched);
    if (!rc)
        rc = read_choice(s, map, "type", "number", "category", &category);
    if (!rc)
        rc = read_choice(s, map, "missing", "never", "expected", &f->missing_expected);
    if (!rc)
        rc = read_text(s, map, "unit", &f->unit);
    if (!rc)
        rc = read_text(s, map, "note", &f->note);
    f->type = category ? EK_TYPE_CATEGORY : EK_TYPE_NUMBER;
    return rc ? rc : check_feature(s, map, f);
}

/* Feature with its position, to detect duplicates. */
struct spot {
    const struct ek_feature *feature;
    const struct ek_node *node;
};

static int by_name(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    int order = strcmp(x->feature->name, y->feature->name);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int by_index(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    int order = (x->feature->index > y->feature->index) - (x->feature->index < y->feature->index);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int report_twice(const struct source *s, struct spot *spots, size_t count)
{
    qsort(spots, count, sizeof *spots, by_name);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(spots[i - 1].feature->name, spots[i].feature->name))
            return ek_node_fail(s->y, ek_node_get(spots[i].node, "name"), s->e,
                                "feature '%s' is there twice, first in line %ld",
                                spots[i].feature->name, spots[i - 1].node->line);
    qsort(spots, count, sizeof *spots, by_index);
    for (size_t i = 1; i < count; i++)
        if (spots[i - 1].feature->index == spots[i].feature->index)
            return ek_node_fail(s->y, ek_node_get(spots[i].node, "index"), s->e,
                                "index %d of '%s' is that of '%s' already", spots[i].feature->index,
                                spots[i].feature->name, spots[i - 1].feature->name);
    return EK_OK;
}

static int check_twice(const struct source *s, const struct ek_node *list)
{
    struct spot *spots = ek_calloc(list->count, sizeof *spots);
    if (!spots)
        return enomem(s);
    for (size_t i = 0; i < list->count; i++)
        spots[i] = (struct spot){&s->m->features[i], &list->children[i]};
    int rc = report_twice(s, spots, list->count);
    ek_free(spots);
    return rc;
}

static int read_features(const struct source *s, const struct ek_node *list, size_t derived)
{
    int rc = ek_node_check_kind(s->y, list, "features", EK_NODE_SEQUENCE, s->e);
    if (rc)
        return rc;
    if (!list->count || list->count + derived > EK_FEATURES_MAX)
        return ek_node_fail(s->y, list, s->e, "there must be 1 to %d features, not %zu",
                            EK_FEATURES_MAX, list->count);
    s->m->features = ek_calloc(list->count + derived, sizeof *s->m->features);
    if (!s->m->features)
        return enomem(s);
    for (size_t i = 0; !rc && i < list->count; i++) {
        s->m->feature_count++;
        rc = collect_error(s, read_feature(s, &list->children[i], &s->m->features[i]));
    }
    return rc || !is_sound(s) ? rc : collect_error(s, check_twice(s, list));
}

/* Linear search, for use before the orders exist. */
static bool is_there(const struct ek_manifest *m, const char *name)
{
    for (int i = 0; i < m->feature_count; i++)
        if (!strcmp(m->features[i].name, name))
            return true;
    return false;
}

static int read_derived(const struct source *s, const struct ek_node *list)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && list && i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        const char *name = "";
        rc = ek_node_text(s->y, n, "derived_query_features", &name, s->e);
        if (!rc && strcmp(name, DERIVED) != 0)
            rc = ek_node_fail(s->y, n, s->e,
                              "unknown derived query feature '%.60s', there is only '%s'", name,
                              DERIVED);
        else if (!rc && is_there(s->m, name))
            rc = ek_node_fail(s->y, n, s->e, "feature '%s' is there twice", name);
        if (rc)
            return rc;
        struct ek_feature *f = &s->m->features[s->m->feature_count++];
        s->m->derived_count++;
        *f = (struct ek_feature){.name = ek_strdup(name), .role = EK_ROLE_QUERY};
        if (!f->name)
            return enomem(s);
    }
    return rc;
}

/* Read a key that names a feature of a role. */
static int read_reference(const struct source *s, const struct ek_node *n, const char *key,
                          enum ek_role role, char **out)
{
    const char *name = NULL;
    int rc = n ? ek_node_text(s->y, n, key, &name, s->e) : EK_OK;
    if (!n || rc)
        return rc;
    bool known = (role == EK_ROLE_ITEM ? ek_manifest_item : ek_manifest_query)(s->m, name) >= 0;
    const char *near = known ? NULL : ek_manifest_suggest(s->m, role, name);
    if (!known)
        return ek_node_fail(s->y, n, s->e, "'%s': there is no %s feature '%.60s'%s%s%s", key,
                            role == EK_ROLE_ITEM ? "item" : "query", name,
                            near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    if (!out)
        return EK_OK;
    *out = ek_strdup(name);
    return *out ? EK_OK : enomem(s);
}

static int read_money(const struct source *s, const struct ek_node *n, const char *key)
{
    int rc = read_reference(s, n, key, EK_ROLE_ITEM, NULL);
    if (!rc)
        s->m->features[ek_manifest_feature(s->m, n->text)].is_money = true;
    return rc;
}

static int read_references(const struct source *s, const struct ek_node *root)
{
    static const char currency[] = "currency_features";
    const struct ek_node *list = ek_node_get(root, currency);
    int rc = read_reference(s, ek_node_get(root, "main_feature"), "main_feature", EK_ROLE_ITEM,
                            &s->m->main_feature);
    if (!rc)
        rc = read_reference(s, ek_node_get(root, "nights_feature"), "nights_feature", EK_ROLE_QUERY,
                            &s->m->nights_feature);
    if (!rc && list)
        rc = ek_node_check_kind(s->y, list, currency, EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && list && i < list->count; i++)
        rc = collect_error(s, read_money(s, &list->children[i], currency));
    return rc;
}

static int read_hidden(const struct source *s, const struct ek_node *list)
{
    struct ek_training_hints *t = &s->m->training;
    int rc = ek_node_check_kind(s->y, list, "hidden", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > COUNT(t->hidden))
        rc = ek_node_fail(s->y, list, s->e, "'hidden' has more than %zu layers", COUNT(t->hidden));
    for (size_t i = 0; !rc && i < list->count; i++) {
        int64_t size = 0;
        rc = ek_node_int(s->y, &list->children[i], "hidden", 1, 4096, &size, s->e);
        t->hidden[i] = (int)size;
    }
    if (!rc)
        t->hidden_count = (int)list->count;
    return rc;
}

static int read_hint(const struct source *s, const struct ek_node *map, const char *key, double low,
                     double high, double *out)
{
    const struct ek_node *n = ek_node_get(map, key);
    return n ? collect_error(s, ek_node_double(s->y, n, key, low, high, out, s->e)) : EK_OK;
}

static int read_count(const struct source *s, const struct ek_node *map, const char *key, int *out)
{
    const struct ek_node *n = ek_node_get(map, key);
    int64_t value = 0;
    int rc = n ? ek_node_int(s->y, n, key, 1, 1000000, &value, s->e) : EK_OK;
    if (n && !rc)
        *out = (int)value;
    return collect_error(s, rc);
}

static int read_training(const struct source *s, const struct ek_node *map)
{
    static const char *const keys[] = {"hidden", "epochs", "batch_size", "learning_rate",
                                       "weight_decay"};
    struct ek_training_hints *t = &s->m->training;
    *t = (struct ek_training_hints){
        .epochs = -1, .batch_size = -1, .learning_rate = -1, .weight_decay = -1};
    if (!map)
        return EK_OK;
    int rc = ek_node_all_keys(s->y, map, keys, COUNT(keys), s->faults, s->e);
    if (!rc && ek_node_get(map, "hidden"))
        rc = collect_error(s, read_hidden(s, ek_node_get(map, "hidden")));
    if (!rc)
        rc = read_count(s, map, "epochs", &t->epochs);
    if (!rc)
        rc = read_count(s, map, "batch_size", &t->batch_size);
    if (!rc)
        rc = read_hint(s, map, "learning_rate", 1e-12, 100, &t->learning_rate);
    if (!rc)
        rc = read_hint(s, map, "weight_decay", 0, 100, &t->weight_decay);
    return rc;
}

/* Check only the kind of keys that other programs read. */
static int check_foreign(const struct source *s, const struct ek_node *root)
{
    static const char *const mappings[] = {"labels", "splits", "folds", "lightgbm"};
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < COUNT(mappings); i++) {
        const struct ek_node *n = ek_node_get(root, mappings[i]);
        if (n)
            rc = ek_node_check_kind(s->y, n, mappings[i], EK_NODE_MAPPING, s->e);
    }
    return rc;
}

static int read_version(const struct source *s, const struct ek_node *root)
{
    const struct ek_node *n = ek_node_get(root, "version");
    int64_t version;
    return n ? ek_node_int(s->y, n, "version", 1, 1, &version, s->e) : EK_OK;
}

static int by_value(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int read_unused_index(const struct source *s, const struct ek_node *n)
{
    struct ek_manifest *m = s->m;
    int64_t index = 0;
    int rc = ek_node_int(s->y, n, "unused", 1, EK_INDEX_MAX, &index, s->e);
    if (rc)
        return rc;
    for (int i = 0; i < m->feature_count - m->derived_count; i++)
        if (m->features[i].index == index)
            return ek_node_fail(s->y, n, s->e, "unused index %d must not be that of feature '%s'",
                                m->features[i].index, m->features[i].name);
    m->unused[m->unused_count++] = (int)index;
    return EK_OK;
}

/* Read the columns without a feature. A duplicate is harmless but likely a mistake. */
static int read_unused(const struct source *s, const struct ek_node *list)
{
    struct ek_manifest *m = s->m;
    if (!list)
        return EK_OK;
    int rc = ek_node_check_kind(s->y, list, "unused", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > EK_FEATURES_MAX)
        rc = ek_node_fail(s->y, list, s->e, "there must be at most %d unused indices, not %zu",
                          EK_FEATURES_MAX, list->count);
    if (rc)
        return rc;
    m->unused = ek_calloc(list->count, sizeof *m->unused);
    if (!m->unused)
        return enomem(s);
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = collect_error(s, read_unused_index(s, &list->children[i]));
    qsort(m->unused, (size_t)m->unused_count, sizeof *m->unused, by_value);
    for (int i = 1; !rc && i < m->unused_count; i++)
        if (m->unused[i] == m->unused[i - 1])
            rc = collect_error(s, ek_node_fail(s->y, list, s->e,
                                               "unused index %d is there twice: take one away",
                                               m->unused[i]));
    return rc;
}

static int read_root(const struct source *s, const struct ek_node *root)
{
    static const char *const keys[] = {"version",      "features",       "set",
                                       "labels",       "splits",         "folds",
                                       "main_feature", "nights_feature", "currency_features",
                                       "training",     "lightgbm",       "derived_query_features",
                                       "unused",       "normalization"};
    int rc = ek_node_all_keys(s->y, root, keys, COUNT(keys), s->faults, s->e);
    const struct ek_node *list = ek_node_get(root, "features");
    const struct ek_node *derived = ek_node_get(root, "derived_query_features");
    if (!rc)
        rc = collect_error(s, read_version(s, root));
    if (!rc && !list)
        rc = ek_node_fail(s->y, root, s->e, "there is no 'features'");
    if (!rc && derived)
        rc = ek_node_check_kind(s->y, derived, "derived_query_features", EK_NODE_SEQUENCE, s->e);
    if (!rc)
        rc = collect_error(s, read_text(s, root, "set", &s->m->set));
    if (!rc)
        rc = read_features(s, list, derived ? derived->count : 0);
    if (!rc && is_sound(s))
        rc = collect_error(s, read_derived(s, derived));
    if (!rc && is_sound(s))
        rc = collect_error(s, read_unused(s, ek_node_get(root, "unused")));
    if (!rc)
        rc = collect_error(s, read_training(s, ek_node_get(root, "training")));
    return rc ? rc : collect_error(s, check_foreign(s, root));
}

/* Find the item feature that a key names. */
static int find_feature(const struct source *s, const struct ek_node *key, struct ek_feature **out)
{
    const char *name;
    int rc = ek_node_text(s->y, key, "features", &name, s->e);
    if (rc)
        return rc;
    int number = ek_manifest_feature(s->m, name);
    if (number >= 0 && s->m->features[number].role == EK_ROLE_ITEM) {
        *out = &s->m->features[number];
        return EK_OK;
    }
    const char *near = ek_manifest_suggest(s->m, EK_ROLE_ITEM, name);
    if (number >= 0)
        return ek_node_fail(s->y, key, s->e, "'%.60s' is a query feature, these have no scale",
                            name);
    if (near)
        return ek_node_fail(s->y, key, s->e, "there is no item feature '%.60s', did you mean '%s'?",
                            name, near);
    return ek_node_fail(s->y, key, s->e, "there is no item feature '%.60s'", name);
}

static int read_one(const struct source *s, const struct ek_node *key, const struct ek_node *value)
{
    static const char *const keys[] = {"scale", "why"};
    struct ek_feature *f = NULL;
    const struct ek_node *n = ek_node_get(value, "scale");
    size_t before = s->faults ? s->faults->count : 0;
    int scale = 0, rc = find_feature(s, key, &f);
    if (!rc)
        rc = ek_node_all_keys(s->y, value, keys, COUNT(keys), s->faults, s->e);
    if (!rc && !n && s->faults && s->faults->count > before)
        return EK_OK; /* the key is misspelled and already reported */
    if (!rc && !n)
        rc = ek_node_fail(s->y, value, s->e, "the feature has no 'scale'");
    if (!rc)
        rc = ek_node_choice(s->y, n, "scale", ek_transform_kind_names(), EK_SCALE_COUNT, &scale,
                            s->e);
    if (!rc)
        rc = read_text(s, value, "why", &f->scale_why);
    if (!rc)
        f->scale = (enum ek_transform_kind)scale;
    return rc;
}

static int read_transform_features(const struct source *s, const struct ek_node *map)
{
    int rc = map ? ek_node_check_kind(s->y, map, "features", EK_NODE_MAPPING, s->e) : EK_OK;
    for (size_t i = 0; !rc && map && i < map->count; i++)
        rc = collect_error(s, read_one(s, &map->children[2 * i], &map->children[2 * i + 1]));
    return rc;
}

static int read_method(const struct source *s, const struct ek_node *section)
{
    int rc = read_text(s, section, "method", &s->m->scale_method);
    if (!rc && s->m->scale_method && strlen(s->m->scale_method) > METHOD_BYTES_MAX)
        rc = ek_node_fail(s->y, ek_node_get(section, "method"), s->e,
                          "'method' has more than %d bytes", METHOD_BYTES_MAX);
    return rc;
}

/* Read the section `normalization`: transform of each item feature, and the reason. NULL: none. */
static int read_transforms(const struct source *s, const struct ek_node *section)
{
    static const char *const keys[] = {"method", "features"};
    if (!section)
        return EK_OK;
    int rc = ek_node_check_kind(s->y, section, "normalization", EK_NODE_MAPPING, s->e);
    if (!rc)
        rc = ek_node_all_keys(s->y, section, keys, COUNT(keys), s->faults, s->e);
    if (!rc)
        rc = collect_error(s, read_method(s, section));
    return rc ? rc : read_transform_features(s, ek_node_get(section, "features"));
}

/* Read the sections that need the feature orders. */
static int read_rest(const struct source *s, const struct ek_node *root)
{
    if (ek_manifest_arrange(s->m))
        return enomem(s);
    int rc = collect_error(s, read_references(s, root));
    if (!rc)
        rc = collect_error(s, read_transforms(s, ek_node_get(root, "normalization")));
    if (!rc && !s->m->item_count)
        rc = collect_error(
            s, ek_node_fail(s->y, ek_node_get(root, "features"), s->e, "there is no item feature"));
    return rc;
}

int ek_manifest_from_tree(struct ek_manifest **out, const struct ek_yaml *y,
                          struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error unwanted;
    struct source s = {y, ek_calloc(1, sizeof *s.m), e ? e : &unwanted, faults};
    if (!s.m)
        return enomem(&s);
    const struct ek_node *root = ek_yaml_root(y);
    int rc = collect_error(&s, read_root(&s, root));
    if (!rc && is_sound(&s))
        rc = read_rest(&s, root);
    rc = ek_error_list_first(faults, rc, s.e);
    if (rc)
        ek_manifest_free(s.m);
    else
        *out = s.m;
    return rc;
}

int ek_manifest_parse(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e)
{
    return ek_manifest_parse_all(out, name, text, length, NULL, e);
}

int ek_manifest_parse_all(struct ek_manifest **out, const char *name, const char *text,
                          size_t length, struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_parse_all(&y, name, text, length, faults, e);
    if (rc)
        return rc;
    rc = ek_manifest_from_tree(out, y, faults, e);
    ek_yaml_free(y);
    return rc;
}

int ek_manifest_load(struct ek_manifest **out, const char *path, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_load(&y, path, e);
    if (rc)
        return rc;
    rc = ek_manifest_from_tree(out, y, NULL, e);
    ek_yaml_free(y);
    return rc;
}
