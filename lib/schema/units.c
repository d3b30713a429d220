#include "schema/units.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void ek_units_init(struct ek_units *own)
{
    memset(own, 0, sizeof *own);
}

static void release_unit(const struct ek_unit *u)
{
    ek_free((char *)u->id);
    ek_free((char *)u->quantity);
    ek_free((char *)u->from);
    ek_free((char *)u->text);
    ek_free((char *)u->inverse);
}

void ek_units_release(struct ek_units *own)
{
    for (size_t i = 0; i < own->count; i++)
        release_unit(&own->unit[i]);
    ek_free(own->unit);
    ek_units_init(own);
}

const struct ek_unit *ek_units_at(const struct ek_units *own, size_t i)
{
    size_t count;
    const struct ek_unit *built_in = ek_units_built_in(&count);
    if (i < count)
        return &built_in[i];
    return own && i - count < own->count ? &own->unit[i - count] : NULL;
}

const struct ek_unit *ek_units_find(const struct ek_units *own, const char *id)
{
    const struct ek_unit *u;
    for (size_t i = 0; (u = ek_units_at(own, i)); i++)
        if (!strcmp(u->id, id))
            return u;
    return NULL;
}

int ek_units_nearest(const struct ek_units *own, const char *id, const char **near)
{
    size_t count, i;
    ek_units_built_in(&count);
    count += own ? own->count : 0;
    const char **words = ek_calloc(count, sizeof *words);
    if (!words)
        return EK_ENOMEM;
    for (i = 0; i < count; i++)
        words[i] = ek_units_at(own, i)->id;
    *near = ek_nearest_name(id, words, count);
    ek_free(words);
    return EK_OK;
}

/* Copy a string that may be NULL; set *lacks if out of memory. */
static char *copy(const char *text, int *lacks)
{
    char *out = text ? ek_strdup(text) : NULL;
    *lacks |= text && !out;
    return out;
}

/* Append a copy. Return 0, EK_ENOMEM, or EK_ELIMIT beyond EK_CUSTOM_UNITS_MAX; on error the catalog
 * is unchanged. */
static int units_add(struct ek_units *own, const struct ek_unit *u)
{
    if (own->count == EK_CUSTOM_UNITS_MAX)
        return EK_ELIMIT;
    struct ek_unit *unit = ek_grow(own->unit, own->count, &own->capacity, sizeof *unit);
    if (!unit)
        return EK_ENOMEM;
    own->unit = unit;
    int lacks = 0;
    struct ek_unit mine = {copy(u->id, &lacks),       u->factor,
                           copy(u->quantity, &lacks), copy(u->from, &lacks),
                           copy(u->text, &lacks),     copy(u->inverse, &lacks)};
    if (lacks) {
        release_unit(&mine);
        return EK_ENOMEM;
    }
    own->unit[own->count++] = mine;
    return EK_OK;
}

/* Return whether the list `words` contains a word without spaces. */
static int has_name(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = words; p && (p = strstr(p, word)); p++)
        if (p > words && p[-1] == ' ' && p[length] == ' ')
            return 1;
    return 0;
}

/* Look up `length` bytes of text as one word. */
static int next_name(const struct ek_units *own, const char *text, size_t length,
                     struct ek_measure *out)
{
    const struct ek_unit *u;
    if (!length || length > EK_UNIT_NAME_BYTES_MAX || memchr(text, ' ', length))
        return 0;
    for (size_t i = 0; i < length; i++)
        out->word[i] = (char)tolower((unsigned char)text[i]);
    out->word[length] = 0;
    for (size_t i = 0; (u = ek_units_at(own, i)); i++)
        if (has_name(u->from, out->word) || (u->quantity && !strcmp(u->quantity, out->word))) {
            out->quantity = u->quantity;
            return 1;
        }
    return 0;
}

/* Letters, digits, percent, dollar and non-ASCII bytes, as in m² and €. */
static int is_name_char(unsigned char c)
{
    return isalnum(c) || c == '%' || c == '$' || c >= 0x80;
}

