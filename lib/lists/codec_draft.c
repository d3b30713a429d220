#include "lists/codec_draft.h"

#include "base/alloc.h"
#include "base/date.h"
#include "base/hash.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <stdio.h>
#include <strings.h>

enum {
    NODES_MAX = 8192,
    NAME_BYTES = 128,
    PATH_BYTES = 256,
    DEPTH_MAX = 16,
    ELEMENTS_MAX = 100, /* of an array that are counted */
    FEW = 20,           /* values of a segment dimension */
    FIELDS = 9,
    SAMPLE = 20, /* messages after which a constant field is no segment */
    ALL = INT32_MAX,
    MUCH = 4 /* times as many features in one place as in the item: only those */
};

/* A path in the messages. The elements of an array share one node without a name. */
struct node {
    char name[NAME_BYTES];
    int parent, next, child;
    uint64_t seen, numbers, wholes, texts, bools, maps, arrays, bins;
    uint64_t element_maps, element_numbers, element_scalars; /* of arrays */
    uint32_t shortest, longest;                              /* array */
    bool iso;                                                /* each text is a time */
    double most;
    uint64_t few[FEW]; /* hashes of distinct values */
    int distinct;      /* FEW + 1: more */
};

struct ek_draft {
    struct node *nodes; /* [count], the first one is the message */
    size_t count, capacity;
    uint64_t messages;
    int items;  /* array of the items, -1: none; its contents are no fields of the message */
    int values; /* map of features, -1: none; its contents are no other fields */
    struct ek_json *json;
    char path[FIELDS][PATH_BYTES];
    int fields;
    int segment_node[EK_SEGMENTS_MAX];
    struct ek_named_path *segments, *features;
    size_t segment_count, feature_count, segment_capacity, feature_capacity;
};

int ek_draft_new(struct ek_draft **out, struct ek_error *e)
{
    struct ek_draft *d = ek_calloc(1, sizeof *d);
    if (!d)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    *out = d;
    return EK_OK;
}

static void clear_paths(struct ek_named_path *paths, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        ek_free((char *)(uintptr_t)paths[i].name);
        ek_free((char *)(uintptr_t)paths[i].path);
    }
    *count = 0;
}

void ek_draft_free(struct ek_draft *d)
{
    if (!d)
        return;
    clear_paths(d->segments, &d->segment_count);
    clear_paths(d->features, &d->feature_count);
    ek_free(d->segments);
    ek_free(d->features);
    ek_json_free(d->json);
    ek_free(d->nodes);
    ek_free(d);
}

/* Find or add a child. *out is -1 beyond the limits. */
static int find_child(struct ek_draft *d, int parent, struct ek_text name, int *out)
{
    int last = -1;
    *out = -1;
    if (name.length >= NAME_BYTES || (name.length && memchr(name.text, '.', name.length)))
        return EK_OK; /* no path can name it */
    for (int i = parent < 0 ? -1 : d->nodes[parent].child; i >= 0; i = d->nodes[i].next) {
        if (strlen(d->nodes[i].name) == name.length &&
            !memcmp(d->nodes[i].name, name.text, name.length)) {
            *out = i;
            return EK_OK;
        }
        last = i;
    }
    if (d->count == NODES_MAX)
        return EK_OK;
    struct node *nodes = ek_grow(d->nodes, d->count, &d->capacity, sizeof *nodes);
    if (!nodes)
        return EK_ENOMEM;
    d->nodes = nodes;
    *out = (int)d->count++;
    nodes[*out] = (struct node){.parent = parent, .next = -1, .child = -1, .iso = true};
    nodes[*out].shortest = UINT32_MAX;
    memcpy(nodes[*out].name, name.text, name.length);
    if (last >= 0)
        nodes[last].next = *out;
    else if (parent >= 0)
        nodes[parent].child = *out;
    return EK_OK;
}

static void count_distinct(struct node *n, uint64_t hash)
{
    int i = 0;
    while (i < n->distinct && i < FEW && n->few[i] != hash)
        i++;
    if (i < n->distinct || n->distinct > FEW)
        return;
    if (n->distinct < FEW)
        n->few[n->distinct] = hash;
    n->distinct++;
}

