#include "lists/codec_shape.h"

#include "base/alloc.h"
#include "lists/codec.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"
#include "schema/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 12, LINE_NAME_BYTES = EK_NAME_BYTES_MAX + 2, KEYS_BYTES = 160 };

struct seen {
    char name[LINE_NAME_BYTES];
    enum ek_role role;
    uint64_t numbers, missing, others; /* others: strings, booleans, ..., which no manifest
                                        * allows */
    bool named;                        /* named by the messages, which may have fields that are no
                                        * features */
    double low, high;
    double few[FEW]; /* distinct values, as long as they are few */
    int distinct;    /* FEW + 1: more */
    bool whole;
};

/* Purpose of a field. Its path starts at the message, for `features` at an item. */
enum kind { ITEMS, ITEM, QUERY_FEATURES, FEATURES, WHATS };

struct path {
    const char *rest; /* remaining path at this depth */
    enum kind what;
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
    struct path path[WHATS]; /* complete paths */
    enum ek_message_encoding encoding;
    struct keys of_message, of_item;
};

int ek_shape_new(struct ek_shape **out, const struct ek_mapping *mapping, struct ek_error *e)
{
    static const char *const usual[] = {"items", "item", "query_features", "features"};
    struct ek_shape *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    const char *const given[] = {mapping ? mapping->items : NULL, mapping ? mapping->item : NULL,
                                 mapping ? mapping->query_features : NULL,
                                 mapping ? mapping->features : NULL};
    for (int i = 0; i < WHATS; i++)
        s->path[i] = (struct path){given[i] ? given[i] : usual[i], (enum kind)i};
    s->encoding = mapping ? mapping->encoding : EK_MESSAGES_EITHER;
    *out = s;
    return EK_OK;
}

