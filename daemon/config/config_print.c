/* YAML output of the effective configuration. */
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"
#include "daemon/base/url.h"

#include <string.h>

enum { WORD_BYTES = 64 };

/* Errors stay in `out`, also below. */
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

static void print_text(const struct ek_key_row *k, const char *text, struct ek_buf *out)
{
    char shown[EK_URL_REDACTED_BYTES];
    bool is_secret = k->flags & EK_KEY_URL && k->base == EK_IN_SINK;
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
    return k->size > 0;
}

/* Print the set keys of a section as `{key: value, ...}`. */
static void print_sink(const char *section, unsigned number, const void *base, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    bool first = true;
    ek_buf_printf(out, "  - {%s: {", section + strlen("alerts."));
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (k->base != number || !ek_key_is_in(k, section) || !is_set(k, base))
            continue;
        ek_buf_printf(out, "%s%s: ", first ? "" : ", ", ek_key_name(k));
        first = false;
        print_value(k, base, out);
    }
    ek_buf_text(out, "}}\n");
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

static void print_section(const struct ek_config *c, const char *section, struct ek_buf *out)
{
    const struct ek_key_table *t = ek_config_keys();
    bool first = true;
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (!ek_key_is_in(k, section) || !is_set(k, c))
            continue;
        if (first)
            ek_buf_printf(out, "%s:\n", section);
        first = false;
        ek_buf_printf(out, "  %s: ", ek_key_name(k));
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
