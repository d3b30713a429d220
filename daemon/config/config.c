#include "daemon/config/config.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "base/portable.h"
#include "daemon/base/process.h"
#include "daemon/base/url.h"
#include "daemon/config/config_internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RANDOM_BYTES = 8 };

int ek_instance_name(const struct ek_config *c, char name[EK_INSTANCE_BYTES], struct ek_error *e)
{
    unsigned char random[RANDOM_BYTES];
    if (c->instance) {
        snprintf(name, EK_INSTANCE_BYTES, "%s", c->instance);
        return EK_OK;
    }
    if (!ek_random_bytes(random, sizeof random, true))
        return ek_fail(e, EK_EIO, "no random name for this instance; set 'service.instance'");
    for (int i = 0; i < RANDOM_BYTES; i++)
        snprintf(name + 2 * i, 3, "%02x", random[i]);
    return EK_OK;
}

/* The length keeps apart group "a-b" with instance "c" and group "a" with instance "b-c". */
size_t ek_transactional_id(const struct ek_config *c, const char *name,
                           char id[EK_TRANSACTIONAL_ID_BYTES])
{
    const char *group = c->group ? c->group : "";
    return (size_t)snprintf(id, EK_TRANSACTIONAL_ID_BYTES, "evenkeel-%zu-%s-%s", strlen(group),
                            group, name) -
           strlen(name);
}

uint64_t ek_instance_salt(void)
{
    uint64_t random = 0;
    return ek_random_bytes(&random, sizeof random, false) ? random : 0;
}

enum { SECTION_BYTES = 128, SECRET_BYTES_MAX = 4000 };

void ek_property_release(struct ek_property *p)
{
    ek_free(p->name);
    ek_free(p->value);
    ek_free(p->source);
    ek_free(p->folder);
    *p = (struct ek_property){.name = NULL};
}

int ek_property_copy(struct ek_property *out, const struct ek_property *p, struct ek_error *e)
{
    *out = *p;
    out->name = ek_strdup(p->name);
    out->value = ek_strdup(p->value);
    out->source = p->source ? ek_strdup(p->source) : NULL;
    out->folder = p->folder ? ek_strdup(p->folder) : NULL;
    if (out->name && out->value && !out->source == !p->source && !out->folder == !p->folder)
        return EK_OK;
    ek_property_release(out);
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static void clear_properties(struct ek_property_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ek_property_release(&list->items[i]);
    ek_free(list->items);
    *list = (struct ek_property_list){NULL, 0};
}

static void clear_sinks(struct ek_config *c)
{
    for (size_t i = 0; i < c->sinks.count; i++)
        ek_keys_release(ek_config_keys(), EK_IN_SINK, &c->sinks.items[i]);
    ek_free(c->sinks.items);
    c->sinks = (struct ek_alert_sinks){NULL, 0};
}

void ek_config_paths_release(struct ek_config_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        ek_free((char *)(uintptr_t)paths->items[i].name);
        ek_free((char *)(uintptr_t)paths->items[i].path);
    }
    ek_free(paths->items);
    ek_free(paths->path);
    *paths = (struct ek_config_paths){NULL, NULL, 0};
}

void ek_config_free(struct ek_config *c)
{
    if (!c)
        return;
    ek_keys_release(ek_config_keys(), EK_IN_CONFIG, c);
    clear_properties(&c->librdkafka);
    clear_properties(&c->output_librdkafka);
    ek_config_paths_release(&c->segments);
    ek_config_paths_release(&c->query_features);
    ek_config_paths_release(&c->features);
    clear_sinks(c);
    ek_error_list_release(&c->notes);
    ek_free(c->path);
    ek_free(c->places);
    ek_free(c);
}

struct ek_key_source ek_config_source(struct ek_config *c, struct ek_error *e)
{
    return (struct ek_key_source){.table = ek_config_keys(),
                                  .base = {[EK_IN_CONFIG] = c},
                                  .context = c,
                                  .scalar = ek_config_store,
                                  .e = e};
}

