#include "text/features/feature_choice.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "yaml/yaml.h"

#include <stdio.h>
#include <string.h>

static const char *const KEYS[] = {"version", "features", "except", "parameters"};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

static const struct parameter {
    const char *group, *key;
    double low, high;
    size_t offset;
} PARAMETERS[] = {
#define AT(member) offsetof(struct ek_feature_choice, member)
    {"bm25_atire", "k1", 0, 100, AT(unigram.bm25[EK_BM25_ATIRE].k1)},
    {"bm25_atire", "b", 0, 1, AT(unigram.bm25[EK_BM25_ATIRE].b)},
    {"bm25_trec3", "k1", 0, 100, AT(unigram.bm25[EK_BM25_TREC3].k1)},
    {"bm25_trec3", "b", 0, 1, AT(unigram.bm25[EK_BM25_TREC3].b)},
    {"bm25_trec3_kmax", "k1", 0, 100, AT(unigram.bm25[EK_BM25_TREC3_KMAX].k1)},
    {"bm25_trec3_kmax", "b", 0, 1, AT(unigram.bm25[EK_BM25_TREC3_KMAX].b)},
    {"dfr", "c", 0.001, 1000, AT(unigram.c)},
    {"sdm", "terms", 0, 1, AT(sdm.terms)},
    {"sdm", "ordered", 0, 1, AT(sdm.ordered)},
    {"sdm", "unordered", 0, 1, AT(sdm.unordered)},
    {"sdm", "mu", 0.001, 1e9, AT(sdm.mu)},
#undef AT
};
enum { PARAMETER_COUNT = sizeof PARAMETERS / sizeof *PARAMETERS };

/* Match a glob pattern. On a mismatch only the last star backtracks, by one byte. */
static bool fits(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++from;
        } else
            return false;
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool desired(const char *entry, const struct ek_text_feature *f)
{
    return !strcmp(entry, "all") || (f->core && !strcmp(entry, "core")) ||
           !strcmp(entry, ek_text_family_name(f->family)) || fits(entry, f->name);
}

static int fail_none(const struct ek_feature_choice *c, const struct ek_yaml *y,
                     const struct ek_node *n, struct ek_error *e)
{
    const char **words = ek_calloc(c->list->count + EK_FAMILIES + 2, sizeof *words);
    size_t count = 0;
    if (!words)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < c->list->count; i++)
        words[count++] = c->list->features[i].name;
    for (int f = 0; f < EK_FAMILIES; f++)
        words[count++] = ek_text_family_name((enum ek_text_family)f);
    words[count++] = "core";
    words[count++] = "all";
    const char *near = ek_nearest_name(n->text, words, count);
    ek_free(words);
    if (near)
        return ek_node_fail(y, n, e, "no feature is named '%s', did you mean '%s'?", n->text, near);
    return ek_node_fail(y, n, e, "no feature fits '%s' (evenkeel extract --list has them)",
                        n->text);
}

/* Set chosen[i] to `to` for all features that match one entry. */
static int mark(struct ek_feature_choice *c, const struct ek_yaml *y, const struct ek_node *n,
                const char *what, bool to, bool *chosen, struct ek_error *e)
{
    const char *entry;
    bool any = false;
    int rc = ek_node_text(y, n, what, &entry, e);
    for (size_t i = 0; !rc && i < c->list->count; i++)
        if (desired(entry, &c->list->features[i])) {
            chosen[i] = to;
            any = true;
        }
    return rc ? rc : any ? EK_OK : fail_none(c, y, n, e);
}

static int mark_all(struct ek_feature_choice *c, const struct ek_yaml *y, const char *key, bool to,
                    bool *chosen, struct ek_error *e)
{
    const struct ek_node *n = ek_node_get(ek_yaml_root(y), key);
    int rc = n ? ek_node_check_kind(y, n, key, EK_NODE_SEQUENCE, e) : EK_OK;
    for (size_t i = 0; !rc && n && i < n->count; i++)
        rc = mark(c, y, &n->children[i], key, to, chosen, e);
    return rc;
}

