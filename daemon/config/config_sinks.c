#include "daemon/config/config_sinks.h"

#include "base/alloc.h"
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"

#include <stdio.h>
#include <string.h>

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

void ek_config_sinks_clear(struct ek_config *c)
{
    for (size_t i = 0; i < c->sinks.count; i++)
        ek_keys_release(ek_config_keys(), EK_IN_SINK, &c->sinks.items[i]);
    ek_free(c->sinks.items);
    c->sinks = (struct ek_alert_sinks){NULL, 0};
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
