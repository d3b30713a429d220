#include "yaml/keys.h"

#include "base/alloc.h"
#include "base/date.h"
#include "base/parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHOICES_BYTES = 200, CHOICES_MAX = 16, QUANTITY_BYTES = 32, WANTED_BYTES = 100 };

const struct ek_key_row *ek_key_find(const struct ek_key_table *t, const char *path)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->keys[i].path, path))
            return &t->keys[i];
    return NULL;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

const char *ek_key_name(const struct ek_key_row *k)
{
    return last_part(k->path);
}

bool ek_key_is_in(const struct ek_key_row *k, const char *section)
{
    const char *name = ek_key_name(k);
    size_t length = name == k->path ? 0 : (size_t)(name - k->path) - 1;
    if (*name == '*')
        return false;
    if (k->also && !strcmp(section, k->also))
        return true;
    return strlen(section) == length && !strncmp(k->path, section, length);
}

size_t ek_keys_list(const struct ek_key_table *t, const char *section, const char **names,
                    size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!ek_key_is_in(&t->keys[i], section))
            continue;
        if (count < max)
            names[count] = ek_key_name(&t->keys[i]);
        count++;
    }
    return count;
}

bool ek_key_is_whole(const struct ek_key_row *k)
{
    return k->type == EK_KEY_INT || k->type == EK_KEY_DURATION || k->type == EK_KEY_SIZE;
}

const char *ek_key_quantity(const struct ek_key_row *k, int64_t value, char *out, size_t size)
{
    static const struct unit {
        const char *name;
        int64_t many;
    } sizes[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}},
      times[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}},
      none[] = {{"", 1}};
    const struct unit *u = k->type == EK_KEY_DURATION ? times
                           : k->type == EK_KEY_SIZE   ? sizes
                                                      : none;
    while (u->many > 1 && (!value || value % u->many))
        u++;
    if (k->word && !value)
        snprintf(out, size, "%s", k->word);
    else
        snprintf(out, size, "%" PRId64 "%s", value / u->many, u->name);
    return out;
}

void ek_key_choice(const struct ek_key_row *k, int number, char *out, size_t size)
{
    const char *p = k->choices;
    while (number-- > 0)
        p += strcspn(p, " ") + 1;
    snprintf(out, size, "%.*s", (int)strcspn(p, " "), p);
}

void *ek_key_member(const struct ek_key_row *k, const void *base)
{
    return (char *)(uintptr_t)base + k->offset;
}

int64_t ek_key_get(const struct ek_key_row *k, const void *base)
{
    const void *member = ek_key_member(k, base);
    if (k->size == sizeof(int64_t))
        return *(const int64_t *)member;
    return k->size == sizeof(int32_t) ? *(const int32_t *)member : *(const bool *)member;
}

static void set_whole(struct ek_key_source *s, const struct ek_key_row *k, int64_t value)
{
    void *member = ek_key_member(k, s->base[k->base]);
    if (k->size == sizeof(int64_t))
        *(int64_t *)member = value;
    else if (k->size == sizeof(int32_t))
        *(int32_t *)member = (int32_t)value;
    else if (k->size)
        *(bool *)member = value != 0;
}

/* Return the name of a key in errors. */
static const char *called(const struct ek_key_source *s, const struct ek_key_row *k)
{
    return s->table->by_path ? k->path : ek_key_name(k);
}

static int enomem(const struct ek_key_source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
}

int ek_keys_collect(const struct ek_key_source *s, int code)
{
    return ek_error_list_collect(s->faults, code, s->e);
}

static bool has_range(const struct ek_key_row *k)
{
    return k->low < k->high;
}