static void count_scalar(struct node *n, const struct ek_wire *w, const struct ek_head *h)
{
    bool whole = h->kind == EK_WIRE_UINT || h->kind == EK_WIRE_INT;
    int64_t ms;
    n->bools += h->kind == EK_WIRE_BOOL;
    n->bins += h->kind == EK_WIRE_BIN;
    if (ek_head_is_number(h)) {
        double value = ek_head_number(h);
        n->numbers++;
        n->wholes += whole;
        n->most = value > n->most ? value : n->most;
    }
    if (h->kind == EK_WIRE_TEXT) {
        n->texts++;
        n->iso = n->iso && !ek_parse_time_ms((const char *)w->p, h->count, &ms);
        count_distinct(n, ek_hash((const char *)w->p, h->count, 1));
    } else if (h->kind <= EK_WIRE_FLOAT64 && h->kind != EK_WIRE_NIL) {
        count_distinct(n, h->bits + h->kind);
    }
}

static int count_value(struct ek_draft *d, struct ek_wire *w, int at, int depth);

static int count_map(struct ek_draft *d, struct ek_wire *w, uint32_t pairs, int at, int depth)
{
    int rc = EK_OK;
    for (uint32_t i = 0; i < pairs && !rc; i++) {
        const uint8_t *start = w->p;
        struct ek_head h;
        int child = -1;
        if (ek_wire_head(w, &h) != EK_WIRE_OK)
            return EK_EFORMAT;
        if (h.kind == EK_WIRE_TEXT) {
            rc = find_child(d, at, (struct ek_text){(const char *)w->p, h.count}, &child);
            w->p += h.count;
        } else {
            w->p = start;
            rc = ek_wire_skip(w, EK_WIRE_DEPTH_MAX) == EK_WIRE_OK ? EK_OK : EK_EFORMAT;
        }
        if (!rc)
            rc = count_value(d, w, child, depth + 1);
    }
    return rc;
}

static int count_array(struct ek_draft *d, struct ek_wire *w, uint32_t count, int at, int depth)
{
    struct node *n = &d->nodes[at];
    n->arrays++;
    n->shortest = count < n->shortest ? count : n->shortest;
    n->longest = count > n->longest ? count : n->longest;
    for (uint32_t i = 0; i < count; i++) {
        struct ek_wire peek = *w;
        struct ek_head h;
        int element = -1, rc = EK_OK;
        if (ek_wire_head(&peek, &h) != EK_WIRE_OK)
            return EK_EFORMAT;
        n = &d->nodes[at];
        n->element_maps += h.kind == EK_WIRE_MAP;
        n->element_numbers += ek_head_is_number(&h) || h.kind == EK_WIRE_BOOL;
        n->element_scalars += ek_head_is_number(&h) || h.kind == EK_WIRE_TEXT;
        if (h.kind == EK_WIRE_MAP && i < ELEMENTS_MAX)
            rc = find_child(d, at, (struct ek_text){"", 0}, &element);
        if (!rc)
            rc = count_value(d, w, element, depth + 1);
        if (rc)
            return rc;
    }
    return EK_OK;
}

/* Count the next value at a node; -1: skip it. */
static int count_value(struct ek_draft *d, struct ek_wire *w, int at, int depth)
{
    struct ek_head h;
    if (at < 0 || depth > DEPTH_MAX)
        return ek_wire_skip(w, EK_WIRE_DEPTH_MAX) == EK_WIRE_OK ? EK_OK : EK_EFORMAT;
    if (ek_wire_head(w, &h) != EK_WIRE_OK)
        return EK_EFORMAT;
    d->nodes[at].seen++;
    d->nodes[at].maps += h.kind == EK_WIRE_MAP;
    if (h.kind == EK_WIRE_MAP)
        return count_map(d, w, h.count, at, depth);
    if (h.kind == EK_WIRE_ARRAY)
        return count_array(d, w, h.count, at, depth);
    count_scalar(&d->nodes[at], w, &h);
    if (h.kind == EK_WIRE_TEXT || h.kind == EK_WIRE_BIN)
        w->p += h.count;
    else if (h.kind == EK_WIRE_EXT)
        w->p += h.count + 1;
    return EK_OK;
}

