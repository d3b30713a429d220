#include "daemon/config/config_sinks.h"

#include "base/alloc.h"
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"
#include "daemon/config/options.h"
#include "daemon/base/url.h"

#include <stdio.h>
#include <string.h>

static const char *const KINDS[EK_SINK_KINDS] = {"alertmanager", "webhook", "pagerduty"};
static const char SECTION[] = "alerts.";

enum ek_sink_kind ek_sink_kind_of(const char *word)
{
    int kind = 0;
    while (kind < EK_SINK_KINDS && strcmp(word, KINDS[kind]) != 0)
        kind++;
    return (enum ek_sink_kind)kind;
}

const char *ek_sink_kind_name(enum ek_sink_kind kind)
{
    return KINDS[kind];
}

bool ek_sink_option(const struct ek_option *o, enum ek_sink_kind kind)
{
    size_t length = strlen(KINDS[kind]);
    const char *word = o->key + sizeof SECTION - 1;
    return !strncmp(o->key, SECTION, sizeof SECTION - 1) && !strncmp(word, KINDS[kind], length) &&
           word[length] == '.';
}

bool ek_sink_option_any(const struct ek_option *o)
{
    for (int kind = 0; kind < EK_SINK_KINDS; kind++)
        if (ek_sink_option(o, (enum ek_sink_kind)kind))
            return true;
    return false;
}

static void release(struct ek_alert_sink *s)
{
    ek_free(s->url);
    ek_free(s->token);
    ek_free(s->ca_file);
    ek_free(s->routing_key);
    *s = (struct ek_alert_sink){.url = NULL};
}

void ek_config_sink_drop(struct ek_config *c)
{
    release(&c->sink);
}

void ek_config_sinks_clear(struct ek_config *c)
{
    release(&c->sink);
    for (size_t i = 0; i < c->sinks.count; i++)
        release(&c->sinks.items[i]);
    ek_free(c->sinks.items);
    c->sinks = (struct ek_alert_sinks){NULL, 0};
}

int ek_config_sink_begin(struct ek_config *c, enum ek_sink_kind kind, long line, long column,
                         struct ek_error *e)
{
    int rc = EK_OK;
    release(&c->sink);
    c->sink.kind = kind;
    c->sink.line = line;
    c->sink.column = column;
    for (size_t i = 0; !rc && i < ek_option_count(); i++) {
        const struct ek_option *o = ek_option_at(i);
        if (!ek_sink_option(o, kind))
            continue;
        c->places[i] = (struct ek_key_place){0, 0};
        if (o->initial)
            rc = ek_config_store(c, o, o->initial, NULL, e);
    }
    return rc;
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_target(const struct ek_alert_sink *a, const struct ek_alert_sink *b)
{
    return a->kind == b->kind && same(a->url, b->url) && same(a->routing_key, b->routing_key);
}

/* One whose value was refused is not missing. */
static int check_there(const struct ek_config *c, const char *key, const char *value,
                       struct ek_error *e)
{
    char path[64];
    snprintf(path, sizeof path, "%s%s.%s", SECTION, KINDS[c->sink.kind], key);
    const struct ek_option *o = ek_option_find(path);
    if (!o || value)
        return EK_OK;
    return ek_fail(e, EK_ECONFIG, "'%s' is missing: set it", path);
}

static int check_sink(const struct ek_config *c, struct ek_error *e)
{
    const struct ek_alert_sink *s = &c->sink;
    int rc = check_there(c, "url", s->url, e);
    if (!rc)
        rc = check_there(c, "routing_key", s->routing_key, e);
    for (size_t i = 0; !rc && i < c->sinks.count; i++)
        if (same_target(s, &c->sinks.items[i]))
            rc = ek_fail(e, EK_ECONFIG, "'alerts.%s': the same one stands in line %ld already",
                         KINDS[s->kind], c->sinks.items[i].line);
    if (!rc && c->sinks.count == EK_ALERT_SINKS_MAX)
        rc = ek_fail(e, EK_ECONFIG, "'alerts' has more than %d elements", EK_ALERT_SINKS_MAX);
    return rc;
}

static void name_sink(struct ek_config *c)
{
    unsigned number = 1;
    for (size_t i = 0; i < c->sinks.count; i++)
        number += c->sinks.items[i].kind == c->sink.kind;
    if (number == 1)
        snprintf(c->sink.label, sizeof c->sink.label, "%s", KINDS[c->sink.kind]);
    else
        snprintf(c->sink.label, sizeof c->sink.label, "%s-%u", KINDS[c->sink.kind], number);
}

int ek_config_sink_end(struct ek_config *c, struct ek_error *e)
{
    int rc = check_sink(c, e);
    if (rc)
        return rc;
    struct ek_alert_sink *items = ek_realloc(c->sinks.items, c->sinks.count + 1, sizeof *items);
    if (!items)
        return ek_fail(e, EK_ENOMEM, "no memory for 'alerts'");
    c->sinks.items = items;
    name_sink(c);
    items[c->sinks.count++] = c->sink;
    c->sink = (struct ek_alert_sink){.url = NULL};
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
