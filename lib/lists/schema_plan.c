/* Steps of the conversion of messages with a schema: the mapped paths, followed through a schema.
 */
#include "base/alloc.h"
#include "base/parse.h"
#include "lists/schema_graph.h"
#include "lists/codec.h"

#include <stdio.h>
#include <string.h>

enum { FIXED_TARGETS = 13, SHOWN_NAMES = 12, NAMES_BYTES = 200 };

/* A mapped field, and the record in which its path ended too early. */
struct target {
    const char *key, *path, *usual; /* usual NULL: none */
    enum ek_schema_role role;
    enum { OF_VALUE, OF_ITEMS, OF_ONE_ITEM } use;
    bool is_required, is_of_item, is_found;
    uint32_t miss_type;
    const char *miss; /* part of the path; NULL: none */
};

/* A path from the current type on. */
struct path {
    const char *rest;
    size_t target;
};

struct planner {
    struct ek_message_schema *s;
    struct target *target; /* [count] */
    size_t count;
    struct path *top, *item; /* [tops], [items] */
    size_t tops, items;
    bool has_all; /* all fields of an item are converted */
    struct ek_error *e;
};

static int out_of_memory(struct planner *b)
{
    return ek_fail(b->e, EK_ENOMEM, "out of memory");
}

static int add_steps(struct planner *b, size_t count, uint32_t *first)
{
    struct ek_message_schema *s = b->s;
    if (ek_schema_reserve((void **)&s->step, s->steps, count, &s->step_capacity, sizeof *s->step))
        return out_of_memory(b);
    *first = (uint32_t)s->steps;
    memset(s->step + s->steps, 0, count * sizeof *s->step);
    s->steps += count;
    return EK_OK;
}

/* Make step `at` one that enters a type, with a step for each link. */
static int enter(struct planner *b, uint32_t at, uint32_t type)
{
    const struct ek_schema_type t = b->s->type[type];
    uint32_t first = 0;
    int rc = add_steps(b, t.count, &first);
    for (uint32_t i = 0; !rc && i < t.count; i++)
        b->s->step[first + i].type = b->s->link[t.first + i].type;
    if (!rc)
        b->s->step[at] =
            (struct ek_schema_step){.type = type, .mode = EK_STEP_ENTER, .first = first};
    return rc;
}

static void convert(struct planner *b, uint32_t at, uint32_t type, enum ek_schema_role role)
{
    b->s->step[at] =
        (struct ek_schema_step){.type = type, .mode = EK_STEP_CONVERT, .role = (uint8_t)role};
}

static bool is_fixed_width(const struct ek_schema_type *t)
{
    return t->kind == EK_TYPE_FLOAT || t->kind == EK_TYPE_DOUBLE || t->kind == EK_TYPE_NULL;
}

/* Reject a score that is no number, and note one that cannot be replaced in place. */
static int check_score(struct planner *b, const struct target *target, uint32_t type)
{
    const struct ek_message_schema *s = b->s;
    const struct ek_schema_type *t = &s->type[type];
    char text[NAMES_BYTES];
    bool is_union = t->kind == EK_TYPE_UNION || t->kind == EK_TYPE_WRAPPER;
    for (uint32_t i = 0; i < (is_union ? t->count : 1); i++) {
        const struct ek_schema_type *one = is_union ? ek_schema_linked(s, t, i) : t;
        if (is_fixed_width(one))
            continue;
        if (one->kind != EK_TYPE_INT && one->kind != EK_TYPE_LONG)
            return ek_fail(
                b->e, EK_ECONFIG, "'message.%s' is '%s', which is of type %s; use float or double",
                target->key, target->path, ek_schema_describe(s, type, text, sizeof text));
        b->s->score_type = type;
    }
    return EK_OK;
}

static int follow(struct planner *b, uint32_t at, uint32_t type, const struct path *paths,
                  size_t count);

