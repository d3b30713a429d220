#include "serve/assets.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "serve/wide_columns.h"

#include <math.h>
#include <string.h>

/* Maximum ratio of means from one training; also the default action threshold. */
static const double SAME_LEVEL = 1.25;
/* A larger spread of the model means that the feature was constant in training. */
static const float SPREAD_MAX = 1e20f;

/* Suggest the field of the profile. */
static int mistyped_baseline(const char *word, const char *field, const char *file,
                             struct ek_error *e)
{
    return ek_fail_at(
        e, EK_ECONFIG, file, 0, 0,
        "'stratify_by' is '%s', but the profile was made with '%s', did you mean that? "
        "Without 'stratify_by' the profile's is taken",
        word, field);
}

/* The profile defines the strata; another field in the rules would have no effect. */
static int check_baseline(const struct ek_rules *rules, const struct ek_profile *p,
                          const char *file, struct ek_error *e)
{
    if (!rules->stratify_by || (p->field && !strcmp(rules->stratify_by, p->field)))
        return EK_OK;
    if (p->field && ek_nearest_name(rules->stratify_by, (const char *const *)&p->field, 1))
        return mistyped_baseline(rules->stratify_by, p->field, file, e);
    return ek_fail_at(e, EK_ECONFIG, file, 0, 0,
                      "'stratify_by' is '%s', but the profile was made with %s%s%s: make it again "
                      "with '--stratify-by %s'",
                      rules->stratify_by, p->field ? "'" : "none", p->field ? p->field : "",
                      p->field ? "'" : "", rules->stratify_by);
}

struct loading {
    struct ek_assets *a;
    const struct ek_assets_report *report;
    struct ek_error *e;
    int failed; /* code of a reported fault */
};

static int place_error(struct loading *l, enum ek_asset which, const char *path, int rc)
{
    if (!rc)
        return EK_OK;
    ek_error_place(l->e, path, 0, 0);
    if (!l->report)
        return rc;
    l->failed = rc;
    return l->report->fault(l->report->context, which, l->e);
}

static int load_profile(struct loading *l, const char *path)
{
    int rc = ek_profile_load(&l->a->profile, path, l->e);
    if (!rc && l->a->manifest)
        rc = ek_profile_check(l->a->profile, l->a->manifest, l->e);
    return place_error(l, EK_ASSET_PROFILE, path, rc);
}

static int load_rules(struct loading *l, const char *path)
{
    int rc = path ? ek_rules_load(&l->a->rules, l->a->manifest, path, l->e)
                  : ek_rules_default(&l->a->rules, l->a->manifest, l->e);
    if (!rc && l->a->profile)
        rc = check_baseline(l->a->rules, l->a->profile, path, l->e);
    if (!rc && l->a->profile)
        ek_profile_choose_segments(l->a->profile, l->a->rules->segment, l->a->rules->segment_count);
    return place_error(l, EK_ASSET_RULES, path, rc);
}

static int load_model(struct loading *l, const char *path)
{
    int rc = ek_model_load(&l->a->model, path, l->e);
    if (!rc && l->a->manifest)
        rc = ek_model_check(l->a->model, l->a->manifest, l->e);
    return place_error(l, EK_ASSET_MODEL, path, rc);
}

/* Reject rules that the model can never apply, because they would be reported as active. */
static int check_sources(const struct ek_assets *a, const char *rules, const char *model,
                         struct ek_error *e)
{
    if (!a->rules || !a->rules->source_line || !a->model || !a->model->list_free)
        return EK_OK;
    return ek_fail_at(
        e, EK_ECONFIG, rules, a->rules->source_line, a->rules->source_column,
        "'route_per_source' needs the other items of the list, which the model '%s' does "
        "not see (list-free): take 'blank', or a model trained without --list-free",
        model);
}

/* The user's own ranker has no wide path. */
static int check_routes(const struct ek_assets *a, const char *rules, const char *model,
                        struct ek_error *e)
{
    if (!a->rules || !a->rules->route_line || !a->model || !ek_model_library(a->model))
        return EK_OK;
    return ek_fail_at(e, EK_ECONFIG, rules, a->rules->route_line, a->rules->route_column,
                      "action '%s' needs a network of 'evenkeel train', and the model '%s' is of "
                      "%s; use 'auto' or 'repair'",
                      ek_action_name(a->rules->route), model, ek_model_library(a->model));
}