int ek_draft_add(struct ek_draft *d, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_json_fault fault;
    const uint8_t *start = bytes;
    int root = 0, rc = EK_OK;
    if (ek_codec_has_json(bytes, length)) {
        rc = ek_json_read(&d->json, bytes, length, EK_JSON_DEPTH_MAX, &fault);
        if (!rc)
            start = ek_json_wire(d->json, &length);
    }
    if (!rc && !d->count)
        rc = find_child(d, -1, (struct ek_text){"", 0}, &root);
    struct ek_wire w = {start, start, start + length};
    if (!rc && !(length && ek_wire_at_map(&w)))
        rc = EK_EFORMAT;
    if (!rc)
        rc = count_value(d, &w, root, 0);
    d->messages++;
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    return rc ? ek_fail(e, EK_EFORMAT, "the message is neither JSON nor a MessagePack map") : EK_OK;
}

static bool is_number(const struct node *n)
{
    return (n->numbers || n->bools) && !n->texts && !n->maps && !n->arrays && !n->bins;
}

static bool is_scalar(const struct node *n)
{
    return (n->texts || n->numbers) && !n->maps && !n->arrays;
}

static bool is_numbers(const struct node *n)
{
    return n->arrays && n->element_numbers && !n->element_maps && !n->maps;
}

static int child_named(const struct ek_draft *d, int at, const char *name)
{
    for (int i = d->nodes[at].child; i >= 0; i = d->nodes[i].next)
        if (!strcmp(d->nodes[i].name, name))
            return i;
    return -1;
}

/* Return whether the node is an array of {name, value}. */
static bool is_pairs(const struct ek_draft *d, int at)
{
    int element = d->nodes[at].element_maps ? child_named(d, at, "") : -1;
    int name = element < 0 ? -1 : child_named(d, element, "name");
    int value = element < 0 ? -1 : child_named(d, element, "value");
    return name >= 0 && value >= 0 && d->nodes[name].texts && is_number(&d->nodes[value]);
}

/* Write the path from an ancestor. Return false if it is too long, or leads through an array with
 * other lengths than 1. */
static bool write_path(const struct ek_draft *d, int at, int from, char out[PATH_BYTES])
{
    char rest[PATH_BYTES] = "";
    *out = 0;
    for (int parts = 0; at != from; at = d->nodes[at].parent, parts++) {
        const struct node *n = &d->nodes[at];
        if (at <= 0 || at == d->items || parts == EK_FIELD_DEPTH_MAX)
            return false;
        if (!*n->name && d->nodes[n->parent].longest != 1)
            return false;
        snprintf(rest, sizeof rest, "%s", out);
        if (snprintf(out, PATH_BYTES, "%s%s%s", *n->name ? n->name : "0", *rest ? "." : "", rest) >=
            PATH_BYTES)
            return false;
    }
    return true;
}

static bool contains(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), bytes = strlen(end);
    return length >= bytes && !strcasecmp(text + length - bytes, end);
}

/* Return how well a node fits a field; 0: not at all. `path` is relative to its root. */
typedef int fit_fn(const struct node *n, const char *path);

static int fit_item_id(const struct node *n, const char *path)
{
    bool id = n->texts || n->wholes || n->element_scalars;
    (void)path;
    if (!id || n->maps || n->element_maps)
        return 0;
    return !strcmp(n->name, "id") || !strcmp(n->name, "ids")                                    ? 4
           : ends_with(n->name, "id") || ends_with(n->name, "ids") || ends_with(n->name, "sku") ? 2
                                                                                                : 0;
}

/* Of columns: the ids of all items in an array. */
static int fit_item_ids(const struct node *n, const char *path)
{
    int fits = n->arrays ? fit_item_id(n, path) : 0;
    return fits ? fits : n->arrays && n->element_scalars && !n->element_numbers;
}

static int fit_score(const struct node *n, const char *path)
{
    if (!is_number(n) && !is_numbers(n))
        return 0;
    return !strcmp(n->name, "score") || !strcmp(n->name, "scores") ? 4
           : contains(n->name, "score") || contains(n->name, "relevance")
               ? 3
               : contains(path, "score") || contains(path, "rank");
}

