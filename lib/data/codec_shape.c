#include "data/codec_shape.h"

#include "base/alloc.h"
#include "data/codec.h"
#include "data/codec_json.h"
#include "data/codec_wire.h"
#include "data/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 12, LINE_NAME_BYTES = EK_NAME_BYTES_MAX + 1 };

struct seen {
    char name[LINE_NAME_BYTES];
    enum ek_role role;
    uint64_t numbers, missing;
    double low, high;
    double few[FEW]; /* the values met, as long as they are few */
    int distinct;    /* FEW + 1: more */
    bool whole;
};

struct ek_shape {
    struct seen *seen;
    size_t count, capacity;
    struct ek_json *json;
};

int ek_shape_new(struct ek_shape **out, struct ek_error *e)
{
    struct ek_shape *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for the features of messages");
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
    if (s->count == s->capacity) {
        size_t want = s->capacity ? 2 * s->capacity : 64;
        struct seen *more = ek_realloc(s->seen, want, sizeof *more);
        if (!more)
            return EK_ENOMEM;
        s->seen = more;
        s->capacity = want;
    }
    *out = &s->seen[s->count++];
    **out = (struct seen){.role = role, .low = INFINITY, .high = -INFINITY, .whole = true};
    snprintf((*out)->name, LINE_NAME_BYTES, "%s", name);
    return EK_OK;
}

/* The feature of that name; `at` is where it is likely. */
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

/* A key, cut where it is longer than a name may be. */
static int key(struct ek_wire *w, char name[LINE_NAME_BYTES])
{
    struct ek_head h;
    int rc = head_of(w, EK_WIRE_TEXT, &h);
    if (rc)
        return rc;
    snprintf(name, LINE_NAME_BYTES, "%.*s",
             (int)(h.count < EK_NAME_BYTES_MAX ? h.count : EK_NAME_BYTES_MAX), (const char *)w->p);
    w->p += h.count;
    return EK_OK;
}

/* A number; anything else is missing. */
static int value(struct ek_wire *w, double *x)
{
    struct ek_wire before = *w;
    struct ek_head h;
    *x = NAN;
    if (ek_wire_head(w, &h) != EK_WIRE_OK)
        return bad();
    if (ek_head_is_number(&h)) {
        *x = ek_head_number(&h);
        return EK_OK;
    }
    *w = before;
    return skip(w);
}

static void number_name(char name[LINE_NAME_BYTES], enum ek_role role, uint32_t i)
{
    snprintf(name, LINE_NAME_BYTES, "%s_%" PRIu32, role == EK_ROLE_ITEM ? "item" : "query", i + 1);
}

static float little_float(const uint8_t *p)
{
    return ek_float_of_bits((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                            (uint32_t)p[3] << 24);
}

/* The values of an item or of a list, in any of their three forms. */
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
        number_name(name, role, i);
        if (h.kind == EK_WIRE_MAP)
            rc = key(w, name);
        if (!rc && h.kind == EK_WIRE_BIN)
            x = (double)little_float(floats + 4 * (size_t)i);
        else if (!rc)
            rc = value(w, &x);
        rc = rc ? rc : find(s, name, role, &at, &f);
        if (!rc)
            count_value(f, x);
    }
    w->p += h.kind == EK_WIRE_BIN ? h.count : 0;
    return rc;
}

static int item(struct ek_shape *s, struct ek_wire *w)
{
    char name[LINE_NAME_BYTES];
    struct ek_head h;
    int rc = head_of(w, EK_WIRE_MAP, &h);
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        rc = key(w, name);
        if (!rc)
            rc = strcmp(name, "features") != 0 ? skip(w) : values(s, w, EK_ROLE_ITEM);
    }
    return rc;
}

static int message(struct ek_shape *s, struct ek_wire *w)
{
    char name[LINE_NAME_BYTES];
    struct ek_head h, items;
    int rc = head_of(w, EK_WIRE_MAP, &h);
    for (uint32_t i = 0; i < h.count && !rc; i++) {
        if ((rc = key(w, name)))
            return rc;
        if (!strcmp(name, "query_features"))
            rc = values(s, w, EK_ROLE_QUERY);
        else if (!strcmp(name, "item"))
            rc = item(s, w);
        else if (strcmp(name, "items") != 0)
            rc = skip(w);
        else if (!(rc = head_of(w, EK_WIRE_ARRAY, &items)))
            for (uint32_t j = 0; j < items.count && !rc; j++)
                rc = item(s, w);
    }
    return rc;
}

int ek_shape_add(struct ek_shape *s, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_json_fault fault;
    const uint8_t *start = bytes;
    int rc = EK_OK;
    if (ek_codec_is_json(bytes, length)) {
        rc = ek_json_read(&s->json, bytes, length, EK_JSON_DEPTH_MAX, &fault);
        if (!rc)
            start = ek_json_wire(s->json, &length);
    }
    struct ek_wire w = {start, start, start + length};
    rc = rc ? rc : message(s, &w);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "no memory for the features of messages");
    if (rc == EK_ELIMIT)
        return ek_fail(e, rc, "the messages have more than %d features", EK_FEATURES_MAX);
    return rc ? ek_fail(e, EK_EFORMAT,
                        "a message has no 'items' (or 'item') with 'features' that can be read")
              : EK_OK;
}

static bool is_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *name && strchr(letters, *name) && !name[strspn(name, others)];
}

/* Why it is not routable, or what its values are. */
static int add_comment(const struct seen *f, struct ek_buf *out)
{
    bool few = f->distinct <= FEW && f->whole;
    if (!f->numbers)
        return ek_buf_text(out, " # no number came\n");
    return ek_buf_printf(
        out, " # %s%.4g to %.4g%s%s\n", few && f->role == EK_ROLE_ITEM ? "a flag or a code? " : "",
        f->low, f->high, few ? ", whole, few values" : "", f->missing ? ", missing in some" : "");
}

static int add_feature(const struct seen *f, int index, struct ek_buf *out)
{
    bool routable = f->role == EK_ROLE_ITEM && f->numbers && !(f->distinct <= FEW && f->whole);
    int rc = ek_buf_text(out, "  - {name: ");
    if (!rc)
        rc = is_plain(f->name) ? ek_buf_text(out, f->name)
                               : ek_buf_json(out, f->name, strlen(f->name));
    if (!rc)
        rc = ek_buf_printf(
            out, ", index: %d, role: %s%s%s%s}", index, f->role == EK_ROLE_ITEM ? "item" : "query",
            routable ? ", routable: true" : "", f->numbers && f->low > 0 ? ", positive: true" : "",
            f->missing ? ", missing: expected" : "");
    return rc ? rc : add_comment(f, out);
}

int ek_shape_manifest(const struct ek_shape *s, struct ek_buf *out, struct ek_error *e)
{
    static const enum ek_role roles[] = {EK_ROLE_ITEM, EK_ROLE_QUERY};
    int index = 0;
    if (!s->count)
        return ek_fail(e, EK_EFORMAT, "no message has a feature");
    int rc = ek_buf_text(out, "version: 1\n# routable: what may change its scale; go over it, and "
                              "over what is called a flag or a code\nfeatures:\n");
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < s->count && !rc; i++)
            if (s->seen[i].role == roles[r])
                rc = add_feature(&s->seen[i], ++index, out);
    return rc ? ek_fail(e, EK_ENOMEM, "no memory for a manifest") : EK_OK;
}
