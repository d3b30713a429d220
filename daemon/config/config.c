#include "daemon/config/config.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/config/config_internal.h"
#include "daemon/base/secret.h"
#include "daemon/base/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEY_BYTES = 128, SECRET_BYTES_MAX = 4000 };

void *ek_config_value(const struct ek_config *c, const struct ek_option *o)
{
    return (char *)(uintptr_t)c + o->offset;
}

static void clear_properties(struct ek_property_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ek_free(list->items[i].name);
        ek_free(list->items[i].value);
    }
    ek_free(list->items);
    *list = (struct ek_property_list){NULL, 0};
}

static void clear_texts(struct ek_text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ek_free(list->items[i]);
    ek_free(list->items);
    *list = (struct ek_text_list){NULL, 0};
}

void ek_config_clear(struct ek_config *c, const struct ek_option *o)
{
    void *value = ek_config_value(c, o);
    switch (o->type) {
    case EK_OPTION_TEXT:
    case EK_OPTION_PATH:
        ek_free(*(char **)value);
        *(char **)value = NULL;
        break;
    case EK_OPTION_TEXTS:
        clear_texts(value);
        break;
    case EK_OPTION_PROPERTIES:
        clear_properties(value);
        break;
    default:
        break;
    }
}

void ek_config_free(struct ek_config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < ek_option_count(); i++)
        ek_config_clear(c, ek_option_at(i));
    ek_config_sinks_clear(c);
    ek_error_list_release(&c->notes);
    ek_free(c->path);
    ek_free(c->places);
    ek_free(c);
}

int ek_config_new(struct ek_config **out, struct ek_error *e)
{
    struct ek_config *c = ek_calloc(1, sizeof *c);
    if (c)
        ek_error_list_init(&c->notes);
    if (c)
        c->places = ek_calloc(ek_option_count(), sizeof *c->places);
    if (!c || !c->places) {
        ek_free(c);
        return ek_fail(e, EK_ENOMEM, "no memory for the configuration");
    }
    for (size_t i = 0; i < ek_option_count(); i++) {
        const struct ek_option *o = ek_option_at(i);
        bool now = o->initial && !ek_sink_option_any(o);
        int rc = now ? ek_config_store(c, o, o->initial, NULL, e) : EK_OK;
        if (rc) {
            ek_config_free(c);
            return rc;
        }
    }
    *out = c;
    return EK_OK;
}

bool ek_config_has_secret(const struct ek_config *c)
{
    const struct ek_property_list *lists[] = {&c->librdkafka, &c->output_librdkafka};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            if (lists[i]->items[j].secret)
                return true;
    return c->token_file || c->sinks.count;
}

static int no_memory(const struct ek_option *o, struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "no memory for '%s'", o->key);
}

static int store_text(char **slot, const struct ek_option *o, const char *text, const char *folder,
                      struct ek_error *e)
{
    bool join = o->type == EK_OPTION_PATH && folder && text[0] != '/';
    if (!*text)
        return ek_fail(e, EK_ECONFIG, "'%s' is empty", o->key);
    if (o->url && !ek_url_valid(text)) /* which may have a secret in it */
        return ek_fail(e, EK_ECONFIG,
                       "'%s' is no address such as https://HOST or http://HOST:PORT/PATH", o->key);
    if (o->secret && strpbrk(text, "\r\n"))
        return ek_fail(e, EK_ECONFIG, "'%s' has more than one line", o->key);
    if (o->secret && strlen(text) > SECRET_BYTES_MAX)
        return ek_fail(e, EK_ECONFIG, "'%s' has more than %d characters", o->key, SECRET_BYTES_MAX);
    size_t length = strlen(text) + (join ? strlen(folder) : 0);
    char *copy = ek_calloc(length + 1, 1);
    if (!copy)
        return no_memory(o, e);
    snprintf(copy, length + 1, "%s%s", join ? folder : "", text);
    ek_free(*slot);
    *slot = copy;
    return EK_OK;
}

static int add_text(struct ek_text_list *list, const struct ek_option *o, const char *text,
                    struct ek_error *e)
{
    char **items = ek_realloc(list->items, list->count + 1, sizeof *items);
    if (!items)
        return no_memory(o, e);
    list->items = items;
    items[list->count] = NULL;
    int rc = store_text(&items[list->count], o, text, NULL, e);
    if (!rc)
        list->count++;
    return rc;
}

struct unit {
    const char *name;
    int64_t many;
};

