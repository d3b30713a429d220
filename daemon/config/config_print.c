/* The configuration in force as YAML. */
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"
#include "daemon/base/url.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_BYTES = 64, WORD_BYTES = 64 };

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

static int print_text(const struct ek_option *o, const char *text, struct ek_buf *out)
{
    char shown[EK_URL_SHOWN_BYTES];
    return quote(o->secret                         ? "***"
                 : o->url && ek_sink_option_any(o) ? ek_url_show(text, shown)
                                                   : text,
                 out);
}

static int print_value(const struct ek_config *c, const struct ek_option *o, struct ek_buf *out)
{
    char word[WORD_BYTES];
    const void *value = ek_config_value(c, o);
    switch (o->type) {
    case EK_OPTION_TEXTS:
        return print_texts(value, out);
    case EK_OPTION_PROPERTIES:
        return print_properties(value, out);
    case EK_OPTION_CHOICE:
        ek_option_word_at(o->choices, (int)*(const int64_t *)value, word, sizeof word);
        return ek_buf_text(out, word);
    case EK_OPTION_DURATION:
    case EK_OPTION_INT:
    case EK_OPTION_BYTES:
        return ek_buf_text(out, ek_config_quantity(o, *(const int64_t *)value, word, sizeof word));
    default:
        return print_text(o, *(char *const *)value, out);
    }
}

static bool is_set(const struct ek_config *c, const struct ek_option *o)
{
    if (o->type == EK_OPTION_LATER)
        return false;
    if (o->type == EK_OPTION_TEXT || o->type == EK_OPTION_PATH)
        return *(char *const *)ek_config_value(c, o) != NULL;
    return true;
}

/* "alerts.kafka.topic" is an element of a list with a mapping in it. */
static int print_kafka(const struct ek_config *c, const struct ek_option *o, const char *rest,
                       struct ek_buf *out)
{
    size_t kind = strcspn(rest, ".");
    int rc = ek_buf_printf(out, "  - {%.*s: {%s: ", (int)kind, rest, rest + kind + 1);
    if (!rc)
        rc = print_value(c, o, out);
    return rc ? rc : ek_buf_text(out, "}}\n");
}

/* c: with the sink as the one that is being read. */
static int print_sink(const struct ek_config *c, struct ek_buf *out)
{
    bool first = true;
    int rc = ek_buf_printf(out, "  - {%s: {", ek_sink_kind_name(c->sink.kind));
    for (size_t i = 0; !rc && i < ek_option_count(); i++) {
        const struct ek_option *o = ek_option_at(i);
        if (!ek_sink_option(o, c->sink.kind) || !is_set(c, o))
            continue;
        rc = ek_buf_printf(out, "%s%s: ", first ? "" : ", ", strrchr(o->key, '.') + 1);
        first = false;
        if (!rc)
            rc = print_value(c, o, out);
    }
    return rc ? rc : ek_buf_text(out, "}}\n");
}

static int print_alerts(const struct ek_config *c, struct ek_buf *out)
{
    const struct ek_option *kafka = ek_option_find("alerts.kafka.topic");
    int rc = EK_OK;
    if (!is_set(c, kafka) && !c->sinks.count)
        return EK_OK;
    rc = ek_buf_text(out, "alerts:\n");
    if (!rc && is_set(c, kafka))
        rc = print_kafka(c, kafka, kafka->key + strlen("alerts."), out);
    for (size_t i = 0; !rc && i < c->sinks.count; i++) {
        struct ek_config shown = *c;
        shown.sink = c->sinks.items[i];
        rc = print_sink(&shown, out);
    }
    return rc;
}

static int print_option(const struct ek_config *c, const struct ek_option *o, char *section,
                        struct ek_buf *out)
{
    size_t length = strcspn(o->key, ".");
    const char *rest = o->key + length + 1;
    int rc = EK_OK;
    if (strlen(section) != length || memcmp(section, o->key, length) != 0) {
        snprintf(section, SECTION_BYTES, "%.*s", (int)length, o->key);
        rc = ek_buf_printf(out, "%s:\n", section);
    }
    if (!rc)
        rc = ek_buf_printf(out, "  %s: ", rest);
    if (!rc)
        rc = print_value(c, o, out);
    return rc ? rc : ek_buf_text(out, "\n");
}

int ek_config_print(const struct ek_config *c, struct ek_buf *out)
{
    char section[SECTION_BYTES] = "";
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < ek_option_count(); i++) {
        const struct ek_option *o = ek_option_at(i);
        if (!strcmp(o->key, "alerts.kafka.topic"))
            rc = print_alerts(c, out);
        else if (!ek_sink_option_any(o) && is_set(c, o))
            rc = print_option(c, o, section, out);
    }
    return rc;
}
