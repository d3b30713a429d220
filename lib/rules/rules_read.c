/* Readers of `segments`, `defaults`, `units` and `features`. */
#include "rules/rules_read.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_BYTES = 200 };

struct ek_rules *ek_rules_from_node(const struct ek_key_source *s)
{
    return s->base[EK_IN_RULES];
}

const struct ek_manifest *ek_rules_make_manifest(const struct ek_key_source *s)
{
    return ((const struct ek_rules_context *)s->context)->m;
}

static int enomem(const struct ek_key_source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
}

static int copy_text(const struct ek_key_source *s, const struct ek_node *n, const char *what,
                     char **out)
{
    const char *text = NULL;
    int rc = ek_node_text(s->yaml, n, what, &text, s->e);
    if (rc)
        return rc;
    *out = ek_strdup(text);
    return *out ? EK_OK : enomem(s);
}

int ek_rules_read_feature_name(struct ek_key_source *s, const struct ek_node *n, int *out)
{
    const struct ek_manifest *m = ek_rules_make_manifest(s);
    const char *name = NULL;
    int rc = ek_node_text(s->yaml, n, "feature", &name, s->e);
    if (rc)
        return rc;
    int feature = m ? ek_manifest_feature(m, name) : -1;
    if (feature >= 0 || !m) {
        *out = feature;
        return EK_OK;
    }
    const char *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    if (!near)
        near = ek_manifest_suggest(m, EK_ROLE_QUERY, name);
    if (near)
        return ek_node_fail(s->yaml, n, s->e, "unknown feature '%.60s', did you mean '%s'?", name,
                            near);
    return ek_node_fail(s->yaml, n, s->e, "unknown feature '%.60s'; add it to the manifest", name);
}

static bool needs_wide_path(enum ek_action action)
{
    return ek_action_masks(action);
}

static void note_route(struct ek_rules *r, const struct ek_node *n, enum ek_action action)
{
    if (r->route_line || !ek_action_routes(action))
        return;
    r->route_line = n->line;
    r->route_column = n->column;
    r->route = action;
}

int ek_rules_read_action(struct ek_key_source *s, const struct ek_node *n, int feature,
                         enum ek_action *out)
{
    const struct ek_manifest *m = ek_rules_make_manifest(s);
    const char *words[EK_ACTION_COUNT];
    int word = 0;
    for (int i = 0; i < EK_ACTION_COUNT; i++)
        words[i] = ek_action_name((enum ek_action)i);
    int rc = ek_node_choice(s->yaml, n, "action", words, EK_ACTION_COUNT, &word, s->e);
    if (rc)
        return rc;
    if (feature >= 0 && needs_wide_path((enum ek_action)word) && !m->features[feature].routable)
        return ek_node_fail(s->yaml, n, s->e,
                            "action '%s' needs a routable feature, but '%s' is not routable; use "
                            "'alert', or set 'routable: true' in the manifest",
                            words[word], m->features[feature].name);
    *out = (enum ek_action)word;
    note_route(ek_rules_from_node(s), n, *out);
    return EK_OK;
}

static int check_dimension(const struct ek_key_source *s, const struct ek_node *n)
{
    const struct ek_rules *r = ek_rules_from_node(s);
    char there[NAMES_BYTES] = "";
    size_t used = 0;
    for (int i = 0; i < r->segment_count; i++) {
        if (!strcmp(r->segment[i], n->text))
            return EK_OK;
        if (used < sizeof there)
            used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", i ? ", " : "",
                                     r->segment[i]);
    }
    if (!*there)
        return ek_node_fail(s->yaml, n, s->e, "unknown segment '%.60s'; add 'segments: [%.60s]'",
                            n->text, n->text);
    return ek_node_fail(s->yaml, n, s->e, "unknown segment '%.60s'; 'segments' has %s", n->text,
                        there);
}

static int read_segment_value(const struct ek_key_source *s, const struct ek_node *n, char **out)
{
    size_t length = n->kind == EK_NODE_SCALAR ? strlen(n->text) : 0;
    if (length > EK_SEGMENT_BYTES_MAX)
        return ek_node_fail(s->yaml, n, s->e,
                            "a segment value must have at most %d bytes here, not %zu; lists with "
                            "longer values share one segment",
                            EK_SEGMENT_BYTES_MAX, length);
    return copy_text(s, n, "segment", out);
}