void ek_shape_free(struct ek_shape *s)
{
    if (!s)
        return;
    ek_json_free(s->json);
    ek_free(s->seen);
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

/* Read a number, or nil as missing; set *other for another type. */
static int value(struct ek_wire *w, double *x, bool *other)
{
    struct ek_wire before = *w;
    struct ek_head h;
    *x = NAN;
    *other = false;
    if (ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    if (ek_head_is_number(&h)) {
        *x = ek_head_number(&h);
        return EK_OK;
    }
    *other = h.kind != EK_WIRE_NIL;
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

/* Read the values of an item or list in any of their three forms. */
static int values(struct ek_shape *s, struct ek_wire *w, enum ek_role role)
{
    char name[LINE_NAME_BYTES];
    struct ek_head h;
    size_t at = 0;
    if (ek_wire_head(w, &h) != EK_WIRE_OK ||
        (h.kind != EK_WIRE_MAP && h.kind != EK_WIRE_ARRAY && h.kind != EK_WIRE_BIN))
        return bad();
    uint32_t count = h.kind == EK_WIRE_BIN ? h.count / 4 : h.count;
    const uint8_t *floats = w->p;
    int rc = EK_OK;
    for (uint32_t i = 0; i < count && !rc; i++) {
        struct seen *f = NULL;
        double x = 0;
        bool other = false;
        number_name(name, role, i);
        if (h.kind == EK_WIRE_MAP)
            rc = key(w, name);
        if (!rc && h.kind == EK_WIRE_BIN)
            x = (double)little_float(floats + 4 * (size_t)i);
        else if (!rc)
            rc = value(w, &x, &other);
        rc = rc ? rc : find(s, name, role, &at, &f);
        if (rc)
            return rc;
        f->named = h.kind == EK_WIRE_MAP;
        f->others += other;
        if (!other)
            count_value(f, x);
    }
    w->p += h.kind == EK_WIRE_BIN ? h.count : 0;
    return rc;
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

static int walk(struct ek_shape *s, struct ek_wire *w, const struct path *paths, int count,
                struct keys *keys);

static int item(struct ek_shape *s, struct ek_wire *w)
{
    int rc = walk(s, w, &s->path[FEATURES], 1, s->of_item.done ? NULL : &s->of_item);
    s->of_item.done = true;
    return rc;
}

/* Handle the value at the end of a path. */
static int met(struct ek_shape *s, struct ek_wire *w, enum kind what)
{
    struct ek_head items;
    int rc;
    if (what == QUERY_FEATURES || what == FEATURES)
        return values(s, w, what == FEATURES ? EK_ROLE_ITEM : EK_ROLE_QUERY);
    if (what == ITEM)
        return item(s, w);
    rc = head_of(w, EK_WIRE_ARRAY, &items);
    for (uint32_t i = 0; i < items.count && !rc; i++)
        rc = item(s, w);
    return rc;
}

/* Handle the value of a key by the paths that end or continue there. A map within a path may be
 * nil. */
static int step(struct ek_shape *s, struct ek_wire *w, const char *name, const struct path *paths,
                int count)
{
    struct path below[WHATS];
    struct ek_wire before = *w;
    struct ek_head h;
    int n = 0;
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(paths[i].rest, ".");
        if (strncmp(paths[i].rest, name, length) != 0 || name[length])
            continue;
        if (!paths[i].rest[length])
            return met(s, w, paths[i].what);
        below[n++] = (struct path){paths[i].rest + length + 1, paths[i].what};
    }
    if (n && ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    *w = before;
    return n && h.kind == EK_WIRE_MAP ? walk(s, w, below, n, NULL) : skip(w);
}

/* Read a map and match its keys against the paths. Recursion is bounded by the longest path. */
static int walk(struct ek_shape *s, struct ek_wire *w, const struct path *paths, int count,
                struct keys *keys)
{
    char name[LINE_NAME_BYTES];
    struct ek_head h;
    int rc = head_of(w, EK_WIRE_MAP, &h);
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        rc = key(w, name);
        if (!rc && keys && !keys->done)
            note_key(keys, name);
        if (!rc)
            rc = step(s, w, name, paths, count);
    }
    return rc;
}

static int message(struct ek_shape *s, struct ek_wire *w)
{
    int rc = walk(s, w, s->path, FEATURES, s->of_message.done ? NULL : &s->of_message);
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

int ek_shape_add(struct ek_shape *s, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_json_fault fault;
    const uint8_t *start = bytes;
    int rc = check_encoding(s, bytes, length, e);
    if (rc)
        return rc;
    if (ek_codec_is_json(bytes, length)) {
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
    return rc ? ek_fail(e, EK_EFORMAT, "a message has no '%s' (or '%s') with '%s' that can be read",
                        s->path[ITEMS].rest, s->path[ITEM].rest, s->path[FEATURES].rest)
              : EK_OK;
}

static bool is_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *name && strchr(letters, *name) && !name[strspn(name, others)];
}

/* Return the last word of a name such as price_eur, and the whole name if it has one word. */
static const char *last_word(const char *name)
{
    const char *at = strrchr(name, '_');
    return at ? at + 1 : name;
}

static bool is_word_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* Return the unit that the name ends with, a word of rules/units.yaml, or NULL. */
static const char *unit_of_name(const char *name)
{
    static const char *const units[] = {
        "eur", "usd", "gbp",     "chf",     "cad",   "aud",      "sek", "nok", "dkk",
        "pln", "czk", "brl",     "mxn",     "inr",   "cny",      "kg",  "g",   "lb",
        "oz",  "km",  "m",       "mi",      "ft",    "cm",       "mm",  "ms",  "s",
        "sec", "min", "minutes", "hours",   "days",  "nights",   "pct", "kb",  "mb",
        "gb",  "kmh", "mph",     "percent", "bytes", "permille", NULL};
    const char *word = last_word(name);
    return strcmp(word, name) != 0 && is_word_of(word, units) ? word
           : !strcmp(name, "days") || !strcmp(name, "nights") ? name
                                                              : NULL;
}

/* Identifiers have no scale that could change. */
static bool is_identifier(const struct seen *f)
{
    static const char *const words[] = {"id", "ids", "uid", "code", "key", "zip", "hash", NULL};
    return f->whole && is_word_of(last_word(f->name), words);
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

static int add_name(const struct seen *f, struct ek_buf *out)
{
    return is_plain(f->name) ? ek_buf_text(out, f->name)
                             : ek_buf_json(out, f->name, strlen(f->name));
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
    return f->role == EK_ROLE_QUERY && items_have(s, f->name)
               ? "for a feature of the items is called so, too"
               : NULL;
}

static int add_left_out(const struct seen *f, const char *why, struct ek_buf *out)
{
    ek_buf_text(out, "  # left out: ");
    add_name(f, out);
    return ek_buf_printf(out, ", %s\n", why);
}

/* Fail because no feature was found; usually the mapping has wrong field names. */
static int no_feature(const struct ek_shape *s, struct ek_error *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->seen[i].role == EK_ROLE_ITEM)
            return ek_fail(
                e, EK_EFORMAT,
                "no feature of the items is a number, by a name that a feature may have");
    if (s->of_item.done)
        ek_fail(e, EK_EFORMAT, "no item has '%s' with a feature in it; the first one has: %s",
                s->path[FEATURES].rest, s->of_item.text);
    else
        ek_fail(e, EK_EFORMAT,
                "no message has '%s' (or '%s') with an item in it; the first one has: %s",
                s->path[ITEMS].rest, s->path[ITEM].rest, s->of_message.text);
    if (e)
        e->flags |= EK_ERR_FIELD;
    return EK_EFORMAT;
}

static int add_feature(const struct seen *f, int index, struct ek_buf *out)
{
    bool routable = f->role == EK_ROLE_ITEM && f->numbers && !is_flag(f) && !is_identifier(f);
    const char *unit = f->numbers ? unit_of_name(f->name) : NULL;
    ek_buf_text(out, "  - {name: ");
    add_name(f, out);
    ek_buf_printf(out, ", index: %d, role: %s%s%s%s%s%s}", index,
                  f->role == EK_ROLE_ITEM ? "item" : "query", routable ? ", routable: true" : "",
                  f->numbers && f->low > 0 ? ", positive: true" : "", unit ? ", unit: " : "",
                  unit ? unit : "", f->missing ? ", missing: expected" : "");
    return add_comment(f, out);
}

static int add_features(const struct ek_shape *s, enum ek_role role, int *index, struct ek_buf *out)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct seen *f = &s->seen[i];
        const char *why = f->role == role ? why_left_out(s, f) : NULL;
        if (why)
            add_left_out(f, why, out);
        else if (f->role == role)
            add_feature(f, ++*index, out);
    }
    return out->rc;
}

int ek_shape_manifest(const struct ek_shape *s, struct ek_buf *out, struct ek_error *e)
{
    int index = 0;
    size_t before = out->length;
    ek_buf_text(out, "version: 1\n# routable: what may change its scale; go over it, and "
                     "over what is called an id, a flag or a code\nfeatures:\n");
    add_features(s, EK_ROLE_ITEM, &index, out);
    int item_features = index;
    add_features(s, EK_ROLE_QUERY, &index, out);
    if (out->rc)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (item_features)
        return EK_OK;
    ek_buf_truncate(out, before);
    return no_feature(s, e);
}
