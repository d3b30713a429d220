/* Manifest section `normalization`: transform of each item feature, and the reason. */
#include "schema/manifest_read.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { METHOD_BYTES_MAX = 64 };

struct source {
    const struct ek_yaml *y;
    struct ek_manifest *m;
    struct ek_error_list *faults;
    struct ek_error *e;
};

static int collect_error(const struct source *s, int code)
{
    return ek_error_list_collect(s->faults, code, s->e);
}

/* Find the item feature that a key names. */
static int find(const struct source *s, const struct ek_node *key, struct ek_feature **out)
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
    int scale = 0, rc = find(s, key, &f);
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
        rc = ek_manifest_read_text(s->y, value, "why", &f->scale_why, s->e);
    if (!rc)
        f->scale = (enum ek_transform_kind)scale;
    return rc;
}

static int read_features(const struct source *s, const struct ek_node *map)
{
    int rc = map ? ek_node_check_kind(s->y, map, "features", EK_NODE_MAPPING, s->e) : EK_OK;
    for (size_t i = 0; !rc && map && i < map->count; i++)
        rc = collect_error(s, read_one(s, &map->children[2 * i], &map->children[2 * i + 1]));
    return rc;
}

static int read_method(const struct source *s, const struct ek_node *section)
{
    int rc = ek_manifest_read_text(s->y, section, "method", &s->m->scale_method, s->e);
    if (!rc && s->m->scale_method && strlen(s->m->scale_method) > METHOD_BYTES_MAX)
        rc = ek_node_fail(s->y, ek_node_get(section, "method"), s->e,
                          "'method' has more than %d bytes", METHOD_BYTES_MAX);
    return rc;
}

int ek_manifest_read_transforms(const struct ek_yaml *y, const struct ek_node *section,
                                struct ek_manifest *m, struct ek_error_list *faults,
                                struct ek_error *e)
{
    static const char *const keys[] = {"method", "features"};
    const struct source s = {y, m, faults, e};
    if (!section)
        return EK_OK;
    int rc = ek_node_check_kind(y, section, "normalization", EK_NODE_MAPPING, e);
    if (!rc)
        rc = ek_node_all_keys(y, section, keys, COUNT(keys), faults, e);
    if (!rc)
        rc = collect_error(&s, read_method(&s, section));
    return rc ? rc : read_features(&s, ek_node_get(section, "features"));
}