int ek_rules_read_cell(struct ek_key_source *s, const struct ek_node *n, char **dimension,
                       char **value)
{
    if (n->kind != EK_NODE_MAPPING || n->count != 1)
        return ek_node_fail(s->yaml, n, s->e, "'segment' must be one pair such as {arm: B}");
    const struct ek_node *key = &n->children[0];
    int rc = check_dimension(s, key);
    if (!rc)
        rc = copy_text(s, key, "segment", dimension);
    return rc ? rc : read_segment_value(s, &n->children[1], value);
}

/* Check the name of the last segment, and compare it with earlier ones. */
static int check_segment(const struct ek_key_source *s, const struct ek_node *n)
{
    const struct ek_rules *r = ek_rules_from_node(s);
    if (!*n->text)
        return ek_node_fail(s->yaml, n, s->e,
                            "the name of the segment is empty; use a field of the messages");
    if (strlen(n->text) > EK_NAME_BYTES_MAX) /* fleet records reject longer names */
        return ek_node_fail(s->yaml, n, s->e,
                            "a segment name must have at most %d bytes, not %zu; rename the field",
                            EK_NAME_BYTES_MAX, strlen(n->text));
    for (int i = 0; i + 1 < r->segment_count; i++)
        if (!strcmp(r->segment[i], n->text))
            return ek_node_fail(s->yaml, n, s->e, "duplicate segment '%s'", n->text);
    return EK_OK;
}

int ek_rules_read_segments(struct ek_key_source *s, const struct ek_key_row *k,
                           const struct ek_node *n)
{
    struct ek_rules *r = ek_rules_from_node(s);
    int rc = ek_node_check_kind(s->yaml, n, ek_key_name(k), EK_NODE_SEQUENCE, s->e);
    if (!rc && n->count > EK_DIMENSIONS_MAX)
        rc = ek_node_fail(s->yaml, n, s->e, "there must be at most %d segments, not %zu",
                          EK_DIMENSIONS_MAX, n->count);
    for (size_t i = 0; !rc && i < n->count; i++) {
        rc = copy_text(s, &n->children[i], ek_key_name(k), &r->segment[i]);
        if (rc)
            return rc;
        r->segment_count++;
        rc = check_segment(s, &n->children[i]);
    }
    return rc;
}

int ek_rules_read_dedup_key(struct ek_key_source *s, const struct ek_key_row *k,
                            const struct ek_node *n)
{
    unsigned same = 0;
    int rc = ek_node_check_kind(s->yaml, n, ek_key_name(k), EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < n->count; i++) {
        int word = 0;
        rc = ek_key_read_name(s, k, &n->children[i], &word);
        same |= 1u << word;
    }
    if (!rc)
        ek_rules_from_node(s)->dedup_key = same;
    return rc;
}

int ek_rules_read_stratify_by(struct ek_key_source *s, const struct ek_key_row *k,
                              const struct ek_node *n)
{
    const struct ek_manifest *m = ek_rules_make_manifest(s);
    const char *name = NULL;
    int rc = ek_node_text(s->yaml, n, ek_key_name(k), &name, s->e);
    if (rc || !strcmp(name, "none"))
        return rc;
    if (m && ek_manifest_item(m, name) >= 0)
        return ek_node_fail(
            s->yaml, n, s->e,
            "'stratify_by' must be a segment or query feature, but '%s' is an item feature", name);
    return copy_text(s, n, ek_key_name(k), &ek_rules_from_node(s)->stratify_by);
}

static struct ek_feature_rule *rule_of(const struct ek_key_source *s)
{
    return s->base[EK_IN_RULE];
}

int ek_rules_read_mode(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    rule_of(s)->has_mode = true;
    return ek_key_store(s, k, n);
}

static int wrong_shape(const struct ek_key_source *s, const struct ek_node *n)
{
    return ek_node_fail(s->yaml, n, s->e,
                        "'mode_in' must be modes of segment values such as {arm: {B: enforce}}");
}