static int check_length(const struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
{
    size_t length = strlen(n->text);
    if (has_range(k) && (length < (size_t)k->low || length > (size_t)k->high))
        return ek_node_fail(s->yaml, n, s->e, "'%s' must be %g to %g bytes long, not %zu",
                            called(s, k), k->low, k->high, length);
    if (s->table->no_empty && !length)
        return ek_node_fail(s->yaml, n, s->e, "'%s' is empty", called(s, k));
    return EK_OK;
}

static int read_text(const struct ek_key_source *s, const struct ek_key_row *k,
                     const struct ek_node *n, char **out)
{
    const char *text = NULL;
    int rc = ek_node_text(s->yaml, n, called(s, k), &text, s->e);
    if (!rc)
        rc = check_length(s, k, n);
    if (rc)
        return rc;
    bool joined = k->type == EK_KEY_PATH && s->folder && *text != '/';
    size_t size = strlen(text) + (joined ? strlen(s->folder) : 0) + 1;
    *out = ek_calloc(size, 1);
    if (!*out)
        return enomem(s);
    snprintf(*out, size, "%s%s", joined ? s->folder : "", text);
    return EK_OK;
}

static int store_text(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    char *text = NULL, **member = ek_key_member(k, s->base[k->base]);
    int rc = read_text(s, k, n, &text);
    if (rc)
        return rc;
    ek_free(*member);
    *member = text;
    return EK_OK;
}

static int add_text(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    struct ek_text_list *list = ek_key_member(k, s->base[k->base]);
    char *text = NULL;
    int rc = read_text(s, k, n, &text);
    if (rc)
        return rc;
    char **items = ek_realloc(list->items, list->count + 1, sizeof *items);
    if (!items) {
        ek_free(text);
        return enomem(s);
    }
    list->items = items;
    items[list->count++] = text;
    return EK_OK;
}

static int store_bool(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    bool value = false;
    int rc = ek_node_bool(s->yaml, n, called(s, k), &value, s->e);
    if (!rc)
        set_whole(s, k, value);
    return rc;
}

static int store_double(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
{
    double low = has_range(k) ? k->low : -HUGE_VAL, high = has_range(k) ? k->high : HUGE_VAL;
    return ek_node_double(s->yaml, n, called(s, k), low, high, ek_key_member(k, s->base[k->base]),
                          s->e);
}

static int parse_whole(const struct ek_key_row *k, const struct ek_node *n, int64_t *out)
{
    uint64_t bytes = 0;
    if (n->kind != EK_NODE_SCALAR || (n->quoted && k->type == EK_KEY_INT))
        return EK_EFORMAT;
    if (k->type == EK_KEY_DURATION)
        return ek_parse_duration_ms(n->text, EK_WHOLE, out);
    if (k->type == EK_KEY_INT)
        return ek_parse_i64(n->text, EK_WHOLE, out);
    int rc = ek_parse_bytes(n->text, EK_WHOLE, &bytes);
    *out = (int64_t)bytes;
    return !rc && *out < 0 ? EK_ELIMIT : rc;
}

static int no_whole(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    const char *form = k->type == EK_KEY_DURATION
                           ? "a duration with its unit (250ms, 10s, 5m, 2h, 7d)"
                       : k->type == EK_KEY_SIZE ? "a size in bytes (65536, 64KiB, 4MiB, 1GiB)"
                                                : "a whole number";
    char desired[WANTED_BYTES];
    snprintf(desired, sizeof desired, "%s%s%s", k->word ? k->word : "", k->word ? " or " : "",
             form);
    return ek_node_wrong(s->yaml, n, called(s, k), desired, s->e);
}

static int store_whole(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    char low[QUANTITY_BYTES], high[QUANTITY_BYTES];
    int64_t value = 0;
    bool is_word = k->word && n->kind == EK_NODE_SCALAR && !strcmp(n->text, k->word);
    int rc = is_word ? EK_OK : parse_whole(k, n, &value);
    if (rc && rc != EK_ELIMIT)
        return no_whole(s, k, n);
    if (!is_word && (rc || (double)value < k->low || (double)value > k->high)) {
        ek_key_quantity(k, (int64_t)k->low, low, sizeof low);
        ek_key_quantity(k, (int64_t)k->high, high, sizeof high);
        return ek_node_out_of_range(s->yaml, n, called(s, k), low, high, s->e);
    }
    set_whole(s, k, value);
    return EK_OK;
}

int ek_key_read_name(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n,
                     int *out)
{
    char text[CHOICES_BYTES];
    const char *words[CHOICES_MAX];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", k->choices);
    for (char *word = text, *end; word && count < CHOICES_MAX; word = end) {
        end = strchr(word, ' ');
        if (end)
            *end++ = 0;
        words[count++] = word;
    }
    return ek_node_choice(s->yaml, n, called(s, k), words, count, out, s->e);
}

static int store_choice(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
{
    int number = 0, rc = ek_key_read_name(s, k, n, &number);
    if (!rc)
        set_whole(s, k, number);
    return rc;
}

static int store_rate(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    static const char before[] = "1 per ", after[] = " lists";
    const char *text = NULL;
    uint64_t lists = 0;
    int rc = ek_node_text(s->yaml, n, called(s, k), &text, s->e);
    if (rc)
        return rc;
    size_t length = strlen(text), around = strlen(before) + strlen(after);
    if (length <= around || strncmp(text, before, strlen(before)) != 0 ||
        strcmp(text + length - strlen(after), after) != 0 ||
        ek_parse_u64(text + strlen(before), length - around, &lists) || !lists)
        return ek_node_fail(s->yaml, n, s->e, "'%s' must read '1 per N lists', not '%.60s'",
                            called(s, k), text);
    set_whole(s, k, (int64_t)lists);
    return EK_OK;
}

static int store_date(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    const char *text = NULL;
    int64_t ms = 0;
    int rc = ek_node_text(s->yaml, n, called(s, k), &text, s->e);
    if (rc)
        return rc;
    if (ek_parse_until_ms(text, &ms))
        return ek_node_fail(s->yaml, n, s->e,
                            "'%s' must be a date like 2027-01-31 or 2027-01-31T12:00:00Z, not "
                            "'%.60s'",
                            called(s, k), text);
    set_whole(s, k, ms);
    return EK_OK;
}

int ek_key_store(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    static ek_key_read *const by_type[EK_KEY_TYPES] = {
        [EK_KEY_TEXT] = store_text,     [EK_KEY_PATH] = store_text,
        [EK_KEY_BOOL] = store_bool,     [EK_KEY_INT] = store_whole,
        [EK_KEY_NUMBER] = store_double, [EK_KEY_DURATION] = store_whole,
        [EK_KEY_SIZE] = store_whole,    [EK_KEY_CHOICE] = store_choice,
        [EK_KEY_TEXTS] = add_text,      [EK_KEY_RATE] = store_rate,
        [EK_KEY_DATE] = store_date};
    if (by_type[k->type])
        return by_type[k->type](s, k, n);
    return ek_node_fail(s->yaml, n, s->e, "'%s' is not available in this version", called(s, k));
}

static int read_one(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    return s->scalar ? s->scalar(s, k, n) : ek_key_store(s, k, n);
}

static int read_texts(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    int rc = EK_OK;
    if (n->kind != EK_NODE_SEQUENCE && k->flags & EK_KEY_OR_ONE)
        return read_one(s, k, n);
    rc = ek_node_check_kind(s->yaml, n, called(s, k), EK_NODE_SEQUENCE, s->e);
    if (!rc && !n->count && s->table->no_empty)
        rc = ek_node_fail(s->yaml, n, s->e, "'%s' is empty; put a value there%s", called(s, k),
                          k->flags & EK_KEY_REQUIRED ? "" : ", or remove the key");
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_one(s, k, &n->children[i]));
    return rc;
}

static int read_value(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    if (k->read)
        return k->read(s, k, n);
    if (k->type == EK_KEY_MAP)
        return ek_keys_read(s, k->path, n);
    return k->type == EK_KEY_TEXTS ? read_texts(s, k, n) : read_one(s, k, n);
}

/* Return the known key nearest to an unknown one; NULL if the key is known. */
static const char *nearest(const struct ek_node *key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], key->text))
            return NULL;
    return ek_nearest_name(key->text, names, count);
}