int ek_config_new(struct ek_config **out, struct ek_error *e)
{
    struct ek_error unwanted;
    struct ek_config *c = ek_calloc(1, sizeof *c);
    struct ek_key_source s = ek_config_source(c, e ? e : &unwanted);
    if (c)
        ek_error_list_init(&c->notes);
    if (c)
        c->places = ek_calloc(s.table->count, sizeof *c->places);
    if (!c || !c->places) {
        ek_free(c);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    int rc = ek_keys_set_built_in(&s, "");
    if (rc)
        ek_config_free(c);
    else
        *out = c;
    return rc;
}

static bool is_aws(const struct ek_property *p)
{
    return !strcmp(p->name, "sasl.oauthbearer.method") && !strcmp(p->value, EK_OAUTH_AWS);
}

/* The public address is part of alerts; those of sinks are secrets as a whole. */
static bool is_secret_url(const struct ek_key_row *k, const char *url)
{
    return k->flags & EK_KEY_URL &&
           (k->base == EK_IN_SINK ||
            (strcmp(k->path, "http.public_url") != 0 && ek_url_has_user(url)));
}

static bool has_secret_url(const struct ek_config *c)
{
    const struct ek_key_table *t = ek_config_keys();
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        const char *url = k->base == EK_IN_CONFIG && k->flags & EK_KEY_URL
                              ? *(char *const *)ek_key_member(k, c)
                              : NULL;
        if (url && is_secret_url(k, url))
            return true;
    }
    return false;
}

bool ek_config_has_secret(const struct ek_config *c)
{
    const struct ek_property_list *lists[] = {&c->librdkafka, &c->output_librdkafka};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            if (lists[i]->items[j].secret || is_aws(&lists[i]->items[j]))
                return true;
    return c->token_file || c->sinks.count || c->registry_password || c->registry_token ||
           has_secret_url(c);
}

/* Errors do not quote the value, because it may contain a secret. */
static int check_text(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    bool secret = k->flags & EK_KEY_SECRET;
    int invalid = k->flags & EK_KEY_URL && *n->text ? ek_url_check(n->text) : EK_OK;
    if (invalid == EK_ENOMEM)
        return ek_fail(s->e, EK_ENOMEM, "out of memory");
    if (invalid) /* the value may be a secret */
        return ek_node_fail(s->yaml, n, s->e,
                            "'%s' must be an address such as https://HOST or http://HOST:PORT/PATH",
                            k->path);
    if (secret && strpbrk(n->text, "\r\n"))
        return ek_node_fail(s->yaml, n, s->e, "'%s' has more than one line", k->path);
    if (secret && strlen(n->text) > SECRET_BYTES_MAX)
        return ek_node_fail(s->yaml, n, s->e, "'%s' has more than %d characters", k->path,
                            SECRET_BYTES_MAX);
    return EK_OK;
}

int ek_config_store(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    int rc = n->kind == EK_NODE_SCALAR ? check_text(s, k, n) : EK_OK;
    if (rc || k->type != EK_KEY_PATHS)
        return rc ? rc : ek_key_store(s, k, n);
    struct ek_config_paths *paths = ek_key_member(k, s->base[k->base]);
    const char *text;
    rc = ek_node_text(s->yaml, n, k->path, &text, s->e);
    if (rc)
        return rc;
    char *path = ek_strdup(text);
    if (!path)
        return ek_fail(s->e, EK_ENOMEM, "out of memory");
    ek_config_paths_release(paths);
    paths->path = path;
    return EK_OK;
}

int ek_config_add_path(struct ek_config_paths *paths, const char *name, const char *path,
                       struct ek_error *e)
{
    struct ek_named_path *items = ek_realloc(paths->items, paths->count + 1, sizeof *items);
    if (!items)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    paths->items = items;
    char *own_name = ek_strdup(name), *own_path = ek_strdup(path);
    if (own_name && own_path) {
        items[paths->count++] = (struct ek_named_path){own_name, own_path};
        return EK_OK;
    }
    ek_free(own_name);
    ek_free(own_path);
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_config_add_property(struct ek_property_list *list, const struct ek_property *p,
                           struct ek_error *e)
{
    struct ek_property *items = ek_realloc(list->items, list->count + 1, sizeof *items);
    if (!items)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    list->items = items;
    struct ek_property *own = &items[list->count];
    int rc = ek_property_copy(own, p, e);
    if (rc)
        return rc;
    own->secret = p->secret || ek_secret_name(p->name);
    list->count++;
    return EK_OK;
}

static int set_property(struct ek_config *c, const struct ek_key_row *k, const char *text,
                        struct ek_error *e)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return ek_fail(e, EK_ECONFIG, "'%s' must be name=value", k->path);
    char *name = ek_strndup(text, (size_t)(equals - text));
    if (!name)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    const struct ek_property p = {.name = name, .value = (char *)(uintptr_t)(equals + 1)};
    int rc = ek_config_add_property(ek_key_member(k, c), &p, e);
    ek_free(name);
    return rc;
}