static int read_value_mode(struct ek_key_source *s, const struct ek_node *dimension,
                           const struct ek_node *value)
{
    struct ek_feature_rule *rule = rule_of(s);
    int word = 0,
        rc = ek_key_read_name(s, ek_key_find(s->table, "defaults.mode"), value + 1, &word);
    if (rc)
        return rc;
    if (rule->mode_in_count == EK_MODE_IN_MAX)
        return ek_node_fail(
            s->yaml, value, s->e,
            "'mode_in' must have at most %d values; use 'mode' for the most frequent one",
            EK_MODE_IN_MAX);
    struct ek_mode_in *in = &rule->mode_in[rule->mode_in_count];
    rc = read_segment_value(s, value, &in->value);
    if (rc)
        return rc;
    in->dimension = ek_strdup(dimension->text);
    in->mode = (enum ek_mode)word;
    rule->mode_in_count++;
    return in->dimension ? EK_OK : enomem(s);
}

static int read_dimension_modes(struct ek_key_source *s, const struct ek_node *dimension)
{
    const struct ek_node *values = dimension + 1;
    int rc = ek_keys_collect(s, check_dimension(s, dimension));
    if (!rc && values->kind != EK_NODE_MAPPING)
        rc = wrong_shape(s, values);
    for (size_t i = 0; !rc && i < values->count; i++)
        rc = ek_keys_collect(s, read_value_mode(s, dimension, &values->children[2 * i]));
    return rc;
}

int ek_rules_read_mode_in(struct ek_key_source *s, const struct ek_key_row *k,
                          const struct ek_node *n)
{
    struct ek_feature_rule *rule = rule_of(s);
    (void)k;
    if (n->kind != EK_NODE_MAPPING)
        return wrong_shape(s, n);
    rule->mode_in = ek_calloc(EK_MODE_IN_MAX, sizeof *rule->mode_in);
    if (!rule->mode_in)
        return enomem(s);
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_dimension_modes(s, &n->children[2 * i]));
    return rc;
}

/* Percentages are stored in hundredths, so a smaller step is 0. */
#define STEP_LEAST 0.01

int ek_rules_read_canary(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *n)
{
    const struct ek_canary *c = &rule_of(s)->canary;
    const struct ek_node *step = ek_node_get(n, "step_percent");
    int rc = ek_keys_read(s, k->path, n);
    if (!rc && c->initial_percent > c->max_percent)
        return ek_node_fail(s->yaml, n, s->e,
                            "'initial_percent' (%g) must be at most 'max_percent' (%g)",
                            c->initial_percent, c->max_percent);
    if (rc || c->step_percent >= STEP_LEAST || c->initial_percent >= c->max_percent)
        return rc;
    return ek_node_fail(s->yaml, step ? step : n, s->e,
                        "with 'step_percent: %g' a canary of %g%% cannot reach 'max_percent' (%g); "
                        "use 'step_percent' of at least %g, or 'max_percent: %g'",
                        c->step_percent, c->initial_percent, c->max_percent, STEP_LEAST,
                        c->initial_percent);
}

int ek_rules_read_reaction(struct ek_key_source *s, const struct ek_key_row *k,
                           const struct ek_node *n)
{
    struct ek_rules *r = ek_rules_from_node(s);
    const struct ek_rules_context *c = s->context;
    const char *class = ek_key_name(k);
    enum ek_action action = EK_ACT_NONE;
    int rc = ek_rules_read_action(s, n, c->feature, &action);
    if (!rc && action == EK_ACT_REPAIR && !ek_class_inverts(ek_class_parse(class)))
        rc = ek_node_fail(s->yaml, n, s->e,
                          "'repair' needs a fault with an inverse, and '%s' has none; use '%s', "
                          "the default",
                          class, k->built_in);
    if (!rc && action == EK_ACT_FILL && !ek_class_loses(ek_class_parse(class)))
        rc = ek_node_fail(s->yaml, n, s->e,
                          "'fill' is for 'missing', 'zero' and 'stuck', not for '%s'; use '%s', "
                          "the default",
                          class, k->built_in);
    if (!rc && action == EK_ACT_ROUTE_PER_SOURCE && ek_class_parse(class) != EK_ITEMS)
        rc = ek_node_fail(s->yaml, n, s->e, "'route_per_source' is for class 'items', not for '%s'",
                          class);
    if (rc)
        return rc;
    if (action == EK_ACT_ROUTE_PER_SOURCE && !r->source_line) {
        r->source_line = n->line;
        r->source_column = n->column;
    }
    *(enum ek_action *)ek_key_member(k, rule_of(s)) = action;
    return EK_OK;
}