/* A misspelled required key is not reported as missing, too. */
static bool is_misspelt(const struct ek_node *map, const char *name, const char *const *names,
                        size_t count)
{
    for (size_t i = 0; i < map->count; i++) {
        const char *near = nearest(&map->children[2 * i], names, count);
        if (near && !strcmp(near, name))
            return true;
    }
    return false;
}

static const char *owner_of(const struct ek_key_table *t, const char *section)
{
    for (size_t i = 0; i < t->owner_count; i++)
        if (!strcmp(t->owners[i].section, section))
            return t->owners[i].name;
    return NULL;
}

static int check_required(struct ek_key_source *s, const char *section, const struct ek_node *map,
                          const char *const *names, size_t count)
{
    const char *owner = owner_of(s->table, section);
    for (size_t i = 0; owner && i < s->table->count; i++) {
        const struct ek_key_row *k = &s->table->keys[i];
        const char *name = ek_key_name(k);
        if (!(k->flags & EK_KEY_REQUIRED) || !ek_key_is_in(k, section) || ek_node_get(map, name))
            continue;
        if (s->faults && is_misspelt(map, name, names, count))
            continue;
        bool words = k->type == EK_KEY_CHOICE;
        return ek_node_fail(s->yaml, map, s->e, "the %s has no '%s': put one there%s%s", owner,
                            name, words ? ", one of: " : "", words ? k->choices : "");
    }
    return EK_OK;
}