static int unknown_key(const char *path, struct ek_error *e)
{
    char section[SECTION_BYTES];
    const char *names[EK_KEYS_MAX], *dot = strrchr(path, '.'), *word = dot ? dot + 1 : path;
    snprintf(section, sizeof section, "%.*s", dot ? (int)(dot - path) : 0, path);
    size_t count = ek_keys_list(ek_config_keys(), section, names, EK_KEYS_MAX);
    const char *near = ek_nearest_name(word, names, count);
    if (near)
        return ek_fail(e, EK_ECONFIG, "unknown key '%s', did you mean '%s'?", word, near);
    return ek_fail(e, EK_ECONFIG, "unknown key '%s'", word);
}

int ek_config_set(struct ek_config *c, const char *key, const char *text, struct ek_error *e)
{
    struct ek_error unwanted;
    struct ek_key_source s = ek_config_source(c, e ? e : &unwanted);
    const struct ek_key_row *k = ek_config_key(key);
    const struct ek_node n = {.kind = EK_NODE_SCALAR, .text = text};
    if (!k || k->type == EK_KEY_MAP || k->type == EK_KEY_LIST)
        return unknown_key(key, e);
    if (k->base == EK_IN_SINK)
        return ek_fail(e, EK_EUSAGE, "'%s' belongs to an element of 'alerts'", key);
    return k->type == EK_KEY_PROPERTIES ? set_property(c, k, text, e) : ek_config_store(&s, k, &n);
}

void ek_config_place(const struct ek_config *c, const char *key, struct ek_error *e)
{
    const struct ek_key_row *k = ek_config_key(key);
    struct ek_key_place at = k ? c->places[k - ek_config_keys()->keys] : (struct ek_key_place){0};
    if (c->path)
        ek_error_place(e, c->path, at.line, at.column);
}

void ek_config_evidence_topic(const struct ek_config *c, char topic[EK_FLEET_TOPIC_BYTES])
{
    bool own = c->fleet_evidence_topic != NULL;
    snprintf(topic, EK_FLEET_TOPIC_BYTES, "%s%s", own ? c->fleet_evidence_topic : c->fleet_topic,
             own ? "" : ".evidence");
}