static int fit_time(const struct node *n, const char *path)
{
    static const double LEAST = 1e8; /* seconds */
    bool time = (n->texts && n->iso && !n->numbers) || (n->numbers && !n->texts && n->most > LEAST);
    (void)path;
    if (!time || !is_scalar(n))
        return 0;
    return !strcmp(n->name, "time_ms") ? 5
           : contains(n->name, "time") ? 3
           : contains(n->name, "date") || contains(n->name, "ts") || ends_with(n->name, "at")
               ? 2
               : n->texts > 0;
}

static int fit_query(const struct node *n, const char *path)
{
    bool many = n->distinct > 1 || n->seen == 1;
    (void)path;
    if (!is_scalar(n) || (n->numbers && !n->wholes) || !many)
        return 0;
    bool id = ends_with(n->name, "id");
    if (!strcmp(n->name, "query"))
        return 5;
    if (id && contains(n->name, "q"))
        return 4;
    if (id && contains(n->name, "search"))
        return 3;
    if (id && strcasecmp(n->name, "id") != 0)
        return 2;
    return id || contains(n->name, "req") || contains(n->name, "trace");
}

/* Return the best node for a field below `from`, or -1; shallow ones first. */
static int best(const struct ek_draft *d, int from, fit_fn *fit)
{
    char path[PATH_BYTES];
    int most = 0, found = -1;
    for (int i = 0; i < (int)d->count; i++) {
        bool feature = d->values >= 0 && d->nodes[i].parent == d->values;
        int fits =
            i != from && !feature && write_path(d, i, from, path) ? fit(&d->nodes[i], path) : 0;
        if (fits > most) {
            most = fits;
            found = i;
        }
    }
    return found;
}

/* Return the path of a node, or NULL for -1 and for the default name. */
static const char *keep(struct ek_draft *d, int at, int from, const char *usual)
{
    if (at < 0 || d->fields == FIELDS)
        return NULL;
    char *path = d->path[d->fields];
    if (!write_path(d, at, from, path) || !strcmp(path, usual))
        return NULL;
    d->fields++;
    return path;
}

static int add_named(struct ek_named_path **paths, size_t *count, size_t *capacity,
                     const char *name, const char *path)
{
    struct ek_named_path *items = ek_grow(*paths, *count, capacity, sizeof *items);
    if (!items)
        return EK_ENOMEM;
    *paths = items;
    char *own = ek_strdup(name), *own_path = ek_strdup(path);
    if (!own || !own_path) {
        ek_free(own);
        ek_free(own_path);
        return EK_ENOMEM;
    }
    items[(*count)++] = (struct ek_named_path){own, own_path};
    return EK_OK;
}

/* Return the array of the items: the outermost one with the most maps, or -1. */
static int find_items(struct ek_draft *d)
{
    char path[PATH_BYTES];
    int found = -1;
    d->items = d->values = -1;
    for (int i = 1; i < (int)d->count; i++) {
        const struct node *n = &d->nodes[i];
        if (n->element_maps && !is_pairs(d, i) && write_path(d, i, 0, path) &&
            (found < 0 || n->element_maps > d->nodes[found].element_maps))
            found = i;
    }
    return found;
}

/* Return whether a field of an item is for another use. */
static bool is_taken(const struct ek_draft *d, int at, const int taken[2])
{
    const char *name = d->nodes[at].name;
    return at == taken[0] || at == taken[1] || !strcmp(name, "label") || !strcmp(name, "labels") ||
           !strcmp(name, "source") || !strcmp(name, "sources");
}

/* Number of numeric children of a node, without the fields of the item. */
static int count_numbers(const struct ek_draft *d, int at, const int taken[2], bool columns)
{
    int count = 0;
    for (int i = d->nodes[at].child; i >= 0; i = d->nodes[i].next)
        count += !is_taken(d, i, taken) &&
                 (columns ? is_numbers(&d->nodes[i]) : is_number(&d->nodes[i]));
    return count;
}

