/* The configuration in force as YAML. */
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"
#include "daemon/base/url.h"

#include <string.h>

enum { WORD_BYTES = 64 };

static int quote(const char *text, struct ek_buf *out)
{
    int rc = EK_OK;
    struct ek_buf doubled;
    ek_buf_init(&doubled, 0);
    for (const char *p = text; !rc && *p; p++)
        rc = ek_buf_printf(&doubled, !strncmp(p, "${", 2) ? "$%c" : "%c", *p);
    if (!rc)
        rc = ek_buf_json(out, (const char *)doubled.data, doubled.length);
    ek_buf_release(&doubled);
    return rc;
}

static int print_texts(const struct ek_text_list *list, struct ek_buf *out)
{
    int rc = ek_buf_text(out, "[");
    for (size_t i = 0; !rc && i < list->count; i++) {
        rc = ek_buf_text(out, i ? ", " : "");
        if (!rc)
            rc = quote(list->items[i], out);
    }
    return rc ? rc : ek_buf_text(out, "]");
}

static int print_properties(const struct ek_property_list *list, struct ek_buf *out)
{
    int rc = ek_buf_text(out, "{");
    for (size_t i = 0; !rc && i < list->count; i++) {
        const struct ek_property *p = &list->items[i];
        rc = ek_buf_text(out, i ? ", " : "");
        if (!rc)
            rc = quote(p->name, out);
        if (!rc)
            rc = ek_buf_text(out, ": ");
        if (!rc)
            rc = quote(p->secret ? "***" : p->value, out);
    }
    return rc ? rc : ek_buf_text(out, "}");
}

static int print_text(const struct ek_key_row *k, const char *text, struct ek_buf *out)
{
    char shown[EK_URL_SHOWN_BYTES];
    bool is_secret = k->flags & EK_KEY_URL && k->base == EK_IN_SINK;
    if (is_secret && ek_url_show(text, shown) == EK_ENOMEM)
        return EK_ENOMEM;
    return quote(k->flags & EK_KEY_SECRET ? "***" : is_secret ? shown : text, out);
}

static int print_value(const struct ek_key_row *k, const void *base, struct ek_buf *out)
{
    char word[WORD_BYTES];
    const void *value = ek_key_member(k, base);
    switch (k->type) {
    case EK_KEY_TEXTS:
        return print_texts(value, out);
    case EK_KEY_PROPERTIES:
        return print_properties(value, out);
    case EK_KEY_CHOICE:
        ek_key_choice(k, (int)ek_key_get(k, base), word, sizeof word);
        return ek_buf_text(out, word);
    case EK_KEY_DURATION:
    case EK_KEY_INT:
    case EK_KEY_SIZE:
        return ek_buf_text(out, ek_key_quantity(k, ek_key_get(k, base), word, sizeof word));
    default:
        return print_text(k, *(char *const *)value, out);
    }
}

/* Mappings and keys of later versions have no member. */
static bool is_set(const struct ek_key_row *k, const void *base)
{
    if (k->type == EK_KEY_TEXT || k->type == EK_KEY_PATH)
        return *(char *const *)ek_key_member(k, base) != NULL;
    return k->size > 0;
}

/* The keys of a section that are set, as `{key: value, ...}`. */
static int print_sink(const char *section, unsigned number, const void *base, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    bool first = true;
    int rc = ek_buf_printf(out, "  - {%s: {", section + strlen("alerts."));
    for (size_t i = 0; !rc && i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (k->base != number || !ek_key_is_in(k, section) || !is_set(k, base))
            continue;
        rc = ek_buf_printf(out, "%s%s: ", first ? "" : ", ", ek_key_name(k));
        first = false;
        if (!rc)
            rc = print_value(k, base, out);
    }
    return rc ? rc : ek_buf_text(out, "}}\n");
}

static int print_alerts(const struct ek_config *c, struct ek_buf *out)
{
    char section[EK_SINK_SECTION_BYTES];
    int rc = EK_OK;
    if (!c->alert_topic && !c->sinks.count)
        return EK_OK;
    rc = ek_buf_text(out, "alerts:\n");
    if (!rc && c->alert_topic)
        rc = print_sink("alerts.kafka", EK_IN_CONFIG, c, out);
    for (size_t i = 0; !rc && i < c->sinks.count; i++) {
        ek_sink_section(c->sinks.items[i].kind, section);
        rc = print_sink(section, EK_IN_SINK, &c->sinks.items[i], out);
    }
    return rc;
}

static int print_section(const struct ek_config *c, const char *section, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    bool first = true;
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (!ek_key_is_in(k, section) || !is_set(k, c))
            continue;
        if (first)
            rc = ek_buf_printf(out, "%s:\n", section);
        first = false;
        if (!rc)
            rc = ek_buf_printf(out, "  %s: ", ek_key_name(k));
        if (!rc)
            rc = print_value(k, c, out);
        if (!rc)
            rc = ek_buf_text(out, "\n");
    }
    return rc;
}

int ek_config_print(const struct ek_config *c, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (!ek_key_is_in(k, ""))
            continue;
        rc = k->type == EK_KEY_LIST ? print_alerts(c, out) : print_section(c, k->path, out);
    }
    return rc;
}