const char *ek_config_quantity(const struct ek_option *o, int64_t value, char *out, size_t size)
{
    static const struct unit sizes[] = {
        {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}};
    static const struct unit times[] = {
        {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
    static const struct unit none[] = {{"", 1}};
    const struct unit *u = o->type == EK_OPTION_DURATION ? times
                           : o->type == EK_OPTION_BYTES  ? sizes
                                                         : none;
    while (u->many > 1 && (!value || value % u->many))
        u++;
    if (o->word && !value)
        snprintf(out, size, "%s", o->word);
    else
        snprintf(out, size, "%" PRId64 "%s", value / u->many, u->name);
    return out;
}

static int store_number(int64_t *slot, const struct ek_option *o, const char *text,
                        struct ek_error *e)
{
    char low[32], high[32];
    int64_t value = 0;
    uint64_t bytes = 0;
    const char *form = "an integer";
    int rc;
    if (o->word && !strcmp(text, o->word)) {
        *slot = 0;
        return EK_OK;
    }
    if (o->type == EK_OPTION_DURATION) {
        form = "a duration such as 10s";
        rc = ek_parse_duration_ms(text, EK_WHOLE, &value);
    } else if (o->type == EK_OPTION_BYTES) {
        form = "a size such as 4MiB";
        rc = ek_parse_bytes(text, EK_WHOLE, &bytes);
        value = (int64_t)bytes;
    } else {
        rc = ek_parse_i64(text, EK_WHOLE, &value);
    }
    if (rc == EK_EFORMAT)
        return ek_fail(e, EK_ECONFIG, "'%s': '%s' is not %s%s%s", o->key, text,
                       o->word ? o->word : "", o->word ? " or " : "", form);
    if (rc || value < o->low || value > o->high)
        return ek_fail(e, EK_ECONFIG, "'%s': %s is not between %s and %s", o->key, text,
                       ek_config_quantity(o, o->low, low, sizeof low),
                       ek_config_quantity(o, o->high, high, sizeof high));
    *slot = value;
    return EK_OK;
}

static int store_choice(int64_t *slot, const struct ek_option *o, const char *text,
                        struct ek_error *e)
{
    int number = ek_option_word(o->choices, text);
    if (number < 0)
        return ek_fail(e, EK_ECONFIG, "'%s': '%s' is none of: %s", o->key, text, o->choices);
    *slot = number;
    return EK_OK;
}

int ek_config_store_property(struct ek_config *c, const struct ek_option *o,
                             const struct ek_property *p, struct ek_error *e)
{
    struct ek_property_list *list = ek_config_value(c, o);
    struct ek_property *items = ek_realloc(list->items, list->count + 1, sizeof *items);
    if (!items)
        return no_memory(o, e);
    list->items = items;
    struct ek_property *own = &items[list->count];
    *own = *p;
    own->name = ek_strdup(p->name);
    own->value = ek_strdup(p->value);
    own->secret = p->secret || ek_secret_name(p->name);
    if (own->name && own->value) {
        list->count++;
        return EK_OK;
    }
    ek_free(own->name);
    ek_free(own->value);
    return no_memory(o, e);
}

/* The text may have a secret in it, so it stands in no error. */
static int store_pair(struct ek_config *c, const struct ek_option *o, const char *text,
                      struct ek_error *e)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return ek_fail(e, EK_ECONFIG, "'%s': wanted name=value", o->key);
    char *name = ek_strndup(text, (size_t)(equals - text));
    if (!name)
        return no_memory(o, e);
    const struct ek_property p = {.name = name, .value = (char *)(uintptr_t)(equals + 1)};
    int rc = ek_config_store_property(c, o, &p, e);
    ek_free(name);
    return rc;
}

int ek_config_store(struct ek_config *c, const struct ek_option *o, const char *text,
                    const char *folder, struct ek_error *e)
{
    void *value = ek_config_value(c, o);
    switch (o->type) {
    case EK_OPTION_TEXT:
    case EK_OPTION_PATH:
        return store_text(value, o, text, folder, e);
    case EK_OPTION_TEXTS:
        return add_text(value, o, text, e);
    case EK_OPTION_INT:
    case EK_OPTION_DURATION:
    case EK_OPTION_BYTES:
        return store_number(value, o, text, e);
    case EK_OPTION_CHOICE:
        return store_choice(value, o, text, e);
    case EK_OPTION_PROPERTIES:
        return store_pair(c, o, text, e);
    case EK_OPTION_LATER:
        break;
    }
    return ek_fail(e, EK_ECONFIG, "'%s' is not available in this version", o->key);
}

int ek_config_unknown(const char *section, const char *word, struct ek_error *e)
{
    char near[KEY_BYTES];
    if (ek_option_suggest(section, word, near, sizeof near))
        return ek_fail(e, EK_ECONFIG, "unknown key '%s', did you mean '%s'?", word, near);
    return ek_fail(e, EK_ECONFIG, "unknown key '%s'", word);
}

int ek_config_set(struct ek_config *c, const char *key, const char *text, struct ek_error *e)
{
    char section[KEY_BYTES];
    const struct ek_option *o = ek_option_find(key);
    if (o && ek_sink_option_any(o))
        return ek_fail(e, EK_EUSAGE, "'%s' is of an element of 'alerts'", key);
    if (o)
        return ek_config_store(c, o, text, NULL, e);
    const char *dot = strrchr(key, '.');
    snprintf(section, sizeof section, "%.*s", dot ? (int)(dot - key) : 0, key);
    return ek_config_unknown(section, dot ? dot + 1 : key, e);
}

void ek_config_place(const struct ek_config *c, const char *key, struct ek_error *e)
{
    const struct ek_option *o = ek_option_find(key);
    struct ek_key_place at = o ? c->places[ek_option_number(o)] : (struct ek_key_place){0, 0};
    if (c->path)
        ek_error_place(e, c->path, at.line, at.column);
}

void ek_config_fleet_ticks(const struct ek_config *c, char topic[EK_FLEET_TOPIC_BYTES])
{
    bool own = c->fleet_ticks_topic != NULL;
    snprintf(topic, EK_FLEET_TOPIC_BYTES, "%s%s", own ? c->fleet_ticks_topic : c->fleet_topic,
             own ? "" : ".ticks");
}

int64_t ek_config_commit_every(const struct ek_config *c)
{
    enum { OFFSETS_MS = 1000, TRANSACTION_MS = 100 };
    if (c->commit_every_ms)
        return c->commit_every_ms;
    return c->delivery == EK_EXACTLY_ONCE ? TRANSACTION_MS : OFFSETS_MS;
}

size_t ek_config_topic(const struct ek_config *c, const char *topic)
{
    size_t number = 0;
    while (number < c->topics.count && strcmp(c->topics.items[number], topic) != 0)
        number++;
    return number;
}

int ek_config_workers(const struct ek_config *c)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (c->workers)
        return (int)c->workers;
    return processors < 1 ? 1 : processors > EK_WORKERS_MAX ? EK_WORKERS_MAX : (int)processors;
}
