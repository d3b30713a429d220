#include "guard/plan_unit.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/parse.h"

#include <math.h>
#include <string.h>

/* Entry in progress. */
struct reading {
    struct ek_plan_unit *u;
    int number;
    struct ek_error *e;
};

int ek_plan_unit_fail(int number, const char *key, struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "entry %d of the plan: missing or invalid '%s'", number, key);
}

static int invalid(const struct reading *r, const char *key)
{
    return ek_plan_unit_fail(r->number, key, r->e);
}

static int out_of_memory(const struct reading *r)
{
    return ek_fail(r->e, EK_ENOMEM, "out of memory");
}

static bool read_number(yyjson_val *from, const char *key, double *out)
{
    yyjson_val *value = yyjson_obj_get(from, key);
    *out = yyjson_get_num(value);
    return yyjson_is_num(value) && isfinite(*out);
}

static bool read_float(yyjson_val *from, const char *key, float *out)
{
    double number;
    bool good = read_number(from, key, &number);
    *out = (float)number;
    return good;
}

/* Set floats [most] to the numbers of an array, and return their number; -1 if it is invalid. */
static int read_floats(yyjson_val *array, float *out, size_t most)
{
    size_t count = yyjson_arr_size(array), i, max;
    yyjson_val *value;
    if (!yyjson_is_arr(array) || count > most)
        return -1;
    yyjson_arr_foreach(array, i, max, value)
    {
        if (!yyjson_is_num(value))
            return -1;
        out[i] = (float)yyjson_get_num(value);
    }
    return (int)count;
}

/* ---------------------------------------------------------------- features */

static void add_feature(struct ek_json_writer *w, const char *name, int index, const char *role)
{
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "name", name);
    ek_json_add_integer(w, "index", index);
    ek_json_add_text(w, "role", role);
    ek_json_close(w, '}');
}

/* Add the query features to a manifest, derived ones apart, and note their indexes. */
static int add_query_features(const struct reading *r, yyjson_val *features,
                              struct ek_json_writer *w)
{
    const char *derived = NULL;
    size_t i, max;
    int count = 0;
    yyjson_val *one;
    yyjson_arr_foreach(features, i, max, one)
    {
        const char *name = yyjson_get_str(yyjson_obj_get(one, "name"));
        yyjson_val *index = yyjson_obj_get(one, "index");
        if (!name ||
            (!yyjson_is_null(index) && !(yyjson_is_int(index) && yyjson_get_num(index) >= 0 &&
                                         yyjson_get_num(index) < EK_FEATURES_MAX)))
            return invalid(r, "query_features");
        if (yyjson_is_null(index)) {
            derived = name;
            continue;
        }
        r->u->query[count++] = (int)yyjson_get_int(index);
        add_feature(w, name, 1 + count, "query");
    }
    ek_json_close(w, ']');
    ek_json_open(w, "derived_query_features", '[');
    if (derived)
        ek_json_add_text(w, NULL, derived);
    ek_json_close(w, ']');
    return EK_OK;
}

/* Make the manifest: the item feature, and the query features that the entry needs. */
static int read_manifest(const struct reading *r, yyjson_val *from)
{
    yyjson_val *features = yyjson_obj_get(from, "query_features");
    struct ek_json_writer w;
    struct ek_buf text;
    if (!yyjson_is_arr(features))
        return invalid(r, "query_features");
    if (!(r->u->query = ek_calloc(yyjson_arr_size(features) + 1, sizeof *r->u->query)))
        return out_of_memory(r);
    ek_buf_init(&text, 0);
    ek_json_init(&w, &text);
    ek_json_open(&w, NULL, '{');
    ek_json_open(&w, "features", '[');
    add_feature(&w, r->u->feature, 1, "item");
    int rc = add_query_features(r, features, &w);
    ek_json_close(&w, '}');
    int parsed = rc ? EK_OK : w.rc;
    if (!rc && !parsed)
        parsed = ek_manifest_parse(&r->u->assets.manifest, "plan", (const char *)text.data,
                                   text.length, NULL);
    ek_buf_release(&text);
    if (rc)
        return rc;
    return parsed == EK_ECONFIG ? invalid(r, "query_features") : parsed ? out_of_memory(r) : EK_OK;
}

/* ------------------------------------------------------------------ levels */