/* Raise `action_threshold` to a larger `report_threshold` if only the latter is set. */
static int check_effects(struct ek_key_source *s, const struct ek_node *map)
{
    struct ek_feature_rule *rule = rule_of(s);
    const struct ek_node *act = ek_node_get(map, "action_threshold");
    int rc = EK_OK;
    if (act && rule->action_threshold < rule->report_threshold)
        rc = ek_node_fail(s->yaml, act, s->e,
                          "'action_threshold' (%g) must be at least 'report_threshold' (%g)",
                          rule->action_threshold, rule->report_threshold);
    if (!rc && rule->action_threshold < rule->report_threshold)
        rule->action_threshold = rule->report_threshold;
    return ek_keys_collect(s, rc);
}

/* Raise `max_duration` to a longer `min_duration` if only the latter is set. */
static int check_durations(struct ek_key_source *s, const struct ek_node *map)
{
    struct ek_rules *r = ek_rules_from_node(s);
    const struct ek_node *most = ek_node_get(map, "max_duration");
    int rc = EK_OK;
    if (most && r->max_duration_ms < r->min_duration_ms)
        rc = ek_node_fail(s->yaml, most, s->e,
                          "'max_duration' must be at least 'min_duration' (%gs)",
                          (double)r->min_duration_ms / 1000);
    if (!rc && r->max_duration_ms < r->min_duration_ms)
        r->max_duration_ms = r->min_duration_ms;
    return ek_keys_collect(s, rc);
}

int ek_rules_read_defaults(struct ek_key_source *s, const struct ek_key_row *k,
                           const struct ek_node *n)
{
    int rc = ek_keys_read(s, k->path, n);
    if (!rc)
        rc = check_effects(s, n);
    if (!rc)
        rc = check_durations(s, n);
    if (!rc)
        ek_rules_set_features(ek_rules_from_node(s));
    return rc;
}

/* Return the path relative to the folder of the rules. */
static char *path_from_folder(const char *rules, const char *path)
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

/* Fail with an error of the catalog, at the position of its reference. */
static int wrong_catalogue(struct ek_key_source *s, const struct ek_node *n,
                           const struct ek_error *fault)
{
    char text[sizeof s->e->file + sizeof s->e->message];
    ek_error_text(fault, text, sizeof text);
    return ek_node_fail(s->yaml, n, s->e, "'units': %s%s", text,
                        fault->code == EK_EIO ? "; paths are relative to the folder of the rules"
                                              : "");
}

static int load_catalogue(struct ek_key_source *s, const struct ek_node *n, const char *path)
{
    struct ek_error_list faults;
    struct ek_error e = {0};
    ek_error_list_init(&faults);
    int rc = ek_units_load(&ek_rules_from_node(s)->units, path, s->faults ? &faults : NULL, &e);
    ek_rules_from_node(s)->units.incomplete |= rc != EK_OK;
    if (rc == EK_ENOMEM)
        *s->e = e;
    else if (rc && !faults.count)
        rc = ek_keys_collect(s, wrong_catalogue(s, n, &e));
    else if (rc)
        rc = EK_OK;
    for (size_t i = 0; !rc && i < faults.count; i++)
        rc = ek_keys_collect(s, wrong_catalogue(s, n, &faults.errors[i]));
    ek_error_list_release(&faults);
    return rc;
}

static int read_catalogue(struct ek_key_source *s, const struct ek_node *n)
{
    const char *name = NULL;
    int rc = ek_node_text(s->yaml, n, "units", &name, s->e);
    if (!rc && (!*name || !strcmp(name, "-")))
        rc = ek_node_fail(s->yaml, n, s->e, "'units' must name files, not '%s'", name);
    if (rc)
        return rc;
    char *path = path_from_folder(ek_yaml_name(s->yaml), name);
    if (!path)
        return enomem(s);
    rc = load_catalogue(s, n, path);
    ek_free(path);
    return rc;
}

int ek_rules_read_units(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *list)
{
    int rc = ek_node_check_kind(s->yaml, list, ek_key_name(k), EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        if (n->kind != EK_NODE_MAPPING)
            rc = read_catalogue(s, n);
        else if (!(rc = ek_units_check_duplicate(s->yaml, list, i, s->e)))
            rc = ek_units_read_entry(&ek_rules_from_node(s)->units, s->yaml, n, s->faults, s->e);
        rc = ek_keys_collect(s, rc);
    }
    return rc;
}