/* Name each number below `from` by the last part of its path, or by the path if that is taken. */
static int name_features(struct ek_draft *d, int from, const int taken[2], bool columns)
{
    char path[PATH_BYTES];
    for (int i = 0; i < (int)d->count; i++) {
        const struct node *n = &d->nodes[i];
        if (i == from || is_taken(d, i, taken) || !(columns ? is_numbers(n) : is_number(n)) ||
            !write_path(d, i, from, path))
            continue;
        bool again = !*n->name;
        for (size_t k = 0; k < d->feature_count; k++)
            again = again || !strcmp(d->features[k].name, n->name);
        if (add_named(&d->features, &d->feature_count, &d->feature_capacity, again ? path : n->name,
                      path))
            return EK_ENOMEM;
    }
    return EK_OK;
}

/* Return the node below `from` with the features in one place, or -1: pairs, an array of numbers,
 * or the map with the most numbers. *numbers: how many. */
static int find_features(const struct ek_draft *d, int from, const int taken[2], bool columns,
                         int *numbers)
{
    char path[PATH_BYTES];
    int found = -1;
    *numbers = 0;
    for (int i = 0; i < (int)d->count; i++) {
        const struct node *n = &d->nodes[i];
        if (i == from || !write_path(d, i, from, path))
            continue;
        int count = count_numbers(d, i, taken, columns);
        if (!columns && (is_pairs(d, i) || n->bins || is_numbers(n)))
            count = is_pairs(d, i) ? ALL : n->longest > 1 ? (int)n->longest : (int)n->bins;
        if (count && !strcmp(path, "features"))
            count = ALL;
        if (count > *numbers) {
            *numbers = count;
            found = i;
        }
    }
    return found;
}

/* Set the fields of items below `from`. */
static int draft_item(struct ek_draft *d, int from, struct ek_mapping *m)
{
    bool columns = m->layout == EK_LAYOUT_COLUMNS;
    int taken[2] = {-1, -1}, within;
    d->values = find_features(d, from, taken, columns, &within);
    taken[0] = best(d, from, columns ? fit_item_ids : fit_item_id);
    taken[1] = best(d, from, fit_score);
    int own = count_numbers(d, from, taken, columns);
    int features = find_features(d, from, taken, columns, &within);
    m->item_id = keep(d, taken[0], from, columns ? "ids" : "id");
    m->score = keep(d, taken[1], from, columns ? "scores" : "score");
    if (features >= 0 && within >= own * MUCH)
        m->features = keep(d, features, from, "features");
    else if (!columns && !within && own)
        m->features = "*";
    else if (own + within > 0 && name_features(d, from, taken, columns))
        return EK_ENOMEM;
    m->feature_paths = (struct ek_named_paths){d->features, d->feature_count};
    return EK_OK;
}

/* Return whether a field may be a segment dimension. */
static bool is_segment(const struct ek_draft *d, const struct node *n)
{
    bool few = n->distinct <= FEW && (n->distinct > 1 || d->messages < SAMPLE);
    return n->texts && !n->iso && !n->numbers && is_scalar(n) && few &&
           (d->messages < SAMPLE || (uint64_t)n->distinct * 4 <= n->seen);
}

static bool has_segment(const struct ek_draft *d, const char *name)
{
    for (size_t i = 0; i < d->segment_count; i++)
        if (!strcmp(d->segments[i].name, name))
            return true;
    return false;
}

/* Return the map that has all segments, and nothing but text, or -1. */
static int find_segments(const struct ek_draft *d)
{
    int parent = -1;
    for (size_t i = 0; i < d->segment_count; i++) {
        int at = d->segment_node[i];
        if (i && d->nodes[at].parent != parent)
            return -1;
        parent = d->nodes[at].parent;
    }
    for (int i = parent < 0 ? -1 : d->nodes[parent].child; i >= 0; i = d->nodes[i].next)
        if (!d->nodes[i].texts || !is_scalar(&d->nodes[i]) || d->nodes[i].iso)
            return -1;
    return parent;
}

static int draft_segments(struct ek_draft *d, int query, int time, struct ek_mapping *m)
{
    char path[PATH_BYTES];
    int usual = child_named(d, 0, "segments"), rc = EK_OK;
    if (usual >= 0 && d->nodes[usual].maps)
        return EK_OK;
    for (int i = 1; i < (int)d->count && !rc && d->segment_count < EK_SEGMENTS_MAX; i++)
        if (i != query && i != time && is_segment(d, &d->nodes[i]) && write_path(d, i, 0, path) &&
            !has_segment(d, d->nodes[i].name)) {
            d->segment_node[d->segment_count] = i;
            rc = add_named(&d->segments, &d->segment_count, &d->segment_capacity, d->nodes[i].name,
                           path);
        }
    int map = rc ? -1 : find_segments(d);
    if (map > 0) {
        m->segments = keep(d, map, 0, "segments");
        return EK_OK;
    }
    m->segment_paths = (struct ek_named_paths){d->segments, d->segment_count};
    return rc;
}