static int make_profile(const struct reading *r, size_t strata)
{
    struct ek_profile *p = r->u->assets.profile = ek_calloc(1, sizeof *p);
    if (!p)
        return out_of_memory(r);
    p->features = 1;
    p->strata = (int)strata;
    p->stratum = ek_calloc(strata, sizeof *p->stratum);
    p->baseline = ek_calloc(1, sizeof *p->baseline);
    p->level = ek_calloc(strata, sizeof *p->level);
    p->known = ek_calloc(EK_KNOWN_VALUES_MAX, sizeof *p->known);
    p->known_count = ek_calloc(1, sizeof *p->known_count);
    return p->stratum && p->baseline && p->level && p->known && p->known_count ? EK_OK
                                                                               : out_of_memory(r);
}

/* The first stratum has no name, the others ascend. */
static int read_strata(const struct reading *r, yyjson_val *strata)
{
    struct ek_profile *p = r->u->assets.profile;
    size_t i, max;
    yyjson_val *name, *level;
    yyjson_obj_foreach(strata, i, max, name, level)
    {
        const char *text = yyjson_get_str(name);
        bool good = i ? strcmp(p->stratum[i - 1], text) < 0 : !*text;
        if (!good || !yyjson_is_num(level))
            return invalid(r, "strata");
        if (!(p->stratum[i] = ek_strdup(text)))
            return out_of_memory(r);
        p->level[i] = (float)yyjson_get_num(level);
    }
    return EK_OK;
}

/* Set the number of values of all dimensions. Return false if a dimension is invalid. */
static bool count_values(yyjson_val *segments, int *count)
{
    size_t i, max;
    yyjson_val *one;
    *count = 0;
    yyjson_arr_foreach(segments, i, max, one)
    {
        yyjson_val *values = yyjson_obj_get(one, "values");
        if (!yyjson_is_obj(values) || yyjson_obj_size(values) > EK_SEGMENT_LEVEL_VALUES_MAX ||
            !yyjson_is_str(yyjson_obj_get(one, "dimension")))
            return false;
        *count += (int)yyjson_obj_size(values);
    }
    return yyjson_is_arr(segments) && i <= EK_SEGMENT_LEVEL_DIMENSIONS_MAX;
}

static int read_dimension(const struct reading *r, int d, yyjson_val *from)
{
    struct ek_segment_levels *t = r->u->assets.profile->segment_levels;
    size_t i, max;
    yyjson_val *name, *level;
    int at = t->first[d];
    if (!(t->dimension[d] = ek_strdup(yyjson_get_str(yyjson_obj_get(from, "dimension")))))
        return out_of_memory(r);
    yyjson_obj_foreach(yyjson_obj_get(from, "values"), i, max, name, level)
    {
        const char *text = yyjson_get_str(name);
        if ((i && strcmp(t->value[at - 1], text) >= 0) || !yyjson_is_num(level))
            return invalid(r, "segments");
        if (!(t->value[at] = ek_strdup(text)))
            return out_of_memory(r);
        t->level[at++] = (float)yyjson_get_num(level);
    }
    t->first[d + 1] = at;
    return EK_OK;
}

static int read_segment_levels(const struct reading *r, yyjson_val *segments)
{
    struct ek_segment_levels **t = &r->u->assets.profile->segment_levels;
    int values, dimensions = (int)yyjson_arr_size(segments), rc = EK_OK;
    if (!count_values(segments, &values))
        return invalid(r, "segments");
    if (!dimensions)
        return EK_OK;
    if (ek_segment_levels_new(t, dimensions, values, 1))
        return out_of_memory(r);
    for (int d = 0; !rc && d < dimensions; d++)
        rc = read_dimension(r, d, yyjson_arr_get(segments, (size_t)d));
    if (!rc)
        ek_segment_levels_index(*t);
    return rc;
}

static int read_slopes(const struct reading *r, yyjson_val *slopes)
{
    struct ek_query_slopes **t = &r->u->assets.profile->query_slopes;
    size_t i, max;
    yyjson_val *one;
    if (!yyjson_is_arr(slopes) || yyjson_arr_size(slopes) > EK_SLOPE_QUERIES_MAX)
        return invalid(r, "slopes");
    if (!yyjson_arr_size(slopes))
        return EK_OK;
    if (ek_query_slopes_new(t, 1))
        return out_of_memory(r);
    (*t)->queries = (int)yyjson_arr_size(slopes);
    yyjson_arr_foreach(slopes, i, max, one)
    {
        const char *name = yyjson_get_str(yyjson_obj_get(one, "query_feature"));
        (*t)->query[i] = name ? ek_manifest_query(r->u->assets.manifest, name) : -1;
        if ((*t)->query[i] < 0 || !read_float(one, "slope", &(*t)->slope[0][i]) ||
            !read_float(one, "mean", &(*t)->mean[i]) || !read_float(one, "low", &(*t)->low[i]) ||
            !read_float(one, "high", &(*t)->high[i]))
            return invalid(r, "slopes");
    }
    return EK_OK;
}