static void set_place(const struct ek_key_source *s, const struct ek_key_row *k,
                      const struct ek_node *key)
{
    if (s->places)
        s->places[k - s->table->keys] = (struct ek_key_place){key->line, key->column};
}

/* Set the position of misspelled keys and all keys below them. */
static void place_misspelt(const struct ek_key_source *s, const char *section,
                           const struct ek_node *map, const char *const *names, size_t count)
{
    for (size_t i = 0; s->places && i < map->count; i++) {
        const struct ek_node *key = &map->children[2 * i];
        const char *near = nearest(key, names, count);
        size_t before = strlen(section) + (*section != 0), length = near ? strlen(near) : 0;
        for (size_t k = 0; near && k < s->table->count; k++) {
            const char *path = s->table->keys[k].path;
            if (!strncmp(path, section, strlen(section)) && strlen(path) >= before + length &&
                !strncmp(path + before, near, length) &&
                (!path[before + length] || path[before + length] == '.'))
                set_place(s, &s->table->keys[k], key);
        }
    }
}

static int check_mapping(struct ek_key_source *s, const char *section, const struct ek_node *map)
{
    const char *name = last_part(section);
    if (map->kind == EK_NODE_MAPPING)
        return EK_OK;
    if (!*name || *name == '*')
        return ek_node_fail(s->yaml, map, s->e, "a mapping (key: value) is expected here");
    return ek_node_check_kind(s->yaml, map, s->table->by_path ? section : name, EK_NODE_MAPPING,
                              s->e);
}

static int check_keys(struct ek_key_source *s, const char *section, const struct ek_node *map)
{
    const char *names[EK_KEYS_MAX];
    size_t count = ek_keys_list(s->table, section, names, EK_KEYS_MAX);
    int rc = check_mapping(s, section, map);
    if (rc)
        return rc;
    place_misspelt(s, section, map, names, count);
    rc = ek_node_all_keys(s->yaml, map, names, count, s->faults, s->e);
    return rc ? rc : check_required(s, section, map, names, count);
}

static const struct ek_node *find_pair(const struct ek_node *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->children[2 * i].text, name))
            return &map->children[2 * i];
    return NULL;
}

int ek_keys_read(struct ek_key_source *s, const char *section, const struct ek_node *map)
{
    if (!map)
        return EK_OK;
    int rc = check_keys(s, section, map);
    for (size_t i = 0; !rc && i < s->table->count; i++) {
        const struct ek_key_row *k = &s->table->keys[i];
        const struct ek_node *pair = ek_key_is_in(k, section) ? find_pair(map, ek_key_name(k)) : 0;
        if (!pair)
            continue;
        set_place(s, k, pair);
        rc = ek_keys_collect(s, read_value(s, k, pair + 1));
    }
    return rc;
}

/* Read a default value: a scalar or a list of unquoted scalars. */
static int set_one(struct ek_key_source *s, const struct ek_key_row *k)
{
    char text[CHOICES_BYTES];
    struct ek_node words[CHOICES_MAX] = {{0}}, n = {.text = text};
    snprintf(text, sizeof text, "%s", k->built_in);
    if (*text != '[')
        return read_value(s, k, &n);
    n = (struct ek_node){.kind = EK_NODE_SEQUENCE, .children = words};
    for (char *word = text + 1; n.count < CHOICES_MAX && *word; n.count++) {
        size_t length = strcspn(word, ",]");
        words[n.count].text = word;
        word += length;
        *word++ = 0;
        word += strspn(word, " ");
    }
    return read_value(s, k, &n);
}

int ek_keys_set_built_in(struct ek_key_source *s, const char *section)
{
    size_t length = strlen(section);
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < s->table->count; i++) {
        const struct ek_key_row *k = &s->table->keys[i];
        bool within = !strncmp(k->path, section, length) &&
                      (!length || !k->path[length] || k->path[length] == '.');
        if (k->built_in && within && s->base[k->base])
            rc = set_one(s, k);
    }
    return rc;
}

static void free_texts(struct ek_text_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        ek_free(l->items[i]);
    ek_free(l->items);
    *l = (struct ek_text_list){NULL, 0};
}

void ek_keys_release(const struct ek_key_table *t, unsigned number, void *base)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (k->base != number || !k->size || k->read)
            continue;
        char **text = ek_key_member(k, base);
        if (k->type == EK_KEY_TEXT || k->type == EK_KEY_PATH) {
            ek_free(*text);
            *text = NULL;
        } else if (k->type == EK_KEY_TEXTS) {
            free_texts((void *)text);
        }
    }
}