struct ek_measure ek_units_measure(const struct ek_units *own, const char *text)
{
    struct ek_measure m = {NULL, ""};
    if (!text || next_name(own, text, strlen(text), &m))
        return m;
    while (*text) {
        size_t length = 0;
        while (is_name_char((unsigned char)text[length]))
            length++;
        if (next_name(own, text, length, &m))
            return m;
        text += length + !length;
    }
    return (struct ek_measure){NULL, ""};
}

enum ek_unit_fit ek_unit_fit(const struct ek_unit *u, const struct ek_measure *m)
{
    if (!m->quantity || !u->quantity)
        return EK_UNIT_ANY;
    if (strcmp(u->quantity, m->quantity) != 0)
        return EK_UNIT_OTHER;
    return has_name(u->from, m->word) ? EK_UNIT_SAME : EK_UNIT_QUANTITY;
}

/* Parser of unit catalogs. */
static const double FACTOR_MIN = 1e-12, FACTOR_MAX = 1e12, SAME_FACTOR = 1e-9;
enum { WORDS_BYTES_MAX = 4096, WAYS = 2 };

struct source {
    struct ek_units *own;
    const struct ek_yaml *y;
    struct ek_error_list *faults; /* NULL: the first error ends the parse */
    struct ek_error *e;           /* never NULL */
};

/* Parsed entry. Strings belong to the document. */
struct entry {
    const char *id[WAYS], *text[WAYS], *quantity; /* index 1: the inverse; NULL if none */
    double factor[WAYS];
    struct ek_buf words[WAYS]; /* from, to */
};

static int collect_error(const struct source *s, int code)
{
    return ek_error_list_collect(s->faults, code, s->e);
}

static int enomem(const struct source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
}

static int check_id(const struct source *s, const struct ek_node *n, const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = strlen(id);
    if (length > EK_UNIT_ID_BYTES_MAX || !islower((unsigned char)*id) ||
        strspn(id, letters) != length)
        return ek_node_fail(s->y, n, s->e,
                            "an id is 1 to %d small letters, digits and underscores, a letter "
                            "first, not '%.60s'",
                            EK_UNIT_ID_BYTES_MAX, id);
    return EK_OK;
}

/* Read an optional id of a unit or quantity. */
static int read_id(const struct source *s, const struct ek_node *map, const char *key,
                   const char **out)
{
    const struct ek_node *n = ek_node_get(map, key);
    const char *id = NULL;
    int rc = n ? ek_node_text(s->y, n, key, &id, s->e) : EK_OK;
    if (n && !rc)
        rc = check_id(s, n, id);
    if (!rc)
        *out = id;
    return collect_error(s, rc);
}

static int read_labels(const struct source *s, const struct ek_node *map, const char *key,
                       const char **out)
{
    const struct ek_node *n = ek_node_get(map, key);
    const char *text = NULL;
    int rc = n ? ek_node_text(s->y, n, key, &text, s->e) : EK_OK;
    if (!n || rc)
        return collect_error(s, rc);
    size_t length = strlen(text);
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            length = 0;
    if (!length || length > EK_UNIT_TEXT_BYTES_MAX)
        return collect_error(s,
                             ek_node_fail(s->y, n, s->e, "'%s' must be one line of 1 to %d bytes",
                                          key, EK_UNIT_TEXT_BYTES_MAX));
    *out = text;
    return EK_OK;
}

/* Read a number or a ratio of two numbers. */
static int read_factor(const struct source *s, const struct ek_node *n, double factor[WAYS])
{
    static const char form[] = "a number or a ratio like 1/60";
    double over = 0, under = 1;
    const char *text = n->text, *slash = text ? strchr(text, '/') : NULL;
    if (!text)
        return ek_node_fail(s->y, n, s->e, "'factor' must be %s", form);
    if (ek_parse_finite(text, slash ? (size_t)(slash - text) : EK_WHOLE, &over) ||
        (slash && ek_parse_finite(slash + 1, EK_WHOLE, &under)))
        return ek_node_fail(s->y, n, s->e, "'factor' must be %s, not '%.60s'", form, text);
    factor[0] = over / under;
    factor[1] = under / over;
    if (!(factor[0] >= FACTOR_MIN && factor[0] <= FACTOR_MAX))
        return ek_node_fail(s->y, n, s->e, "'factor' must be between %g and %g, not '%.60s'",
                            FACTOR_MIN, FACTOR_MAX, text);
    if (fabs(factor[0] - 1) < SAME_FACTOR)
        return ek_node_fail(s->y, n, s->e, "'factor' is 1: that changes nothing");
    return EK_OK;
}