int64_t ek_config_commit_interval_ms(const struct ek_config *c)
{
    enum { OFFSETS_MS = 1000, TRANSACTION_MS = 100 };
    if (c->commit_interval_ms)
        return c->commit_interval_ms;
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

static const char *const KINDS[EK_SINK_KINDS] = {"alertmanager", "webhook", "pagerduty"};

enum ek_sink_kind ek_sink_get_kind(const char *word)
{
    int kind = 0;
    while (kind < EK_SINK_KINDS && strcmp(word, KINDS[kind]) != 0)
        kind++;
    return (enum ek_sink_kind)kind;
}

void ek_sink_section(enum ek_sink_kind kind, char section[EK_SINK_SECTION_BYTES])
{
    snprintf(section, EK_SINK_SECTION_BYTES, "alerts.%s", KINDS[kind]);
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_target(const struct ek_alert_sink *a, const struct ek_alert_sink *b)
{
    return a->kind == b->kind && same(a->url, b->url) && same(a->routing_key, b->routing_key);
}

static int check_required(const struct ek_alert_sink *s, struct ek_error *e)
{
    const struct ek_key_table *t = ek_config_keys();
    char section[EK_SINK_SECTION_BYTES];
    ek_sink_section(s->kind, section);
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (ek_key_is_in(k, section) && k->flags & EK_KEY_REQUIRED &&
            !*(char *const *)ek_key_member(k, s))
            return ek_fail(e, EK_ECONFIG, "'%s' is missing; set it", k->path);
    }
    return EK_OK;
}

static int check_sink(const struct ek_config *c, const struct ek_alert_sink *s, struct ek_error *e)
{
    int rc = check_required(s, e);
    for (size_t i = 0; !rc && i < c->sinks.count; i++)
        if (same_target(s, &c->sinks.items[i]))
            rc = ek_fail(e, EK_ECONFIG, "'alerts.%s': duplicate of the sink in line %ld",
                         KINDS[s->kind], c->sinks.items[i].line);
    if (!rc && c->sinks.count == EK_ALERT_SINKS_MAX)
        rc = ek_fail(e, EK_ECONFIG, "'alerts' has more than %d elements", EK_ALERT_SINKS_MAX);
    return rc;
}

static void name_sink(const struct ek_config *c, struct ek_alert_sink *s)
{
    unsigned number = 1;
    for (size_t i = 0; i < c->sinks.count; i++)
        number += c->sinks.items[i].kind == s->kind;
    if (number == 1)
        snprintf(s->label, sizeof s->label, "%s", KINDS[s->kind]);
    else
        snprintf(s->label, sizeof s->label, "%s-%u", KINDS[s->kind], number);
}

int ek_config_add_sink(struct ek_config *c, struct ek_alert_sink *s, struct ek_error *e)
{
    int rc = check_sink(c, s, e);
    if (rc)
        return rc;
    struct ek_alert_sink *items = ek_realloc(c->sinks.items, c->sinks.count + 1, sizeof *items);
    if (!items)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->sinks.items = items;
    name_sink(c, s);
    items[c->sinks.count++] = *s;
    *s = (struct ek_alert_sink){.url = NULL};
    return EK_OK;
}

bool ek_config_sinks_same(const struct ek_alert_sinks *a, const struct ek_alert_sinks *b)
{
    bool alike = a->count == b->count;
    for (size_t i = 0; alike && i < a->count; i++) {
        const struct ek_alert_sink *x = &a->items[i], *y = &b->items[i];
        alike = same_target(x, y) && same(x->token, y->token) && same(x->ca_file, y->ca_file) &&
                x->format == y->format && x->severity == y->severity &&
                x->repeat_ms == y->repeat_ms;
    }
    return alike;
}

enum { WORD_BYTES = 64 };

/* YAML output of the effective configuration; errors stay in `out`. */
static void quote(const char *text, struct ek_buf *out)
{
    struct ek_buf doubled;
    ek_buf_init(&doubled, 0);
    for (const char *p = text; *p; p++)
        ek_buf_printf(&doubled, !strncmp(p, "${", 2) ? "$%c" : "%c", *p);
    if (doubled.rc)
        out->rc = doubled.rc;
    ek_buf_json(out, (const char *)doubled.data, doubled.length);
    ek_buf_release(&doubled);
}

static void print_texts(const struct ek_text_list *list, struct ek_buf *out)
{
    ek_buf_text(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        ek_buf_text(out, i ? ", " : "");
        quote(list->items[i], out);
    }
    ek_buf_text(out, "]");
}

static void print_properties(const struct ek_property_list *list, struct ek_buf *out)
{
    ek_buf_text(out, "{");
    for (size_t i = 0; i < list->count; i++) {
        const struct ek_property *p = &list->items[i];
        ek_buf_text(out, i ? ", " : "");
        quote(p->name, out);
        ek_buf_text(out, ": ");
        quote(p->secret ? "***" : p->value, out);
    }
    ek_buf_text(out, "}");
}

static void print_paths(const struct ek_config_paths *paths, struct ek_buf *out)
{
    if (paths->path) {
        quote(paths->path, out);
        return;
    }
    for (size_t i = 0; i < paths->count; i++) {
        ek_buf_text(out, i ? ", " : "{");
        quote(paths->items[i].name, out);
        ek_buf_text(out, ": ");
        quote(paths->items[i].path, out);
    }
    ek_buf_text(out, "}");
}

static void print_text(const struct ek_key_row *k, const char *text, struct ek_buf *out)
{
    char shown[EK_URL_REDACTED_BYTES];
    bool is_secret = is_secret_url(k, text);
    if (is_secret && ek_url_redact(text, shown) == EK_ENOMEM)
        out->rc = EK_ENOMEM;
    quote(k->flags & EK_KEY_SECRET ? "***" : is_secret ? shown : text, out);
}

static void print_value(const struct ek_key_row *k, const void *base, struct ek_buf *out)
{
    char word[WORD_BYTES];
    const void *value = ek_key_member(k, base);
    switch (k->type) {
    case EK_KEY_TEXTS:
        print_texts(value, out);
        break;
    case EK_KEY_PROPERTIES:
        print_properties(value, out);
        break;
    case EK_KEY_PATHS:
        print_paths(value, out);
        break;
    case EK_KEY_BOOL:
        ek_buf_text(out, ek_key_get(k, base) ? "true" : "false");
        break;
    case EK_KEY_CHOICE:
        ek_key_choice(k, (int)ek_key_get(k, base), word, sizeof word);
        ek_buf_text(out, word);
        break;
    case EK_KEY_DURATION:
    case EK_KEY_INT:
    case EK_KEY_SIZE:
        ek_buf_text(out, ek_key_quantity(k, ek_key_get(k, base), word, sizeof word));
        break;
    default:
        print_text(k, *(char *const *)value, out);
    }
}

/* Mappings and reserved keys have no member. */
static bool is_set(const struct ek_key_row *k, const void *base)
{
    if (k->type == EK_KEY_TEXT || k->type == EK_KEY_PATH)
        return *(char *const *)ek_key_member(k, base) != NULL;
    if (k->type == EK_KEY_TEXTS)
        return ((const struct ek_text_list *)ek_key_member(k, base))->count > 0;
    return k->size > 0;
}

/* Print the set keys of a section as `{key: value, ...}`. */
static void print_mapping(const char *section, unsigned number, const void *base,
                          struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    bool first = true;
    ek_buf_text(out, "{");
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (k->base != number || !ek_key_is_in(k, section) || !is_set(k, base))
            continue;
        ek_buf_printf(out, "%s%s: ", first ? "" : ", ", ek_key_name(k));
        first = false;
        print_value(k, base, out);
    }
    ek_buf_text(out, "}");
}