static void set_chosen(struct ek_feature_choice *c, const bool *chosen)
{
    for (size_t i = 0; i < c->list->count; i++)
        if (chosen[i]) {
            c->feature[c->count++] = &c->list->features[i];
            c->needs[c->list->features[i].family] = true;
        }
}

static int set_parameter(struct ek_feature_choice *c, const struct ek_yaml *y, const char *group,
                         const struct ek_node *key, const struct ek_node *value, struct ek_error *e)
{
    const char *known[PARAMETER_COUNT];
    size_t count = 0;
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (!strcmp(PARAMETERS[i].group, group)) {
            void *place = (char *)c + PARAMETERS[i].offset;
            known[count++] = PARAMETERS[i].key;
            if (!strcmp(PARAMETERS[i].key, key->text))
                return ek_node_double(y, value, key->text, PARAMETERS[i].low, PARAMETERS[i].high,
                                      place, e);
        }
    const char *near = ek_nearest_name(key->text, known, count);
    return ek_node_fail(y, key, e, "'%s' has no parameter '%s'%s%s%s", group, key->text,
                        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int read_parameters(struct ek_feature_choice *c, const struct ek_yaml *y, struct ek_error *e)
{
    const char *groups[PARAMETER_COUNT];
    const struct ek_node *n = ek_node_get(ek_yaml_root(y), "parameters");
    for (int i = 0; i < PARAMETER_COUNT; i++)
        groups[i] = PARAMETERS[i].group;
    if (!n)
        return EK_OK;
    int rc = ek_node_check_kind(y, n, "parameters", EK_NODE_MAPPING, e);
    if (!rc)
        rc = ek_node_keys(y, n, groups, PARAMETER_COUNT, e);
    for (size_t i = 0; !rc && i < n->count; i++) {
        const struct ek_node *group = &n->children[2 * i], *set = group + 1;
        rc = ek_node_check_kind(y, set, group->text, EK_NODE_MAPPING, e);
        for (size_t j = 0; !rc && j < set->count; j++)
            rc = set_parameter(c, y, group->text, &set->children[2 * j], &set->children[2 * j + 1],
                               e);
    }
    return rc;
}

static int new_choice(struct ek_feature_choice **out, struct ek_error *e)
{
    struct ek_feature_choice *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_feature_list_new(&c->list, e);
    if (!rc) {
        c->feature = ek_calloc(c->list->count, sizeof(const struct ek_text_feature *));
        rc = c->feature ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    }
    c->unigram = ek_unigram_defaults();
    c->sdm = ek_sdm_defaults();
    if (rc)
        ek_feature_choice_free(c);
    else
        *out = c;
    return rc;
}

void ek_feature_choice_free(struct ek_feature_choice *c)
{
    if (!c)
        return;
    ek_feature_list_free(c->list);
    ek_free(c->feature);
    ek_free(c);
}

static int read_choice(struct ek_feature_choice *c, const struct ek_yaml *y, bool *chosen,
                       struct ek_error *e)
{
    const struct ek_node *root = ek_yaml_root(y), *n;
    int64_t version;
    int rc = ek_node_check_kind(y, root, "the file", EK_NODE_MAPPING, e);
    if (!rc)
        rc = ek_node_keys(y, root, KEYS, KEY_COUNT, e);
    if (!rc && (n = ek_node_get(root, "version")))
        rc = ek_node_int(y, n, "version", 1, 1, &version, e);
    if (!rc && !ek_node_get(root, "features"))
        for (size_t i = 0; i < c->list->count; i++)
            chosen[i] = c->list->features[i].core;
    if (!rc)
        rc = mark_all(c, y, "features", true, chosen, e);
    if (!rc)
        rc = mark_all(c, y, "except", false, chosen, e);
    if (!rc)
        rc = read_parameters(c, y, e);
    if (!rc && c->sdm.terms + c->sdm.ordered + c->sdm.unordered <= 0)
        rc = ek_node_fail(y, ek_node_get(root, "parameters"), e,
                          "'sdm' needs one weight above 0: 'terms', 'ordered' or 'unordered'");
    set_chosen(c, chosen);
    return rc || c->count ? rc : ek_node_fail(y, root, e, "no feature is left");
}

static int from_tree(struct ek_feature_choice **out, const struct ek_yaml *y, struct ek_error *e)
{
    struct ek_feature_choice *c = NULL;
    int rc = new_choice(&c, e);
    if (rc)
        return rc;
    bool *chosen = ek_calloc(c->list->count, sizeof *chosen);
    rc = chosen ? read_choice(c, y, chosen, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    ek_free(chosen);
    if (rc)
        ek_feature_choice_free(c);
    else
        *out = c;
    return rc;
}

int ek_feature_choice_default(struct ek_feature_choice **out, struct ek_error *e)
{
    static const char core[] = "features: [core]";
    return ek_feature_choice_parse(out, "the default", core, sizeof core - 1, e);
}

int ek_feature_choice_parse(struct ek_feature_choice **out, const char *name, const char *text,
                            size_t length, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_parse(&y, name, text, length, e);
    if (rc)
        return rc;
    rc = from_tree(out, y, e);
    ek_yaml_free(y);
    return rc;
}

int ek_feature_choice_load(struct ek_feature_choice **out, const char *path, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_load(&y, path, e);
    if (rc)
        return rc;
    rc = from_tree(out, y, e);
    ek_yaml_free(y);
    return rc;
}

bool ek_feature_choice_has(const struct ek_feature_choice *c, enum ek_text_family f, int kind)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->feature[i]->family == f && (kind < 0 || c->feature[i]->kind == kind))
            return true;
    return false;
}

/* Models that use the parameters of a group. */
static const struct {
    const char *group, *model;
} MODELS[] = {{"bm25_atire", "bm25_atire"},
              {"bm25_atire", "tp_score"},
              {"bm25_atire", "bm25_pairs_w100"},
              {"bm25_atire", "bm25_uw8"},
              {"bm25_trec3", "bm25_trec3"},
              {"bm25_trec3_kmax", "bm25_trec3_kmax"},
              {"dfr", "be"},
              {"dfr", "dfr"},
              {"dfr", "pl2"},
              {"sdm", "sdm"}};

/* Return whether a name is MODEL.FIELD, or MODEL_STATISTIC for statistics over terms. */
static bool is_of(const char *name, const char *model)
{
    size_t n = strlen(model);
    return !strncmp(name, model, n) && strchr("._", name[n]) &&
           strncmp(name + n, "_kmax", strlen("_kmax")) != 0;
}

static bool uses(const struct ek_text_feature *f, const char *group)
{
    bool spread = f->family == EK_FAMILY_TERMS || f->family == EK_FAMILY_PAIRS;
    const char *name = spread ? strchr(f->name, '_') + 1 : f->name;
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++)
        if (!strcmp(MODELS[i].group, group) && is_of(name, MODELS[i].model))
            return true;
    return false;
}

void ek_feature_choice_changed(const struct ek_feature_choice *c, const struct ek_text_feature *f,
                               char text[EK_CHANGED_BYTES])
{
    struct ek_feature_choice usual = {.unigram = ek_unigram_defaults(), .sdm = ek_sdm_defaults()};
    size_t n = 0;
    text[0] = 0;
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct parameter *p = &PARAMETERS[i];
        const double *is = (const double *)(const void *)((const char *)c + p->offset);
        const double *was = (const double *)(const void *)((const char *)&usual + p->offset);
        if (*is != *was && uses(f, p->group) && n < EK_CHANGED_BYTES)
            n += (size_t)snprintf(text + n, EK_CHANGED_BYTES - n, "%s%s = %.9g", n ? ", " : "",
                                  p->key, *is);
    }
}