static int add_name(const struct source *s, const struct ek_node *n, const char *key,
                    struct ek_buf *words)
{
    const char *word = NULL;
    int rc = ek_node_text(s->y, n, key, &word, s->e);
    if (rc)
        return rc;
    size_t length = strlen(word);
    for (const char *c = word; *c; c++)
        if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c))
            length = 0;
    if (!length || length > EK_UNIT_NAME_BYTES_MAX)
        return ek_node_fail(s->y, n, s->e, "'%s' must have words of 1 to %d bytes without spaces",
                            key, EK_UNIT_NAME_BYTES_MAX);
    if (words->length + length + 1 > WORDS_BYTES_MAX)
        return ek_node_fail(s->y, n, s->e, "'%s' is longer than %d bytes", key, WORDS_BYTES_MAX);
    for (const char *c = word; *c; c++)
        ek_buf_add(words, &(char){(char)tolower((unsigned char)*c)}, 1);
    return ek_buf_text(words, " ") ? enomem(s) : EK_OK;
}

/* Append a list as " a b c ", the form of ek_unit.from. */
static int read_names(const struct source *s, const struct ek_node *map, const char *key,
                      struct ek_buf *words)
{
    const struct ek_node *list = ek_node_get(map, key);
    if (!list)
        return EK_OK;
    int rc = ek_node_check_kind(s->y, list, key, EK_NODE_SEQUENCE, s->e);
    if (!rc && !ek_node_get(map, "quantity"))
        rc = ek_node_fail(s->y, list, s->e, "'%s' needs a 'quantity' next to it", key);
    if (!rc && ek_buf_text(words, " "))
        rc = enomem(s);
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = collect_error(s, add_name(s, &list->children[i], key, words));
    if (!rc && !ek_buf_string(words))
        rc = enomem(s);
    return collect_error(s, rc);
}

static int check_needed(const struct source *s, const struct ek_node *map)
{
    static const char *const needed[] = {"id", "factor", "text"};
    const struct ek_node *to = ek_node_get(map, "to");
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < sizeof needed / sizeof *needed; i++)
        if (!ek_node_get(map, needed[i]))
            rc = collect_error(s, ek_node_fail(s->y, map, s->e, "the unit has no '%s'", needed[i]));
    if (!rc && !ek_node_get(map, "inverse") != !ek_node_get(map, "inverse_text"))
        rc = collect_error(
            s, ek_node_fail(s->y, map, s->e, "'inverse' and 'inverse_text' need each other"));
    if (!rc && to && !ek_node_get(map, "inverse"))
        rc = collect_error(s, ek_node_fail(s->y, to, s->e,
                                           "'to' needs an 'inverse'; put one there, or remove "
                                           "'to'"));
    return rc;
}

static int read_fields(const struct source *s, const struct ek_node *map, struct entry *u)
{
    static const char *const keys[] = {"id", "factor", "quantity", "from",
                                       "to", "text",   "inverse",  "inverse_text"};
    const struct ek_node *factor = ek_node_get(map, "factor");
    int rc = ek_node_all_keys(s->y, map, keys, sizeof keys / sizeof *keys, s->faults, s->e);
    if (!rc)
        rc = check_needed(s, map);
    if (!rc)
        rc = read_id(s, map, "id", &u->id[0]);
    if (!rc)
        rc = read_id(s, map, "inverse", &u->id[1]);
    if (!rc)
        rc = read_id(s, map, "quantity", &u->quantity);
    if (!rc && factor)
        rc = collect_error(s, read_factor(s, factor, u->factor));
    if (!rc)
        rc = read_labels(s, map, "text", &u->text[0]);
    if (!rc)
        rc = read_labels(s, map, "inverse_text", &u->text[1]);
    if (!rc)
        rc = read_names(s, map, "from", &u->words[0]);
    return rc ? rc : read_names(s, map, "to", &u->words[1]);
}

