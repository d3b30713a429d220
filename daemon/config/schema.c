/* The schema of the rules, out of their table of keys. That of the configuration is in
 * schema_config.c. */
#include "daemon/config/schema.h"

#include "base/error.h"
#include "daemon/config/schema_write.h"
#include "rules/rules.h"
#include "rules/rules_keys.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 100 };

static int write_section(struct ek_buf *out, const char *section);

/* Names of people's own, each with what stands at `path`: features, dimensions and values. */
static int write_named(struct ek_buf *out, const char *path)
{
    const struct ek_rules_key *k = ek_rules_key_find(path);
    int rc = ek_buf_text(out, "{\"type\":\"object\",\"additionalProperties\":");
    if (!rc)
        rc = k ? ek_schema_words(out, k->choices) : write_section(out, path);
    return rc ? rc : ek_buf_text(out, "}");
}

static int write_mapping(struct ek_buf *out, const struct ek_rules_key *k)
{
    char path[PATH_BYTES];
    const char *name;
    if (ek_rules_keys_of(k->path, &name, 1))
        return write_section(out, k->path);
    snprintf(path, sizeof path, "%s.*", k->path);
    if (ek_rules_keys_of(path, &name, 1))
        return write_named(out, path);
    int rc = ek_buf_text(out, "{\"type\":\"object\",\"additionalProperties\":");
    snprintf(path, sizeof path, "%s.*.*", k->path);
    if (!rc)
        rc = write_named(out, path);
    return rc ? rc : ek_buf_text(out, "}");
}

static int write_list(struct ek_buf *out, const struct ek_rules_key *k)
{
    char path[PATH_BYTES];
    const char *name;
    snprintf(path, sizeof path, "%s.*", k->path);
    int rc = ek_buf_text(out, "{\"type\":\"array\",\"items\":");
    if (!rc)
        rc = ek_rules_keys_of(path, &name, 1)
                 ? write_section(out, path)
                 : ek_buf_text(out, "{\"type\":[\"string\",\"object\"]}");
    return rc ? rc : ek_buf_text(out, "}");
}

static int write_texts(struct ek_buf *out, const struct ek_rules_key *k)
{
    int rc = ek_buf_text(out, "{\"type\":\"array\",\"items\":");
    if (!rc)
        rc = k->choices ? ek_schema_words(out, k->choices) : ek_schema_text(out, 0, 0);
    if (!rc && k->low < k->high)
        rc = ek_buf_printf(out, ",\"maxItems\":%.10g", k->high);
    return rc ? rc : ek_buf_text(out, "}");
}

static int write_segment(struct ek_buf *out)
{
    int rc = ek_buf_text(out, "{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":1,"
                              "\"additionalProperties\":");
    if (!rc)
        rc = ek_schema_text(out, 0, 0);
    return rc ? rc : ek_buf_text(out, "}");
}

static int write_type(struct ek_buf *out, const struct ek_rules_key *k)
{
    switch (k->type) {
    case EK_KEY_BOOL:
        return ek_buf_text(out, "{\"type\":\"boolean\"}");
    case EK_KEY_INT:
        return k->low == k->high ? ek_buf_printf(out, "{\"enum\":[%.10g]}", k->low)
                                 : ek_schema_number(out, "integer", k->low, k->high);
    case EK_KEY_NUMBER:
        return ek_schema_number(out, "number", k->low, k->high);
    case EK_KEY_DURATION:
        return ek_schema_pattern(out, EK_SCHEMA_DURATION);
    case EK_KEY_CHOICE:
        return ek_schema_words(out, k->choices);
    case EK_KEY_TEXTS:
        return write_texts(out, k);
    case EK_KEY_RATE:
        return ek_schema_pattern(out, "^1 per [1-9][0-9]* queries$");
    case EK_KEY_DATE:
        return ek_schema_pattern(out,
                                 "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$");
    case EK_KEY_SEGMENT:
        return write_segment(out);
    case EK_KEY_MAP:
        return write_mapping(out, k);
    case EK_KEY_LIST:
        return write_list(out, k);
    default:
        return ek_schema_text(out, k->low, k->low < k->high ? k->high : 0);
    }
}

/* Of a mapping or a segment, `choices` may stand instead. */
static int write_value(struct ek_buf *out, const struct ek_rules_key *k)
{
    bool either = k->choices && (k->type == EK_KEY_MAP || k->type == EK_KEY_SEGMENT);
    int rc = ek_buf_text(out, "{\"description\":");
    if (!rc)
        rc = ek_buf_json(out, k->help, strlen(k->help));
    if (!rc)
        rc = ek_buf_text(out, ",\"anyOf\":[");
    if (!rc && either && !(rc = ek_schema_words(out, k->choices)))
        rc = ek_buf_text(out, ",");
    if (!rc)
        rc = write_type(out, k);
    return rc ? rc : ek_buf_text(out, "]}");
}

static int write_required(struct ek_buf *out, const char *section)
{
    int rc = EK_OK;
    bool any = false;
    for (size_t i = 0; !rc && i < ek_rules_key_count(); i++) {
        const struct ek_rules_key *k = ek_rules_key_at(i);
        if (!k->required || !ek_rules_key_in(k, section))
            continue;
        rc = ek_buf_printf(out, "%s\"%s\"", any ? "," : ",\"required\":[", ek_rules_key_name(k));
        any = true;
    }
    return rc || !any ? rc : ek_buf_text(out, "]");
}

static int write_members(struct ek_buf *out, const char *section)
{
    int rc =
        ek_buf_text(out, "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    bool any = false;
    for (size_t i = 0; !rc && i < ek_rules_key_count(); i++) {
        const struct ek_rules_key *k = ek_rules_key_at(i);
        if (!ek_rules_key_in(k, section))
            continue;
        rc = any ? ek_buf_text(out, ",") : EK_OK;
        any = true;
        if (!rc)
            rc = ek_schema_name(out, ek_rules_key_name(k));
        if (!rc)
            rc = write_value(out, k);
    }
    if (!rc)
        rc = ek_buf_text(out, "}");
    return rc ? rc : write_required(out, section);
}

static int write_section(struct ek_buf *out, const char *section)
{
    int rc = ek_buf_text(out, "{");
    if (!rc)
        rc = write_members(out, section);
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_schema_rules(struct ek_buf *out)
{
    int rc = ek_schema_head(out, "evenkeel rules");
    if (!rc)
        rc = write_members(out, "");
    return rc ? rc : ek_buf_text(out, "}\n");
}