/* Without items, the key 0 of the only row belongs to no item. */
static int read_item_levels(const struct reading *r, yyjson_val *items)
{
    struct ek_item_levels **t = &r->u->assets.profile->item_levels;
    size_t i, max, count = yyjson_obj_size(items);
    yyjson_val *name, *level;
    if (yyjson_is_null(items))
        return EK_OK;
    if (!yyjson_is_obj(items) || count > EK_ITEM_LEVELS_MAX)
        return invalid(r, "items");
    if (ek_item_levels_new(t, count ? count : 1, 1))
        return out_of_memory(r);
    yyjson_obj_foreach(items, i, max, name, level)
    {
        (*t)->value[i] = (float)yyjson_get_num(level);
        if (ek_parse_hash(yyjson_get_str(name), EK_WHOLE, &(*t)->key[i]) || !(*t)->key[i] ||
            (i && (*t)->key[i] <= (*t)->key[i - 1]) || !yyjson_is_num(level))
            return invalid(r, "items");
    }
    ek_item_levels_index(*t);
    return EK_OK;
}

/* Read `log_sd`, without which lists of new items are not tested. */
static int read_log_sd(const struct reading *r, yyjson_val *from, float *out)
{
    *out = INFINITY;
    bool there = yyjson_obj_get(from, "log_sd") != NULL;
    return there && !read_float(from, "log_sd", out) ? invalid(r, "log_sd") : EK_OK;
}

static int read_level(const struct reading *r, yyjson_val *from)
{
    struct ek_profile *p = r->u->assets.profile;
    struct ek_baseline *b = p->baseline;
    const char *field = yyjson_get_str(yyjson_obj_get(from, "stratify_by"));
    if (!read_float(from, "log_mean", &b->log_mean))
        return invalid(r, "log_mean");
    if (field && !(p->field = ek_strdup(field)))
        return out_of_memory(r);
    if (read_floats(yyjson_obj_get(from, "season"), b->season, EK_SEASON) != EK_SEASON)
        return invalid(r, "season");
    int rc = read_strata(r, yyjson_obj_get(from, "strata"));
    if (!rc)
        rc = read_segment_levels(r, yyjson_obj_get(from, "segments"));
    if (!rc)
        rc = read_slopes(r, yyjson_obj_get(from, "slopes"));
    if (!rc)
        rc = read_item_levels(r, yyjson_obj_get(from, "items"));
    return rc ? rc : read_log_sd(r, from, &b->log_sd);
}

/* Set the profile to one that has the same properties as that of training. */
static int read_profile(const struct reading *r, yyjson_val *from)
{
    yyjson_val *values = yyjson_obj_get(from, "values"), *level = yyjson_obj_get(from, "level");
    yyjson_val *positive = yyjson_obj_get(values, "positive");
    yyjson_val *zeros = yyjson_obj_get(values, "zeros");
    size_t strata = yyjson_obj_size(yyjson_obj_get(level, "strata"));
    if (level && (!strata || strata > EK_STRATA_MAX))
        return invalid(r, "strata");
    int rc = make_profile(r, level ? strata : 1);
    if (rc)
        return rc;
    struct ek_profile *p = r->u->assets.profile;
    int known = read_floats(yyjson_obj_get(values, "known"), p->known, EK_KNOWN_VALUES_MAX);
    if (!yyjson_is_bool(positive) || !yyjson_is_bool(zeros) || known < 0)
        return invalid(r, "values");
    p->known_count[0] = (uint8_t)known;
    p->baseline->share[1] = yyjson_is_true(zeros);
    p->baseline->share[2] = !yyjson_is_true(positive);
    return level ? read_level(r, level) : EK_OK;
}

/* ------------------------------------------------------------------ repair */