static void print_sink(const char *section, unsigned number, const void *base, struct ek_buf *out)
{
    ek_buf_printf(out, "  - {%s: ", section + strlen("alerts."));
    print_mapping(section, number, base, out);
    ek_buf_text(out, "}\n");
}

static void print_alerts(const struct ek_config *c, struct ek_buf *out)
{
    char section[EK_SINK_SECTION_BYTES];
    if (!c->alert_topic && !c->sinks.count)
        return;
    ek_buf_text(out, "alerts:\n");
    if (c->alert_topic)
        print_sink("alerts.kafka", EK_IN_CONFIG, c, out);
    for (size_t i = 0; i < c->sinks.count; i++) {
        ek_sink_section(c->sinks.items[i].kind, section);
        print_sink(section, EK_IN_SINK, &c->sinks.items[i], out);
    }
}

/* Return whether a text of the mapping is set: numbers have defaults. */
static bool has_text(const char *section, const struct ek_config *c)
{
    const struct ek_key_table *t = ek_config_keys();
    for (size_t i = 0; i < t->count; i++)
        if (ek_key_is_in(&t->keys[i], section) && t->keys[i].type == EK_KEY_TEXT &&
            is_set(&t->keys[i], c))
            return true;
    return false;
}

static void print_section(const struct ek_config *c, const char *section, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    bool first = true;
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        bool is_mapping = k->type == EK_KEY_MAP && !k->size;
        if (!ek_key_is_in(k, section) || !(is_mapping ? has_text(k->path, c) : is_set(k, c)))
            continue;
        if (first)
            ek_buf_printf(out, "%s:\n", section);
        first = false;
        ek_buf_printf(out, "  %s: ", ek_key_name(k));
        if (is_mapping)
            print_mapping(k->path, EK_IN_CONFIG, c, out);
        else
            print_value(k, c, out);
        ek_buf_text(out, "\n");
    }
}

int ek_config_print(const struct ek_config *c, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (ek_key_is_in(k, "") && k->type == EK_KEY_LIST)
            print_alerts(c, out);
        else if (ek_key_is_in(k, ""))
            print_section(c, k->path, out);
    }
    return out->rc;
}
