#include "lists/codec_shape.h"

#include "base/alloc.h"
#include "lists/schema_message.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"
#include "schema/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FEW = 12, LINE_NAME_BYTES = EK_NAME_BYTES_MAX + 2, KEYS_BYTES = 160, WHERE_BYTES = 240 };
enum { POSITION_LENGTH = 20 }; /* maximum of the name of a position, such as query_17 */

struct seen {
    char name[LINE_NAME_BYTES];
    enum ek_role role;
    uint64_t numbers, missing, others; /* others: strings, ..., which no manifest allows */
    bool named;                        /* named by the messages, which may have fields that are no
                                        * features */
    double low, high;
    double few[FEW]; /* distinct values, as long as they are few */
    int distinct;    /* FEW + 1: more */
    bool whole;
};

/* Purpose of a field: the first ones start at the message, the others at an item. */
enum kind { ITEMS, ITEM, QUERY_FEATURES, QUERY_FEATURE, COLUMNS, COLUMN, FEATURES, FEATURE };
enum { PATH_BYTES = 1024 };

struct path {
    const char *path;
    enum kind what;
    const char *name; /* of one feature */
};

struct paths {
    struct path *items;
    size_t count, capacity;
};

/* Field names of the first map, for errors about the mapping. */
struct keys {
    bool done;
    char text[KEYS_BYTES];
};

struct ek_shape {
    struct seen *seen;
    size_t count, capacity;
    struct ek_json *json;
    const struct ek_mapping *mapping;
    struct paths top, item;
    bool all; /* each field of an item is a feature */
    struct ek_schema_message *converted;
    enum ek_message_encoding encoding;
    struct keys of_message, of_item;
};

static int add_path(struct paths *paths, const char *path, const char *usual, enum kind what,
                    const char *name)
{
    struct path *items = ek_grow(paths->items, paths->count, &paths->capacity, sizeof *items);
    if (!items)
        return EK_ENOMEM;
    paths->items = items;
    items[paths->count++] = (struct path){path ? path : usual, what, name};
    return EK_OK;
}

/* Add the path of all features, or one of each. */
static int add_features(struct paths *paths, const struct ek_named_paths *named, const char *path,
                        const char *usual, enum kind what)
{
    int rc = named->count ? EK_OK : add_path(paths, path, usual, what, NULL);
    for (size_t i = 0; !rc && i < named->count; i++)
        rc = add_path(paths, named->items[i].path, NULL, (enum kind)(what + 1),
                      named->items[i].name);
    return rc;
}

static int add_paths(struct ek_shape *s)
{
    const struct ek_mapping *m = s->mapping;
    bool columns = m->layout == EK_LAYOUT_COLUMNS;
    s->all = !columns && m->features && !strcmp(m->features, "*");
    int rc = add_features(&s->top, &m->query_feature_paths, m->query_features, "query_features",
                          QUERY_FEATURES);
    if (columns)
        return rc ? rc : add_features(&s->top, &m->feature_paths, m->features, "features", COLUMNS);
    if (!rc)
        rc = add_path(&s->top, m->items, "items", ITEMS, NULL);
    if (!rc)
        rc = add_path(&s->top, m->item, "item", ITEM, NULL);
    return rc ? rc : add_features(&s->item, &m->feature_paths, m->features, "features", FEATURES);
}

