#include "guard/assets.h"

#include "base/alloc.h"

#include <string.h>

int ek_rules_supported(const struct ek_rules *rules, struct ek_error *e)
{
    const struct ek_error_list *later = &rules->later;
    if (!later->count)
        return EK_OK;
    if (e)
        *e = later->errors[0];
    return EK_ECONFIG;
}

/* The strata are those of the profile; rules that name others would be ignored in silence. */
static int check_baseline(const struct ek_rules *rules, const struct ek_profile *p,
                          const char *file, struct ek_error *e)
{
    if (!rules->baseline || (p->field && !strcmp(rules->baseline, p->field)))
        return EK_OK;
    return ek_fail_at(e, EK_ECONFIG, file, 0, 0,
                      "'baseline' is '%s', but the profile was made with %s%s%s: make it again "
                      "with '--baseline %s'",
                      rules->baseline, p->field ? "'" : "none", p->field ? p->field : "",
                      p->field ? "'" : "", rules->baseline);
}

static int load(struct ek_assets *a, const char *manifest, const char *profile, const char *rules,
                const char *model, struct ek_error *e)
{
    int rc = ek_manifest_load(&a->manifest, manifest, e);
    if (!rc)
        rc = ek_profile_load(&a->profile, profile, e);
    if (!rc && (rc = ek_profile_check(a->profile, a->manifest, e)))
        ek_error_place(e, profile, 0, 0);
    if (!rc)
        rc = rules ? ek_rules_load(&a->rules, a->manifest, rules, e)
                   : ek_rules_default(&a->rules, a->manifest, e);
    if (!rc)
        rc = ek_rules_supported(a->rules, e);
    if (!rc)
        rc = check_baseline(a->rules, a->profile, rules, e);
    if (!rc && model)
        rc = ek_model_load(&a->model, model, e);
    if (!rc && a->model && (rc = ek_model_check(a->model, a->manifest, e)))
        ek_error_place(e, model, 0, 0);
    return rc;
}

int ek_assets_load_mapped(struct ek_assets **out, const char *manifest, const char *profile,
                          const char *rules, const char *model, const struct ek_mapping *mapping,
                          const struct ek_codec_limits *limits, struct ek_error *e)
{
    struct ek_assets *a = ek_calloc(1, sizeof *a);
    if (!a)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = load(a, manifest, profile, rules, model, e);
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
    return ek_assets_load_mapped(out, manifest, profile, rules, model, NULL, NULL, e);
}

void ek_assets_free(struct ek_assets *a)
{
    if (!a)
        return;
    ek_codec_free(a->codec);
    ek_model_free(a->model);
    ek_rules_free(a->rules);
    ek_profile_free(a->profile);
    ek_manifest_free(a->manifest);
    ek_free(a);
}