static enum ek_repair_by parse_by(const char *name)
{
    for (int by = EK_REPAIR_NUMBER; name && by < EK_REPAIR_COUNT; by++)
        if (!strcmp(name, ek_repair_by_name((enum ek_repair_by)by)))
            return (enum ek_repair_by)by;
    return EK_REPAIR_UNKNOWN;
}

/* Read the numbers of a repair, for which the writer leaves out 1. */
static int read_numbers(const struct reading *r, yyjson_val *from, struct ek_plan_repair *out)
{
    const char *query = yyjson_get_str(yyjson_obj_get(from, "query_feature"));
    const char *second = out->by == EK_REPAIR_POWER ? "scale" : "error";
    out->number = out->scale = 1;
    out->exact = yyjson_is_true(yyjson_obj_get(from, "exact"));
    if (yyjson_obj_get(from, "number") && !read_number(from, "number", &out->number))
        return invalid(r, "number");
    if ((out->by == EK_REPAIR_POWER || out->by == EK_REPAIR_OFFSET) &&
        !read_number(from, second, &out->scale))
        return invalid(r, second);
    if (out->by != EK_REPAIR_QUERY_FEATURE)
        return EK_OK;
    out->query_feature = query ? ek_manifest_query(r->u->assets.manifest, query) : -1;
    return out->query_feature < 0 ? invalid(r, "query_feature") : EK_OK;
}

static int read_repair(const struct reading *r, yyjson_val *from, struct ek_plan_repair *out)
{
    yyjson_val *repair = yyjson_obj_get(from, "repair");
    *out = (struct ek_plan_repair){.factor = NAN, .query_feature = -1};
    if (!repair)
        return EK_OK;
    out->by = parse_by(yyjson_get_str(yyjson_obj_get(repair, "by")));
    if (out->by == EK_REPAIR_UNKNOWN)
        return invalid(r, "by");
    if (ek_repair_uses_level(out->by) && !yyjson_is_obj(yyjson_obj_get(from, "level")))
        return invalid(r, "level");
    int rc = read_manifest(r, from);
    if (!rc)
        rc = read_numbers(r, repair, out);
    if (!rc)
        rc = read_profile(r, from);
    if (!rc && ek_feature_writer_new(&r->u->writer, r->u->assets.manifest))
        rc = out_of_memory(r);
    if (!rc)
        r->u->field = ek_stratum_field_find(r->u->assets.manifest, r->u->assets.profile->field);
    return rc;
}

static int parse_name(int (*parse)(const char *name), yyjson_val *from, const char *key)
{
    const char *name = yyjson_get_str(yyjson_obj_get(from, key));
    return name ? parse(name) : -1;
}

int ek_plan_unit_read(struct ek_plan_unit *u, struct ek_plan_entry *entry, yyjson_val *from,
                      int number, struct ek_error *e)
{
    const struct reading r = {u, number, e};
    const char *source = yyjson_get_str(yyjson_obj_get(from, "source"));
    const char *role = yyjson_get_str(yyjson_obj_get(from, "role"));
    int action = parse_name(ek_action_parse, from, "mitigation");
    int mode = parse_name(ek_mode_parse, from, "mode");
    double percent, index;
    u->feature = yyjson_get_str(yyjson_obj_get(from, "feature"));
    if (!u->feature)
        return invalid(&r, "feature");
    if (action < 0)
        return invalid(&r, "mitigation");
    if (mode < 0)
        return invalid(&r, "mode");
    if (!read_number(from, "percent", &percent) || percent < 0 || percent > 100)
        return invalid(&r, "percent");
    if (!read_number(from, "index", &index) || index < 0 || index >= EK_FEATURES_MAX)
        return invalid(&r, "index");
    if (!source)
        return invalid(&r, "source");
    *entry = ek_plan_entry_init(0, 0, (struct ek_treatment){(enum ek_action)action, 0});
    entry->mode = (enum ek_mode)mode;
    entry->percent = (int)lrint(percent * 100);
    entry->by = strcmp(source, ek_plan_source_name(EK_BY_FINDING)) ? EK_BY_RULES : EK_BY_FINDING;
    u->index = (int)index;
    u->of_query = role && !strcmp(role, "query");
    if (u->of_query)
        return EK_OK;
    return read_repair(&r, from, &entry->repair);
}

void ek_plan_unit_release(struct ek_plan_unit *u)
{
    ek_feature_writer_free(u->writer);
    ek_manifest_free(u->assets.manifest);
    ek_profile_free(u->assets.profile);
    ek_free(u->query);
}