int ek_shape_new(struct ek_shape **out, const struct ek_mapping *mapping, struct ek_error *e)
{
    static const struct ek_mapping usual = {0};
    struct ek_shape *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->mapping = mapping ? mapping : &usual;
    s->encoding = s->mapping->encoding;
    if (add_paths(s)) {
        ek_shape_free(s);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *out = s;
    return EK_OK;
}

void ek_shape_free(struct ek_shape *s)
{
    if (!s)
        return;
    ek_json_free(s->json);
    ek_schema_message_free(s->converted);
    ek_free(s->seen);
    ek_free(s->top.items);
    ek_free(s->item.items);
    ek_free(s);
}

static int add(struct ek_shape *s, const char *name, enum ek_role role, struct seen **out)
{
    if (s->count == EK_FEATURES_MAX)
        return EK_ELIMIT;
    struct seen *more = ek_grow(s->seen, s->count, &s->capacity, sizeof *more);
    if (!more)
        return EK_ENOMEM;
    s->seen = more;
    *out = &s->seen[s->count++];
    **out = (struct seen){.role = role, .low = INFINITY, .high = -INFINITY, .whole = true};
    snprintf((*out)->name, LINE_NAME_BYTES, "%s", name);
    return EK_OK;
}

/* Find or add a feature; `at` is its likely index. */
static int find(struct ek_shape *s, const char *name, enum ek_role role, size_t *at,
                struct seen **out)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t j = (*at + i) % s->count;
        if (s->seen[j].role != role || strcmp(s->seen[j].name, name) != 0)
            continue;
        *at = j + 1;
        *out = &s->seen[j];
        return EK_OK;
    }
    *at = s->count + 1;
    return add(s, name, role, out);
}

static void count_value(struct seen *f, double x)
{
    int i = 0;
    if (isnan(x)) {
        f->missing++;
        return;
    }
    f->numbers++;
    f->low = fmin(f->low, x);
    f->high = fmax(f->high, x);
    f->whole = f->whole && x == floor(x);
    while (i < f->distinct && i < FEW && f->few[i] != x)
        i++;
    if (i < f->distinct || f->distinct > FEW)
        return;
    if (f->distinct < FEW)
        f->few[f->distinct] = x;
    f->distinct++;
}

static int bad(void)
{
    return EK_EFORMAT;
}

static int skip(struct ek_wire *w)
{
    return ek_wire_skip(w, EK_WIRE_DEPTH_MAX) == EK_WIRE_OK ? EK_OK : bad();
}

static int head_of(struct ek_wire *w, enum ek_wire_kind kind, struct ek_head *h)
{
    return ek_wire_head(w, h) == EK_WIRE_OK && h->kind == kind ? EK_OK : bad();
}

/* Read a key. A key longer than a name is truncated but stays too long. */
static int key(struct ek_wire *w, char name[LINE_NAME_BYTES])
{
    struct ek_head h;
    int rc = head_of(w, EK_WIRE_TEXT, &h);
    if (rc)
        return rc;
    snprintf(name, LINE_NAME_BYTES, "%.*s",
             (int)(h.count < LINE_NAME_BYTES ? h.count : LINE_NAME_BYTES), (const char *)w->p);
    w->p += h.count;
    return EK_OK;
}