/* With one item per message, sources cannot be compared. */
static int check_layout(const struct ek_assets *a, const char *rules,
                        const struct ek_mapping *mapping, struct ek_error *e)
{
    if (!mapping || mapping->layout != EK_LAYOUT_ITEM || !a->rules || !a->rules->source_line)
        return EK_OK;
    return ek_fail_at(e, EK_ECONFIG, rules, a->rules->source_line, a->rules->source_column,
                      "'route_per_source' needs the other items of the list, and messages hold one "
                      "item (message.layout: item): take 'blank'");
}

static int load(struct loading *l, const char *manifest, const char *profile, const char *rules,
                const char *model, const struct ek_mapping *mapping)
{
    int rc = place_error(l, EK_ASSET_MANIFEST, manifest,
                         ek_manifest_load(&l->a->manifest, manifest, l->e));
    if (!rc)
        rc = load_profile(l, profile);
    if (!rc)
        rc = load_rules(l, rules);
    if (!rc && model)
        rc = load_model(l, model);
    if (!rc)
        rc = place_error(l, EK_ASSET_RULES, rules, check_routes(l->a, rules, model, l->e));
    if (!rc)
        rc = place_error(l, EK_ASSET_RULES, rules, check_sources(l->a, rules, model, l->e));
    if (!rc)
        rc = place_error(l, EK_ASSET_RULES, rules, check_layout(l->a, rules, mapping, l->e));
    return rc ? rc : l->failed;
}

int ek_assets_load_mapped(struct ek_assets **out, const char *manifest, const char *profile,
                          const char *rules, const char *model, const struct ek_mapping *mapping,
                          const struct ek_codec_limits *limits,
                          const struct ek_assets_report *report, struct ek_error *e)
{
    struct ek_error own;
    struct ek_assets *a = ek_calloc(1, sizeof *a);
    if (!a)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    struct loading l = {.a = a, .report = report, .e = e ? e : &own};
    int rc = load(&l, manifest, profile, rules, model, mapping);
    if (!rc)
        rc = ek_codec_new(&a->codec, a->manifest, mapping, limits, e);
    if (rc) {
        ek_assets_free(a);
        return rc;
    }
    *out = a;
    return EK_OK;
}

int ek_assets_load(struct ek_assets **out, const char *manifest, const char *profile,
                   const char *rules, const char *model, struct ek_error *e)
{
    return ek_assets_load_mapped(out, manifest, profile, rules, model, NULL, NULL, NULL, e);
}

int ek_assets_belong(const struct ek_assets *a, struct ek_error *e)
{
    const struct ek_manifest *m = a->manifest;
    for (int f = 0; a->model && !ek_model_library(a->model) && f < m->item_count; f++) {
        const struct ek_baseline *b = &a->profile->baseline[f];
        int k = m->routable_of_item[f];
        double apart = k < 0 ? 0 : (double)b->log_mean - (double)a->model->log_mean[k];
        if (k < 0 || !b->queries || a->model->log_sd[k] > SPREAD_MAX ||
            fabs(apart) <= log(SAME_LEVEL))
            continue;
        return ek_fail(e, EK_ESTATE,
                       "%s: the model was trained at a mean of %.4g, the profile has %.4g (x%.4g): "
                       "make both from the same data",
                       m->item[f]->name, exp((double)a->model->log_mean[k]),
                       exp((double)b->log_mean), exp(apart));
    }
    return EK_OK;
}

void ek_assets_release(struct ek_assets *a)
{
    ek_codec_free(a->codec);
    if (a->schemas)
        a->close_schemas(a->schemas);
    ek_wide_columns_free(a->wide);
    ek_model_free(a->model);
    ek_rules_free(a->rules);
    ek_profile_free(a->profile);
    ek_manifest_free(a->manifest);
}

void ek_assets_free(struct ek_assets *a)
{
    if (!a)
        return;
    ek_assets_release(a);
    ek_free(a);
}

void ek_assets_write_features(struct ek_assets *a)
{
    a->writes_features = true;
}

struct ek_means ek_assets_means(const struct ek_assets *a)
{
    bool repair = ek_assets_repair(a), score = ek_assets_score(a);
    return (struct ek_means){.model = score && !repair,
                             .features = repair,
                             .ranker = score && repair,
                             .profile = a->profile};
}
