/* The conversions that rules add: `units`, a list of catalogues (paths) and of units themselves. */
#include "rules/rules_read.h"

#include "base/alloc.h"

#include <string.h>

/* The path as it counts from the folder of the rules. */
static char *beside(const char *rules, const char *path)
{
    const char *slash = strrchr(rules, '/');
    size_t folder = slash && *path != '/' ? (size_t)(slash - rules) + 1 : 0;
    char *out = ek_calloc(folder + strlen(path) + 1, 1);
    if (out) {
        memcpy(out, rules, folder);
        memcpy(out + folder, path, strlen(path));
    }
    return out;
}

/* A fault of the catalogue, at the place that names it. */
static int wrong_catalogue(const struct ek_rules_source *s, const struct ek_node *n,
                           const struct ek_error *fault)
{
    char text[sizeof s->e->file + sizeof s->e->message];
    ek_error_text(fault, text, sizeof text);
    return ek_node_fail(s->y, n, s->e, "'units': %s%s", text,
                        fault->code == EK_EIO ? "; put its path from the folder of these rules"
                                              : "");
}

static int load_catalogue(const struct ek_rules_source *s, const struct ek_node *n,
                          const char *path)
{
    struct ek_error_list faults;
    struct ek_error e = {0};
    ek_error_list_init(&faults);
    int rc = ek_units_load(&s->r->units, path, s->faults ? &faults : NULL, &e);
    s->r->units.incomplete |= rc != EK_OK;
    if (rc == EK_ENOMEM)
        *s->e = e;
    else if (rc && !faults.count)
        rc = ek_rules_go_on(s, wrong_catalogue(s, n, &e));
    else if (rc)
        rc = EK_OK;
    for (size_t i = 0; !rc && i < faults.count; i++)
        rc = ek_rules_go_on(s, wrong_catalogue(s, n, &faults.errors[i]));
    ek_error_list_release(&faults);
    return rc;
}

static int read_catalogue(const struct ek_rules_source *s, const struct ek_node *n)
{
    const char *name = NULL;
    int rc = ek_node_text(s->y, n, "units", &name, s->e);
    if (!rc && (!*name || !strcmp(name, "-")))
        rc = ek_node_fail(s->y, n, s->e, "'units' must name files, not '%s'", name);
    if (rc)
        return rc;
    char *path = beside(ek_yaml_name(s->y), name);
    if (!path)
        return ek_rules_no_memory(s);
    rc = load_catalogue(s, n, path);
    ek_free(path);
    return rc;
}

int ek_rules_read_units(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "units", EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        if (n->kind != EK_NODE_MAPPING)
            rc = read_catalogue(s, n);
        else if (!(rc = ek_units_check_twice(s->y, list, i, s->e)))
            rc = ek_units_read_entry(&s->r->units, s->y, n, s->faults, s->e);
        rc = ek_rules_go_on(s, rc);
    }
    return rc;
}