/* Read a number or boolean, or nil as missing; set *other for another type. */
static int value(const struct ek_shape *s, struct ek_wire *w, double *x, bool *other)
{
    struct ek_wire before = *w;
    struct ek_head h;
    *x = NAN;
    *other = false;
    if (ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    if (ek_head_is_number(&h) || h.kind == EK_WIRE_BOOL) {
        *x = h.kind == EK_WIRE_BOOL ? (double)h.bits : ek_head_number(&h);
        return EK_OK;
    }
    bool number = h.kind == EK_WIRE_TEXT && s->mapping->numeric_strings &&
                  ek_text_number((struct ek_text){(const char *)w->p, h.count}, x);
    *other = h.kind != EK_WIRE_NIL && !number;
    *w = before;
    return skip(w);
}

static void number_name(char name[LINE_NAME_BYTES], enum ek_role role, uint32_t i)
{
    snprintf(name, LINE_NAME_BYTES, "%s_%" PRIu32, role == EK_ROLE_ITEM ? "item" : "query", i + 1);
}

static float little_float(const uint8_t *p)
{
    return ek_float_from_bits((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                              (uint32_t)p[3] << 24);
}

/* Count the next value of a feature. A name with another value that is no feature yet is left out
 * silently if `strict` is false. */
static int count_next(struct ek_shape *s, struct ek_wire *w, const char *name, enum ek_role role,
                      size_t *at, bool strict)
{
    struct seen *f = NULL;
    bool other;
    double x;
    int rc = value(s, w, &x, &other);
    if (rc || (other && !strict))
        return rc;
    rc = find(s, name, role, at, &f);
    if (rc)
        return rc;
    f->named = true;
    f->others += other;
    if (!other)
        count_value(f, x);
    return EK_OK;
}

/* Count the numbers of a column. */
static int column(struct ek_shape *s, struct ek_wire *w, const char *name, size_t *at)
{
    struct ek_wire before = *w;
    struct ek_head h;
    int rc = EK_OK;
    if (ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    if (h.kind != EK_WIRE_ARRAY) {
        *w = before;
        return skip(w);
    }
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        size_t same = *at;
        rc = count_next(s, w, name, EK_ROLE_ITEM, &same, true);
        *at = i + 1 == h.count ? same : *at;
    }
    return rc;
}

/* Read a map of names to numbers, or to columns. */
static int values_of_map(struct ek_shape *s, struct ek_wire *w, enum ek_role role, uint32_t count,
                         bool columns)
{
    char name[LINE_NAME_BYTES];
    size_t at = 0;
    int rc = EK_OK;
    for (uint32_t i = 0; i < count && !rc; i++) {
        rc = key(w, name);
        if (!rc)
            rc = columns ? column(s, w, name, &at) : count_next(s, w, name, role, &at, true);
    }
    return rc;
}

/* Read an array of {name, value}. */
static int pairs(struct ek_shape *s, struct ek_wire *w, enum ek_role role, uint32_t count)
{
    size_t at = 0;
    int rc = EK_OK;
    for (uint32_t i = 0; i < count && !rc; i++) {
        char name[LINE_NAME_BYTES];
        struct ek_pair pair;
        struct ek_head h;
        if (head_of(w, EK_WIRE_MAP, &h) ||
            ek_pair_read(w, h.count, EK_WIRE_DEPTH_MAX, &pair) != EK_WIRE_OK || !pair.name.text)
            return bad();
        struct ek_wire one = {w->start, pair.value, w->p};
        snprintf(name, sizeof name, "%.*s",
                 (int)(pair.name.length < sizeof name ? pair.name.length : sizeof name),
                 pair.name.text);
        if (pair.value)
            rc = count_next(s, &one, name, role, &at, true);
    }
    return rc;
}

/* Read values without names: an array, or floats. */
static int unnamed(struct ek_shape *s, struct ek_wire *w, enum ek_role role,
                   const struct ek_head *h)
{
    uint32_t count = h->kind == EK_WIRE_BIN ? h->count / 4 : h->count;
    const uint8_t *floats = w->p;
    char name[LINE_NAME_BYTES];
    size_t at = 0;
    int rc = EK_OK;
    for (uint32_t i = 0; i < count && !rc; i++) {
        struct seen *f = NULL;
        bool other = false;
        double x = 0;
        number_name(name, role, i);
        if (h->kind == EK_WIRE_BIN)
            x = (double)little_float(floats + 4 * (size_t)i);
        else
            rc = value(s, w, &x, &other);
        rc = rc ? rc : find(s, name, role, &at, &f);
        if (rc)
            return rc;
        f->others += other;
        if (!other)
            count_value(f, x);
    }
    w->p += h->kind == EK_WIRE_BIN ? h->count : 0;
    return rc;
}

/* Read the values of an item or list in any of their forms. */
static int values(struct ek_shape *s, struct ek_wire *w, enum ek_role role, bool columns)
{
    struct ek_head h;
    if (ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    if (h.kind == EK_WIRE_MAP)
        return values_of_map(s, w, role, h.count, columns);
    if (columns || (h.kind != EK_WIRE_ARRAY && h.kind != EK_WIRE_BIN))
        return bad();
    return h.kind == EK_WIRE_ARRAY && h.count && ek_wire_at_map(w) ? pairs(s, w, role, h.count)
                                                                   : unnamed(s, w, role, &h);
}

/* Append a key of the first map; a key that does not fit ends the line. */
static void note_key(struct keys *k, const char *name)
{
    size_t length = strlen(k->text), left = KEYS_BYTES - length;
    const char *comma = length ? ", " : "";
    if (strlen(name) + sizeof ", , ..." <= left) {
        snprintf(k->text + length, left, "%s%s", comma, name);
    } else {
        snprintf(k->text + length, left, "%s...", comma);
        k->done = true;
    }
}

/* Position within a message or an item, and the paths to find there. */
struct place {
    const struct paths *paths;
    struct keys *keys; /* of the first map, or NULL */
    char at[PATH_BYTES];
};

static int walk(struct ek_shape *s, struct ek_wire *w, struct place *p, size_t length);

/* Return whether the field holds another part of the item than a feature. */
static bool is_other_field(const struct ek_mapping *m, const char *name)
{
    return !strcmp(name, m->item_id ? m->item_id : "id") ||
           !strcmp(name, m->score ? m->score : "score") ||
           !strcmp(name, m->label ? m->label : "label") ||
           !strcmp(name, m->source ? m->source : "source");
}

/* Read each number of an item as a feature. */
static int all_fields(struct ek_shape *s, struct ek_wire *w)
{
    char name[LINE_NAME_BYTES];
    struct ek_head h;
    size_t at = 0;
    int rc = head_of(w, EK_WIRE_MAP, &h);
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        rc = key(w, name);
        if (!rc && !s->of_item.done)
            note_key(&s->of_item, name);
        if (!rc)
            rc = is_other_field(s->mapping, name)
                     ? skip(w)
                     : count_next(s, w, name, EK_ROLE_ITEM, &at, false);
    }
    return rc;
}

static int item(struct ek_shape *s, struct ek_wire *w)
{
    struct place p = {.paths = &s->item, .keys = s->of_item.done ? NULL : &s->of_item};
    int rc = s->all ? all_fields(s, w) : walk(s, w, &p, 0);
    s->of_item.done = true;
    return rc;
}

/* Handle the value at the end of a path. */
static int met(struct ek_shape *s, struct ek_wire *w, const struct path *path)
{
    enum ek_role role = path->what < COLUMNS ? EK_ROLE_QUERY : EK_ROLE_ITEM;
    struct ek_head items;
    size_t at = 0;
    int rc;
    switch (path->what) {
    case ITEM:
        return item(s, w);
    case QUERY_FEATURE:
    case FEATURE:
        return count_next(s, w, path->name, role, &at, true);
    case COLUMN:
        return column(s, w, path->name, &at);
    case QUERY_FEATURES:
    case FEATURES:
    case COLUMNS:
        return values(s, w, role, path->what == COLUMNS);
    default:
        rc = head_of(w, EK_WIRE_ARRAY, &items);
        for (uint32_t i = 0; i < items.count && !rc; i++)
            rc = item(s, w);
        return rc;
    }
}

/* Handle the value at p->at [length] by the path that ends or continues there. */
static int step(struct ek_shape *s, struct ek_wire *w, struct place *p, size_t length)
{
    struct ek_wire before = *w;
    bool continues = false;
    struct ek_head h;
    for (size_t i = 0; i < p->paths->count; i++) {
        const struct path *path = &p->paths->items[i];
        if (strncmp(path->path, p->at, length) != 0)
            continue;
        if (!path->path[length])
            return met(s, w, path);
        continues = continues || path->path[length] == '.';
    }
    if (continues && ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    *w = before;
    return continues && (h.kind == EK_WIRE_MAP || h.kind == EK_WIRE_ARRAY) ? walk(s, w, p, length)
                                                                           : skip(w);
}

/* Read a map, or an array within a path, and match its keys against the paths. Recursion is bounded
 * by the longest path. */
static int walk(struct ek_shape *s, struct ek_wire *w, struct place *p, size_t length)
{
    char name[LINE_NAME_BYTES];
    struct ek_head h;
    if (ek_wire_head(w, &h) != EK_WIRE_OK ||
        (h.kind != EK_WIRE_MAP && (h.kind != EK_WIRE_ARRAY || !length)))
        return bad();
    int rc = EK_OK;
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        if (h.kind == EK_WIRE_ARRAY)
            snprintf(name, sizeof name, "%" PRIu32, i);
        else
            rc = key(w, name);
        if (!rc && !length && p->keys && !p->keys->done)
            note_key(p->keys, name);
        size_t room = sizeof p->at - length;
        int more = snprintf(p->at + length, room, "%s%s", length ? "." : "", name);
        if (!rc)
            rc = (size_t)more < room ? step(s, w, p, length + (size_t)more) : skip(w);
    }
    return rc;
}

static int message(struct ek_shape *s, struct ek_wire *w)
{
    struct place p = {.paths = &s->top, .keys = s->of_message.done ? NULL : &s->of_message};
    int rc = walk(s, w, &p, 0);
    s->of_message.done = true;
    return rc;
}

static int check_encoding(const struct ek_shape *s, const void *bytes, size_t length,
                          struct ek_error *e)
{
    const char *wrong = ek_codec_other_encoding(s->encoding, bytes, length);
    if (!wrong)
        return EK_OK;
    ek_fail(e, EK_EFORMAT, "message: %s", wrong);
    if (e)
        e->flags |= EK_ERR_ENCODING;
    return EK_EFORMAT;
}

/* Write where the items should be: "'items' (or 'item')". */
static const char *where_items(const struct ek_shape *s, char text[WHERE_BYTES])
{
    const struct ek_mapping *m = s->mapping;
    if (m->layout == EK_LAYOUT_COLUMNS)
        snprintf(text, WHERE_BYTES, "map");
    else
        snprintf(text, WHERE_BYTES, "'%.100s' (or '%.100s')", m->items ? m->items : "items",
                 m->item ? m->item : "item");
    return text;
}

static const char *where_features(const struct ek_shape *s, char text[WHERE_BYTES])
{
    const struct ek_mapping *m = s->mapping;
    const char *path = m->feature_paths.count ? m->feature_paths.items[0].path
                       : m->features          ? m->features
                                              : "features";
    snprintf(text, WHERE_BYTES, "'%.100s'", path);
    return text;
}

static int open_converted(struct ek_shape *s, const uint8_t **start, size_t *length,
                          struct ek_error *e)
{
    int rc =
        ek_schema_open(&s->converted, s->mapping->schemas, *start, *length, EK_WIRE_DEPTH_MAX, e);
    if (!rc)
        *start = ek_schema_wire(s->converted, length);
    return rc;
}

int ek_shape_add(struct ek_shape *s, const void *bytes, size_t length, struct ek_error *e)
{
    char items[WHERE_BYTES], features[WHERE_BYTES];
    struct ek_json_fault fault;
    const uint8_t *start = bytes;
    int rc = check_encoding(s, bytes, length, e);
    if (!rc && ek_encoding_has_schemas(s->encoding))
        rc = open_converted(s, &start, &length, e);
    if (rc)
        return rc;
    if (!ek_encoding_has_schemas(s->encoding) && ek_codec_has_json(bytes, length)) {
        rc = ek_json_read(&s->json, bytes, length, EK_JSON_DEPTH_MAX, &fault);
        if (!rc)
            start = ek_json_wire(s->json, &length);
    }
    struct ek_wire w = {start, start, start + length};
    rc = rc ? rc : message(s, &w);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    if (rc == EK_ELIMIT)
        return ek_fail(e, rc, "the messages have more than %d features", EK_FEATURES_MAX);
    return rc ? ek_fail(e, EK_EFORMAT, "a message has no %s with %s that can be read",
                        where_items(s, items), where_features(s, features))
              : EK_OK;
}

static bool is_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *name && strchr(letters, *name) && !name[strspn(name, others)];
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Return the last word of a name such as price_eur, priceEur or priceEUR; the whole name if it has
 * one word. */
static const char *last_word(const char *name)
{
    const char *at = name + strlen(name);
    bool capitals = at > name && is_capital(at[-1]);
    while (at > name && at[-1] != '_' && is_capital(at[-1]) == capitals)
        at--;
    return at > name && is_capital(at[-1]) && !capitals ? at - 1 : at;
}

/* Return the entry of a NULL-terminated list that equals the word in any case, or NULL. */
static const char *find_word(const char *word, const char *const *words)
{
    while (*words && strcasecmp(*words, word) != 0)
        words++;
    return *words;
}

/* Return the unit that the name ends with, a word of rules/units.yaml, or NULL. */
static const char *unit_of_name(const char *name)
{
    static const char *const alone[] = {"days", "nights", NULL};
    static const char *const units[] = {
        "eur", "usd", "gbp",     "chf",     "cad",   "aud",      "sek", "nok", "dkk",
        "pln", "czk", "brl",     "mxn",     "inr",   "cny",      "kg",  "g",   "lb",
        "oz",  "km",  "m",       "mi",      "ft",    "cm",       "mm",  "ms",  "s",
        "sec", "min", "minutes", "hours",   "days",  "nights",   "pct", "kb",  "mb",
        "gb",  "kmh", "mph",     "percent", "bytes", "permille", NULL};
    const char *word = last_word(name);
    return find_word(word, word > name ? units : alone);
}

/* Identifiers have no scale that could change. */
static bool is_identifier(const struct seen *f)
{
    static const char *const words[] = {"id", "ids", "uid", "code", "key", "zip", "hash", NULL};
    return f->whole && find_word(last_word(f->name), words);
}

static bool has_few_values(const struct seen *f)
{
    return f->distinct <= FEW && f->whole;
}

/* Few values with a unit are an amount, such as days, and no flag. */
static bool is_flag(const struct seen *f)
{
    return has_few_values(f) && !unit_of_name(f->name);
}

/* Append why the feature is not routable, or its value range. */
static int add_comment(const struct seen *f, struct ek_buf *out)
{
    bool item = f->role == EK_ROLE_ITEM;
    if (!f->numbers)
        return ek_buf_text(out, " # no number came\n");
    return ek_buf_printf(out, " # %s%.4g to %.4g%s%s\n",
                         item && is_identifier(f) ? "an id? "
                         : item && is_flag(f)     ? "a flag or a code? "
                                                  : "",
                         f->low, f->high, has_few_values(f) ? ", whole, few values" : "",
                         f->missing ? ", missing in some" : "");
}

static int add_name(const char *name, struct ek_buf *out)
{
    return is_plain(name) ? ek_buf_text(out, name) : ek_buf_json(out, name, strlen(name));
}

static bool items_have(const struct ek_shape *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->seen[i].role == EK_ROLE_ITEM && !strcmp(s->seen[i].name, name))
            return true;
    return false;
}

/* Return why a named field is left out, or NULL for a feature. */
static const char *why_left_out(const struct ek_shape *s, const struct seen *f)
{
    if (!f->named)
        return NULL;
    if (f->others)
        return f->numbers ? "which at times is no number" : "which is no number";
    if (!ek_manifest_name_fits(f->name))
        return "for no feature may be called so: not with spaces, commas, equals or control signs, "
               "nor empty or longer than 200 bytes";
    if (!ek_utf8_is_valid(f->name, strlen(f->name))) /* of MessagePack: any bytes */
        return "for its name is not UTF-8, so no manifest can contain it";
    return f->role == EK_ROLE_QUERY && items_have(s, f->name)
               ? "for a feature of the items is called so, too"
               : NULL;
}

static int add_left_out(const struct seen *f, const char *why, struct ek_buf *out)
{
    ek_buf_text(out, "  # left out: ");
    add_name(f->name, out);
    return ek_buf_printf(out, ", %s\n", why);
}

/* Fail because no feature was found; usually the mapping has wrong field names. */
static int no_feature(const struct ek_shape *s, struct ek_error *e)
{
    char items[WHERE_BYTES], features[WHERE_BYTES];
    bool columns = s->mapping->layout == EK_LAYOUT_COLUMNS;
    for (size_t i = 0; i < s->count; i++)
        if (s->seen[i].role == EK_ROLE_ITEM)
            return ek_fail(
                e, EK_EFORMAT,
                "no feature of the items is a number, by a name that a feature may have");
    if (s->of_item.done || columns)
        ek_fail(e, EK_EFORMAT, "no %s has %s with a feature in it; the first one has: %s",
                columns ? "message" : "item", where_features(s, features),
                columns ? s->of_message.text : s->of_item.text);
    else
        ek_fail(e, EK_EFORMAT, "no message has %s with an item in it; the first one has: %s",
                where_items(s, items), s->of_message.text);
    if (e)
        e->flags |= EK_ERR_FIELD;
    return EK_EFORMAT;
}

static bool is_taken(const struct ek_shape *s, const struct seen *f, const char *name)
{
    size_t i = 0;
    while (i < s->count && (&s->seen[i] == f || strcmp(s->seen[i].name, name) != 0))
        i++;
    return i < s->count;
}

/* Write the name of the feature. That of a position is changed if a feature has it in messages. */
static void choose_name(const struct ek_shape *s, const struct seen *f, char name[LINE_NAME_BYTES])
{
    memcpy(name, f->name, LINE_NAME_BYTES);
    for (int i = 2; !f->named && is_taken(s, f, name); i++)
        snprintf(name, LINE_NAME_BYTES, "%.*s_%d", POSITION_LENGTH, f->name, i);
}

/* Return the unit of the name, or that of values from 0 to 1, or NULL. */
static const char *unit_of(const struct seen *f)
{
    bool fraction = f->low >= 0 && f->high <= 1 && !f->whole;
    const char *named = f->numbers ? unit_of_name(f->name) : NULL;
    return named ? named : f->numbers && fraction ? "fraction" : NULL;
}

static int add_feature(const struct ek_shape *s, const struct seen *f, int index,
                       struct ek_buf *out)
{
    char name[LINE_NAME_BYTES];
    bool routable = f->role == EK_ROLE_ITEM && f->numbers && !is_flag(f) && !is_identifier(f);
    const char *unit = unit_of(f);
    ek_buf_text(out, "  - {name: ");
    choose_name(s, f, name);
    add_name(name, out);
    ek_buf_printf(out, ", index: %d, role: %s%s%s%s%s%s}", index,
                  f->role == EK_ROLE_ITEM ? "item" : "query", routable ? ", routable: true" : "",
                  f->numbers && f->low > 0 ? ", positive: true" : "", unit ? ", unit: " : "",
                  unit ? unit : "", f->missing ? ", missing: expected" : "");
    return add_comment(f, out);
}

/* Return whether a feature of the items has a number. */
static bool has_numbers(const struct ek_shape *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->seen[i].role == EK_ROLE_ITEM && s->seen[i].numbers && !why_left_out(s, &s->seen[i]))
            return true;
    return false;
}

static int write_features(const struct ek_shape *s, enum ek_role role, int *index,
                          struct ek_buf *out)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct seen *f = &s->seen[i];
        const char *why = f->role == role ? why_left_out(s, f) : NULL;
        if (why)
            add_left_out(f, why, out);
        else if (f->role == role)
            add_feature(s, f, ++*index, out);
    }
    return out->rc;
}

int ek_shape_manifest(const struct ek_shape *s, struct ek_buf *out, struct ek_error *e)
{
    int index = 0;
    size_t before = out->length;
    ek_buf_text(out, "version: 1\n# routable: what may change its scale; go over it, and "
                     "over what is called an id, a flag or a code\nfeatures:\n");
    write_features(s, EK_ROLE_ITEM, &index, out);
    int item_features = has_numbers(s) ? index : 0;
    write_features(s, EK_ROLE_QUERY, &index, out);
    if (out->rc)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (item_features)
        return EK_OK;
    ek_buf_truncate(out, before);
    return no_feature(s, e);
}
