/* Training profile of lists in arrays (ek_profile_builder_new of evenkeel.h). */
#include "base/alloc.h"
#include "evenkeel.h"
#include "offline/fit/profile_fit.h"
#include "schema/manifest.h"
#include "serve/list_values.h"

struct ek_profile_builder {
    struct ek_manifest *manifest;
    struct ek_profile_fit *fit; /* NULL: finished */
    struct ek_profile *profile; /* NULL: not finished */
    struct ek_list list;
};

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_profile_builder_new(struct ek_profile_builder **out, const char *manifest,
                           const char *stratify_by, struct ek_error *e)
{
    struct ek_profile_builder *b = ek_calloc(1, sizeof *b);
    if (!b)
        return out_of_memory(e);
    ek_list_init(&b->list);
    int rc = ek_manifest_load(&b->manifest, manifest, e);
    if (!rc)
        rc = ek_profile_fit_new(&b->fit, b->manifest, stratify_by, e);
    if (rc)
        ek_profile_builder_free(b);
    else
        *out = b;
    return rc;
}

void ek_profile_builder_free(struct ek_profile_builder *b)
{
    if (!b)
        return;
    ek_profile_free(b->profile);
    ek_profile_fit_free(b->fit);
    ek_manifest_free(b->manifest);
    ek_list_release(&b->list);
    ek_free(b);
}

int ek_profile_builder_add(struct ek_profile_builder *b, const struct ek_array_list *list,
                           struct ek_error *e)
{
    if (!b->fit)
        return ek_fail(e, EK_ESTATE, "the profile is finished; make a new builder");
    int rc = ek_list_set_values(&b->list, b->manifest, list, e);
    return rc ? rc : ek_profile_fit_add(b->fit, &b->list, e);
}

int ek_profile_builder_save(struct ek_profile_builder *b, const char *path, struct ek_error *e)
{
    int rc = b->profile ? EK_OK : ek_profile_fit_finish(b->fit, &b->profile, e);
    if (!b->profile)
        return rc;
    ek_profile_fit_free(b->fit);
    b->fit = NULL;
    return ek_profile_save(b->profile, path, e);
}