static bool is_currency_pair(const char *id)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return strlen(id) == 7 && strspn(id, capitals) == 3 && id[3] == '/' &&
           strspn(id + 4, capitals) == 3;
}

static int check_unit_id(const struct ek_key_source *s, const struct ek_node *n, const char *id)
{
    const struct ek_units *units = &ek_rules_from_node(s)->units;
    const char *near = NULL;
    if (is_currency_pair(id) || ek_units_find(units, id) || units->incomplete)
        return EK_OK;
    if (ek_units_nearest(units, id, &near))
        return enomem(s);
    if (near)
        return ek_node_fail(s->yaml, n, s->e, "unknown unit '%.60s', did you mean '%s'?", id, near);
    return ek_node_fail(s->yaml, n, s->e,
                        "unknown unit '%.60s'; use a known one such as cents, a pair such as "
                        "EUR/USD, or query_feature:NAME",
                        id);
}

static int check_unit(const struct ek_key_source *s, const struct ek_node *n, const char *id)
{
    static const char mark[] = EK_RULES_QUERY_FEATURE;
    const struct ek_manifest *m = ek_rules_make_manifest(s);
    if (strncmp(id, mark, strlen(mark)) != 0)
        return check_unit_id(s, n, id);
    const char *name = id + strlen(mark);
    if (!m || ek_manifest_query(m, name) >= 0)
        return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_QUERY, name);
    return ek_node_fail(s->yaml, n, s->e, "unknown query feature '%.60s'%s%s%s", name,
                        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int read_feature_unit(struct ek_key_source *s, const struct ek_node *n)
{
    struct ek_feature_rule *rule = rule_of(s);
    const char *id = NULL;
    int rc = ek_node_text(s->yaml, n, "units", &id, s->e);
    if (!rc)
        rc = check_unit(s, n, id);
    for (int k = 0; !rc && k < rule->unit_count; k++)
        if (!strcmp(rule->unit[k], id))
            rc = ek_node_fail(s->yaml, n, s->e, "duplicate unit '%s'", id);
    if (!rc)
        rc = copy_text(s, n, "units", &rule->unit[rule->unit_count]);
    rule->unit_count += !rc;
    return rc;
}

int ek_rules_read_feature_units(struct ek_key_source *s, const struct ek_key_row *k,
                                const struct ek_node *n)
{
    int rc = ek_node_check_kind(s->yaml, n, ek_key_name(k), EK_NODE_SEQUENCE, s->e);
    if (!rc && n->count > EK_UNITS_MAX)
        rc = ek_node_fail(s->yaml, n, s->e,
                          "there must be at most %d units for one feature, not %zu", EK_UNITS_MAX,
                          n->count);
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_feature_unit(s, &n->children[i]));
    return rc;
}

/* Without a manifest the rule is read and dropped. */
static int read_feature(struct ek_key_source *s, const struct ek_node *key)
{
    struct ek_rules *r = ek_rules_from_node(s);
    struct ek_rules_context *c = s->context;
    struct ek_feature_rule unused = r->defaults;
    unused.mode_in_count = 0;
    unused.mode_in = NULL;
    int feature = -1, rc = ek_keys_collect(s, ek_rules_read_feature_name(s, key, &feature));
    if (rc)
        return rc;
    s->base[EK_IN_RULE] = feature >= 0 ? &r->feature[feature] : &unused;
    c->feature = feature;
    rc = ek_keys_read(s, "features.*", key + 1);
    if (!rc)
        rc = check_effects(s, key + 1);
    ek_rules_release_rule(&unused);
    return rc;
}

int ek_rules_read_features(struct ek_key_source *s, const struct ek_key_row *k,
                           const struct ek_node *n)
{
    struct ek_rules_context *c = s->context;
    int rc = ek_node_check_kind(s->yaml, n, ek_key_name(k), EK_NODE_MAPPING, s->e);
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_feature(s, &n->children[2 * i]));
    s->base[EK_IN_RULE] = &ek_rules_from_node(s)->defaults;
    c->feature = -1;
    return rc;
}