/* Return the map at the top of the message with numbers only, and no other field, or -1. */
static int find_query_features(const struct ek_draft *d, int query, int time)
{
    for (int i = d->nodes[0].child; i >= 0; i = d->nodes[i].next) {
        int numbers = 0, others = 0;
        for (int k = d->nodes[i].child; k >= 0; k = d->nodes[k].next) {
            bool number = is_number(&d->nodes[k]) && k != query && k != time;
            numbers += number;
            others += !number;
        }
        if (d->nodes[i].maps && numbers && !others)
            return i;
    }
    return -1;
}

int ek_draft_mapping(struct ek_draft *d, struct ek_mapping *out, struct ek_error *e)
{
    struct ek_mapping m = {.layout = EK_LAYOUT_LIST};
    d->fields = 0;
    clear_paths(d->segments, &d->segment_count);
    clear_paths(d->features, &d->feature_count);
    *out = m;
    if (!d->count)
        return EK_OK;
    int items = find_items(d), usual = child_named(d, 0, "item"), from = 0;
    m.items = keep(d, items, 0, "items");
    d->items = items;
    int query = best(d, 0, fit_query), time = best(d, 0, fit_time);
    int values = find_query_features(d, query, time);
    if (items >= 0) {
        from = child_named(d, items, "");
    } else if (usual >= 0 && d->nodes[usual].maps) {
        m.layout = EK_LAYOUT_ITEM;
        from = usual;
    } else {
        m.layout = EK_LAYOUT_COLUMNS;
    }
    m.query = keep(d, query, 0, "query");
    if (query < 0 && child_named(d, 0, "query") >= 0)
        m.query = "query_id"; /* `query` holds others */
    m.time_ms = keep(d, time, 0, "time_ms");
    if (child_named(d, 0, "query_features") < 0 && values != usual)
        m.query_features = keep(d, values, 0, "query_features");
    int rc = draft_segments(d, query, time, &m);
    if (!rc && from >= 0)
        rc = draft_item(d, from, &m);
    *out = m;
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static void print_path(const char *prefix, const char *key, const char *path, struct ek_buf *out)
{
    if (!path)
        return;
    ek_buf_printf(out, "%s  %s: ", prefix, key);
    ek_buf_json(out, path, strlen(path));
    ek_buf_text(out, "\n");
}

static void print_named(const char *prefix, const char *key, const struct ek_named_paths *paths,
                        struct ek_buf *out)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (!i)
            ek_buf_printf(out, "%s  %s:\n", prefix, key);
        ek_buf_printf(out, "%s    ", prefix);
        ek_buf_json(out, paths->items[i].name, strlen(paths->items[i].name));
        ek_buf_text(out, ": ");
        ek_buf_json(out, paths->items[i].path, strlen(paths->items[i].path));
        ek_buf_text(out, "\n");
    }
}

int ek_draft_print(const struct ek_mapping *m, const char *prefix, struct ek_buf *out,
                   struct ek_error *e)
{
    static const char *const layouts[] = {"list", "item", "columns"};
    ek_buf_printf(out, "%smessage:\n%s  layout: %s\n", prefix, prefix, layouts[m->layout]);
    print_path(prefix, "query", m->query, out);
    print_path(prefix, "time_ms", m->time_ms, out);
    print_path(prefix, "segments", m->segments, out);
    print_named(prefix, "segments", &m->segment_paths, out);
    print_path(prefix, "query_features", m->query_features, out);
    print_path(prefix, "items", m->items, out);
    print_path(prefix, "item_id", m->item_id, out);
    print_path(prefix, "score", m->score, out);
    print_path(prefix, "features", m->features, out);
    print_named(prefix, "features", &m->feature_paths, out);
    return out->rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}