/* Enter the array of items, also as a branch of a union. */
static int follow_items(struct planner *b, uint32_t at, uint32_t type)
{
    enum ek_schema_kind kind = (enum ek_schema_kind)b->s->type[type].kind;
    if (kind != EK_TYPE_ARRAY && kind != EK_TYPE_UNION) {
        convert(b, at, type, EK_ROLE_ANY);
        return EK_OK;
    }
    int rc = enter(b, at, type);
    uint32_t first = b->s->step[at].first;
    if (!rc && kind == EK_TYPE_ARRAY)
        return follow(b, first, b->s->step[first].type, b->item, b->items);
    for (uint32_t i = 0; !rc && i < b->s->type[type].count; i++)
        rc = follow_items(b, first + i, b->s->step[first + i].type);
    return rc;
}

/* Plan the value at the end of a path. */
static int finish(struct planner *b, uint32_t at, uint32_t type, size_t target)
{
    const struct target *t = &b->target[target];
    if (t->use == OF_ITEMS)
        return follow_items(b, at, type);
    if (t->use == OF_ONE_ITEM)
        return follow(b, at, type, b->item, b->items);
    convert(b, at, type, t->role);
    return EK_OK;
}

/* Note the paths that end at a type. *last is the target of one of them, or unchanged. */
static int note_ends(struct planner *b, uint32_t type, const struct path *paths, size_t count,
                     const struct path **last)
{
    int rc = EK_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        struct target *t = &b->target[paths[i].target];
        if (*paths[i].rest)
            continue;
        *last = &paths[i];
        t->is_found = true;
        rc = t->role == EK_ROLE_SCORE ? check_score(b, t, type) : EK_OK;
    }
    return rc;
}

static bool is_next(const char *rest, struct ek_text name)
{
    return strnlen(rest, name.length) == name.length && !memcmp(rest, name.text, name.length) &&
           (!rest[name.length] || rest[name.length] == '.');
}

/* Copy the paths through a field, past its name. Return their number. */
static size_t paths_through(struct ek_text name, const struct path *paths, size_t count,
                            struct path *out)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (is_next(paths[i].rest, name)) {
            const char *rest = paths[i].rest + name.length;
            out[n++] = (struct path){rest + (*rest == '.'), paths[i].target};
        }
    return n;
}

static void note_misses(struct planner *b, uint32_t type, const struct path *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct target *t = &b->target[paths[i].target];
        if (!t->miss || paths[i].rest > t->miss) {
            t->miss = paths[i].rest;
            t->miss_type = type;
        }
    }
}

static int follow_field(struct planner *b, uint32_t at, uint32_t i, const struct path *paths,
                        size_t count, struct path *through)
{
    uint32_t type = b->s->step[at].type, step = b->s->step[at].first + i;
    const struct ek_schema_link l = b->s->link[b->s->type[type].first + i];
    size_t n = paths_through(ek_schema_name(b->s, &l), paths, count, through);
    int rc = EK_OK;
    if (n)
        rc = follow(b, step, l.type, through, n);
    else if (b->has_all && paths == b->item)
        convert(b, step, l.type, EK_ROLE_ANY);
    b->s->step[at].wanted += b->s->step[step].mode != EK_STEP_SKIP;
    return rc;
}

static int follow_record(struct planner *b, uint32_t at, uint32_t type, const struct path *paths,
                         size_t count)
{
    struct path *through = ek_calloc(count, sizeof *through);
    int rc = through ? enter(b, at, type) : out_of_memory(b);
    note_misses(b, type, paths, count);
    for (uint32_t i = 0; !rc && i < b->s->type[type].count; i++)
        rc = follow_field(b, at, i, paths, count, through);
    ek_free(through);
    return rc;
}

static int follow_union(struct planner *b, uint32_t at, uint32_t type, const struct path *paths,
                        size_t count)
{
    int rc = enter(b, at, type);
    for (uint32_t i = 0; !rc && i < b->s->type[type].count; i++) {
        uint32_t step = b->s->step[at].first + i;
        uint32_t branch = b->s->step[step].type;
        if (b->s->type[branch].kind == EK_TYPE_NULL)
            convert(b, step, branch, EK_ROLE_ANY);
        else
            rc = follow(b, step, branch, paths, count);
    }
    return rc;
}

