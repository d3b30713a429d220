#include "manifest_info.h"

#include "assets/profile.h"
#include "base/alloc.h"
#include "schema/manifest.h"

static int fill(struct manifest_info *info, const struct ek_manifest *m, struct ek_error *e)
{
    size_t count = (size_t)(m->item_count + m->query_count - m->derived_count);
    info->feature = ek_calloc(count + 1, sizeof *info->feature);
    if (!info->feature)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        int query = (int)i - m->item_count;
        const struct ek_feature *f = query < 0 ? m->item[i] : m->query[query];
        info->feature[i] = (struct manifest_feature){f->name, query >= 0, f->routable};
    }
    info->count = count;
    return EK_OK;
}

int manifest_info_read(struct manifest_info **out, const char *name, const char *text,
                       size_t length, struct ek_error *e)
{
    struct manifest_info *info = ek_calloc(1, sizeof *info);
    struct ek_manifest *m = NULL;
    if (!info)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_manifest_parse(&m, name, text, length, e);
    info->manifest = m;
    if (!rc)
        rc = fill(info, m, e);
    if (rc)
        manifest_info_free(info);
    else
        *out = info;
    return rc;
}

void manifest_info_free(struct manifest_info *info)
{
    if (!info)
        return;
    ek_manifest_free(info->manifest);
    ek_free(info->feature);
    ek_free(info);
}

int profile_check(const char *path, const char *manifest, size_t length, struct ek_error *e)
{
    struct ek_profile *p = NULL;
    struct ek_manifest *m = NULL;
    int rc = ek_profile_load(&p, path, e);
    if (!rc && manifest)
        rc = ek_manifest_parse(&m, "manifest", manifest, length, e);
    if (!rc && m)
        rc = ek_profile_check(p, m, e);
    ek_profile_free(p);
    ek_manifest_free(m);
    return rc;
}