static bool same_text(const char *a, const char *b)
{
    return a ? b && !strcmp(a, b) : !b;
}

static bool same_factor(double a, double b)
{
    return fabs(a / b - 1) < SAME_FACTOR;
}

/* Return true if two lists in the form of ek_unit.from share a word, or both are NULL. */
static bool share_name(const char *a, const char *b)
{
    if (!a || !b)
        return !a && !b;
    for (const char *p = a + 1; *p; p = strchr(p, ' ') + 1) {
        size_t length = (size_t)(strchr(p, ' ') - p) + 2; /* includes both spaces */
        for (const char *q = b; (q = strchr(q, ' ')) && q[1]; q++)
            if (!strncmp(q, p - 1, length))
                return true;
    }
    return false;
}

static const struct ek_node *place_of(const struct ek_node *map, const char *const keys[WAYS],
                                      int way)
{
    const struct ek_node *n = ek_node_get(map, keys[way]);
    return n ? n : map;
}

static const char *const IDS[WAYS] = {"id", "inverse"}, *const WORDS[WAYS] = {"from", "to"};

/* A known id must be the same conversion, as in a copy of the default catalog. */
static int check_known(const struct source *s, const struct ek_node *map, const struct ek_unit *u,
                       int way, const struct ek_unit *known)
{
    if (same_text(known->quantity, u->quantity) && same_factor(known->factor, u->factor))
        return EK_OK;
    return ek_node_fail(s->y, place_of(map, IDS, way), s->e,
                        "unit '%s' is known already, with factor %.10g and %s%s", u->id,
                        known->factor, known->quantity ? "quantity " : "no quantity",
                        known->quantity ? known->quantity : "");
}

/* Reject a second name of a conversion, and a word for two quantities. */
static int check_apart(const struct source *s, const struct ek_node *map, const struct ek_unit *u,
                       int way)
{
    const struct ek_unit *o;
    for (size_t i = 0; (o = ek_units_at(s->own, i)); i++) {
        bool one = same_text(o->quantity, u->quantity), words = share_name(o->from, u->from);
        if (one && words && same_factor(o->factor, u->factor))
            return ek_node_fail(s->y, place_of(map, IDS, way), s->e,
                                "'%s' is ambiguous with '%s': factor %.10g, and the same "
                                "quantity",
                                u->id, o->id, o->factor);
        if (!one && words && u->from)
            return ek_node_fail(s->y, place_of(map, WORDS, way), s->e,
                                "'%s' has a word that is of %s in '%s'", WORDS[way], o->quantity,
                                o->id);
    }
    return EK_OK;
}

static int add_unit_direction(const struct source *s, const struct ek_node *map,
                              const struct ek_unit *u, int way)
{
    const struct ek_unit *known = ek_units_find(s->own, u->id);
    int rc = known ? check_known(s, map, u, way, known) : check_apart(s, map, u, way);
    if (rc || known)
        return collect_error(s, rc);
    rc = units_add(s->own, u);
    if (rc == EK_ELIMIT)
        return ek_node_fail(s->y, map, s->e, "more than %d units", EK_CUSTOM_UNITS_MAX);
    return rc ? enomem(s) : EK_OK;
}

static int add_entry(const struct source *s, const struct ek_node *map, const struct entry *u)
{
    int rc = EK_OK;
    for (int way = 0; !rc && way < WAYS && u->id[way]; way++) {
        const struct ek_unit one = {u->id[way],   u->factor[way],
                                    u->quantity,  (const char *)u->words[way].data,
                                    u->text[way], u->id[1 - way]};
        rc = add_unit_direction(s, map, &one, way);
    }
    return rc;
}