/* Plan a type that paths go through or end at. Within a map or an array the whole value is
 * converted, since their keys are those of the message. */
static int follow(struct planner *b, uint32_t at, uint32_t type, const struct path *paths,
                  size_t count)
{
    const struct path *last = NULL;
    int rc = note_ends(b, type, paths, count, &last);
    if (rc || last)
        return rc ? rc : finish(b, at, type, last->target);
    switch (b->s->type[type].kind) {
    case EK_TYPE_RECORD:
        return follow_record(b, at, type, paths, count);
    case EK_TYPE_UNION:
        return follow_union(b, at, type, paths, count);
    case EK_TYPE_MAP:
    case EK_TYPE_ARRAY:
        for (size_t i = 0; i < count; i++)
            b->target[paths[i].target].is_found = true;
        convert(b, at, type, EK_ROLE_ANY);
        return EK_OK;
    default:
        return EK_OK; /* skipped, which is mode 0 */
    }
}

/* Write the names of the first fields of a record. */
static void list_names(const struct ek_message_schema *s, const struct ek_schema_type *t, char *out)
{
    size_t at = 0;
    *out = 0;
    for (uint32_t i = 0; i < t->count && at < NAMES_BYTES; i++) {
        struct ek_text name = ek_schema_name(s, &s->link[t->first + i]);
        bool is_last = i == SHOWN_NAMES || at + name.length + 8 > NAMES_BYTES;
        at += (size_t)snprintf(out + at, NAMES_BYTES - at, "%s%.*s", i ? ", " : "",
                               is_last ? 3 : (int)name.length, is_last ? "..." : name.text);
        if (is_last)
            return;
    }
}

/* Find the field with the nearest name. Return false if none is near or memory runs out. */
static bool find_near(const struct ek_message_schema *s, const struct ek_schema_type *t,
                      const char *word, char out[NAMES_BYTES])
{
    bool is_near = false;
    for (uint32_t i = 0; i < t->count && !is_near; i++) {
        char name[NAMES_BYTES];
        const char *candidate = name;
        struct ek_text text = ek_schema_name(s, &s->link[t->first + i]);
        snprintf(name, sizeof name, "%.*s", (int)text.length, text.text);
        is_near = ek_nearest_name(word, &candidate, 1) != NULL;
        if (is_near)
            memcpy(out, name, sizeof name);
    }
    return is_near;
}

static int report_miss(const struct planner *b, const struct target *t)
{
    const struct ek_schema_type *type = &b->s->type[t->miss_type];
    char word[NAMES_BYTES], names[NAMES_BYTES];
    if (!t->miss)
        return ek_fail(b->e, EK_ECONFIG,
                       "'message.%s' is '%s', but the schema has no records there", t->key,
                       t->path);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(t->miss, "."), t->miss);
    if (find_near(b->s, type, word, names))
        return ek_fail(b->e, EK_ECONFIG,
                       "'message.%s' is '%s', but the schema has no field '%s' there, did you mean "
                       "'%s'?",
                       t->key, t->path, word, names);
    list_names(b->s, type, names);
    return ek_fail(b->e, EK_ECONFIG,
                   "'message.%s' is '%s', but the schema has no field '%s' there; it has: %s",
                   t->key, t->path, word, names);
}

/* A field with its default name is optional. */
static bool is_missed(const struct target *t)
{
    return !t->is_found && (t->is_required || !t->usual || strcmp(t->path, t->usual) != 0);
}

/* Add a field by its path, or by its default name. */
static void add(struct planner *b, struct target t, const char *path)
{
    t.path = path ? path : t.usual;
    struct path *to = t.is_of_item ? &b->item[b->items++] : &b->top[b->tops++];
    *to = (struct path){t.path, b->count};
    b->target[b->count++] = t;
}

static void add_named(struct planner *b, struct target t, const struct ek_named_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        add(b, t, paths->items[i].path);
}

static void add_message(struct planner *b, const struct ek_mapping *m)
{
    add(b, (struct target){.key = "query", .usual = "query", .role = EK_ROLE_OPTIONAL}, m->query);
    add(b, (struct target){.key = "time_ms", .usual = "time_ms", .role = EK_ROLE_TIME}, m->time_ms);
    add(b, (struct target){.key = "manifest", .usual = "manifest", .role = EK_ROLE_OPTIONAL},
        m->manifest);
    add(b, (struct target){.key = "list_items", .usual = "list_items", .role = EK_ROLE_OPTIONAL},
        m->list_items);
    add(b, (struct target){.key = "log_means", .usual = "log_means"}, m->log_means);
    if (!m->segment_paths.count)
        add(b, (struct target){.key = "segments", .usual = "segments"}, m->segments);
    if (!m->query_feature_paths.count)
        add(b,
            (struct target){
                .key = "query_features", .usual = "query_features", .role = EK_ROLE_FEATURES},
            m->query_features);
    add_named(b, (struct target){.key = "segments"}, &m->segment_paths);
    add_named(b, (struct target){.key = "query_features"}, &m->query_feature_paths);
    if (m->layout == EK_LAYOUT_LIST)
        add(b,
            (struct target){.key = "items", .usual = "items", .is_required = true, .use = OF_ITEMS},
            m->items);
    if (m->layout == EK_LAYOUT_ITEM)
        add(b,
            (struct target){
                .key = "item", .usual = "item", .is_required = true, .use = OF_ONE_ITEM},
            m->item);
}

/* Add the fields of an item, with columns those of the message. */
static void add_item(struct planner *b, const struct ek_mapping *m)
{
    bool columns = m->layout == EK_LAYOUT_COLUMNS;
    enum ek_schema_role row = columns ? EK_ROLE_ANY : EK_ROLE_FEATURES;
    enum ek_schema_role score = columns ? EK_ROLE_ANY : EK_ROLE_SCORE;
    b->has_all = m->features && !strcmp(m->features, "*");
    add(b,
        (struct target){.key = "item_id", .usual = columns ? "ids" : "id", .is_of_item = !columns},
        m->item_id);
    add(b,
        (struct target){.key = "score",
                        .usual = columns ? "scores" : "score",
                        .role = score,
                        .is_of_item = !columns},
        m->score);
    add(b,
        (struct target){
            .key = "label", .usual = columns ? "labels" : "label", .is_of_item = !columns},
        m->label);
    add(b,
        (struct target){
            .key = "source", .usual = columns ? "sources" : "source", .is_of_item = !columns},
        m->source);
    if (!m->feature_paths.count && !b->has_all)
        add(b,
            (struct target){.key = "features",
                            .usual = "features",
                            .role = row,
                            .is_required = true,
                            .is_of_item = !columns},
            m->features);
    add_named(b, (struct target){.key = "features", .is_of_item = !columns}, &m->feature_paths);
}

static int plan(struct planner *b, uint32_t root, const struct ek_mapping *m)
{
    uint32_t first = 0;
    int rc = add_steps(b, 1, &first);
    if (rc)
        return rc;
    if (!m) {
        convert(b, first, root, EK_ROLE_ANY);
        return EK_OK;
    }
    add_message(b, m);
    add_item(b, m);
    rc = follow(b, first, root, b->top, b->tops);
    for (size_t i = 0; !rc && i < b->count; i++)
        if (is_missed(&b->target[i]))
            rc = report_miss(b, &b->target[i]);
    return rc;
}

int ek_schema_plan(struct ek_message_schema *s, uint32_t root, const struct ek_mapping *m,
                   struct ek_error *e)
{
    struct planner b = {.s = s, .e = e};
    size_t most = FIXED_TARGETS;
    if (m)
        most += m->segment_paths.count + m->query_feature_paths.count + m->feature_paths.count;
    b.target = ek_calloc(most, sizeof *b.target);
    b.top = ek_calloc(most, sizeof *b.top);
    b.item = ek_calloc(most, sizeof *b.item);
    int rc = b.target && b.top && b.item ? plan(&b, root, m) : out_of_memory(&b);
    ek_free(b.target);
    ek_free(b.top);
    ek_free(b.item);
    return rc;
}