int ek_units_read_entry(struct ek_units *own, const struct ek_yaml *y, const struct ek_node *n,
                        struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error unwanted;
    const struct source s = {own, y, faults, e ? e : &unwanted};
    size_t before = faults ? faults->count : 0;
    struct entry u = {.quantity = NULL};
    for (int way = 0; way < WAYS; way++)
        ek_buf_init(&u.words[way], WORDS_BYTES_MAX + 1); /* plus the terminating nul */
    int rc = read_fields(&s, n, &u);
    if (!rc && (!faults || faults->count == before))
        rc = add_entry(&s, n, &u);
    if (rc || (faults && faults->count > before))
        own->incomplete = true;
    for (int way = 0; way < WAYS; way++)
        ek_buf_release(&u.words[way]);
    return rc;
}

/* Return the node of an entry that contains `id`, or NULL. */
static const struct ek_node *names(const struct ek_node *entry, const char *id)
{
    for (int way = 0; way < WAYS; way++) {
        const struct ek_node *n = ek_node_get(entry, IDS[way]);
        if (n && n->text && !strcmp(n->text, id))
            return n;
    }
    return NULL;
}

int ek_units_check_duplicate(const struct ek_yaml *y, const struct ek_node *list, size_t i,
                             struct ek_error *e)
{
    const struct ek_node *id = ek_node_get(&list->children[i], "id"),
                         *inverse = ek_node_get(&list->children[i], "inverse"), *first;
    if (id && inverse && id->text && inverse->text && !strcmp(id->text, inverse->text))
        return ek_node_fail(y, inverse, e, "unit '%s' is its own inverse", id->text);
    for (size_t k = 0; k < i; k++) {
        if (id && id->text && (first = names(&list->children[k], id->text)))
            return ek_node_fail(y, id, e, "unit '%s' is there twice, first in line %ld", id->text,
                                first->line);
        if (inverse && inverse->text && (first = names(&list->children[k], inverse->text)))
            return ek_node_fail(y, inverse, e, "unit '%s' is there twice, first in line %ld",
                                inverse->text, first->line);
    }
    return EK_OK;
}

static int read_catalogue(const struct source *s, const struct ek_node *root)
{
    static const char *const keys[] = {"version", "units"};
    const struct ek_node *version = ek_node_get(root, "version"),
                         *list = ek_node_get(root, "units");
    int64_t number;
    int rc = ek_node_all_keys(s->y, root, keys, 2, s->faults, s->e);
    if (!rc && version)
        rc = collect_error(s, ek_node_int(s->y, version, "version", 1, 1, &number, s->e));
    if (!rc && !list)
        rc = ek_node_fail(s->y, root, s->e, "there is no 'units'");
    if (!rc)
        rc = ek_node_check_kind(s->y, list, "units", EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < list->count; i++) {
        int twice = ek_units_check_duplicate(s->y, list, i, s->e);
        rc = twice ? collect_error(s, twice)
                   : collect_error(
                         s, ek_units_read_entry(s->own, s->y, &list->children[i], s->faults, s->e));
    }
    return collect_error(s, rc);
}

static int read_tree(struct ek_units *own, struct ek_yaml *y, struct ek_error_list *faults,
                     struct ek_error *e)
{
    struct ek_error unwanted;
    const struct source s = {own, y, faults, e ? e : &unwanted};
    int rc = ek_error_list_first(faults, read_catalogue(&s, ek_yaml_root(y)), s.e);
    ek_yaml_free(y);
    return rc;
}

int ek_units_parse(struct ek_units *own, const char *name, const char *text, size_t length,
                   struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_parse_all(&y, name, text, length, faults, e);
    return rc ? rc : read_tree(own, y, faults, e);
}

int ek_units_load(struct ek_units *own, const char *path, struct ek_error_list *faults,
                  struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_load(&y, path, e);
    return rc ? rc : read_tree(own, y, faults, e);
}
