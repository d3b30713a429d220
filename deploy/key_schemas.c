/* JSON Schemas of the key tables. */
#include "daemon/config/config_keys.h"
#include "deploy/key_pages.h"
#include "rules/rules_keys.h"

#include <string.h>

enum { PATH_BYTES = 100 };

struct schema {
    const struct ek_key_table *table;
    bool expands; /* a scalar may contain `${NAME}` */
    FILE *out;
};

static void write_text(const struct schema *s, const char *text, size_t length)
{
    fputc('"', s->out);
    for (size_t i = 0; i < length; i++)
        fprintf(s->out, text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    fputc('"', s->out);
}

/* Print `{"enum":["a","b"]}` of space-separated words. */
static void write_words(const struct schema *s, const char *words)
{
    fputs("{\"enum\":[", s->out);
    for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ') {
        fputs(p == words ? "" : ",", s->out);
        write_text(s, p, strcspn(p, " "));
    }
    fputs("]}", s->out);
}

/* Print the type string; YAML may also write its value as a number or boolean. */
static void write_string(const struct schema *s, const struct ek_key_row *k)
{
    fputs("{\"type\":[\"string\",\"number\",\"boolean\"]", s->out);
    if (k && k->low < k->high)
        fprintf(s->out, ",\"minLength\":%.10g,\"maxLength\":%.10g", k->low, k->high);
    fputs("}", s->out);
}

static void write_number(const struct schema *s, const struct ek_key_row *k, const char *type)
{
    fprintf(s->out, "{\"type\":\"%s\"", type);
    if (k->low < k->high)
        fprintf(s->out, ",\"minimum\":%.15g,\"maximum\":%.15g", k->low, k->high);
    fputs("}", s->out);
}

static void write_pattern(const struct schema *s, const char *pattern)
{
    fputs("{\"type\":\"string\",\"pattern\":", s->out);
    write_text(s, pattern, strlen(pattern));
    fputs("}", s->out);
}

static void write_section(const struct schema *s, const char *section);

static bool has_keys(const struct schema *s, const char *section)
{
    const char *name;
    return ek_keys_list(s->table, section, &name, 1) > 0;
}

/* Print a mapping of user-defined names (features, dimensions, values), each with the value at
 * `path`. */
static void write_named(const struct schema *s, const char *path)
{
    const struct ek_key_row *k = ek_key_find(s->table, path);
    fputs("{\"type\":\"object\",\"additionalProperties\":", s->out);
    if (k)
        write_words(s, k->choices);
    else
        write_section(s, path);
    fputs("}", s->out);
}

static void write_mapping(const struct schema *s, const struct ek_key_row *k)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.*", k->path);
    if (has_keys(s, k->path)) {
        write_section(s, k->path);
    } else if (has_keys(s, path)) {
        write_named(s, path);
    } else {
        fputs("{\"type\":\"object\",\"additionalProperties\":", s->out);
        snprintf(path, sizeof path, "%s.*.*", k->path);
        write_named(s, path);
        fputs("}", s->out);
    }
}

static void write_list(const struct schema *s, const struct ek_key_row *k)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.*", k->path);
    fputs("{\"type\":\"array\",\"items\":", s->out);
    if (has_keys(s, path))
        write_section(s, path);
    else if (has_keys(s, k->path))
        write_section(s, k->path);
    else
        fputs("{\"type\":[\"string\",\"object\"]}", s->out);
    fputs("}", s->out);
}

static void write_texts(const struct schema *s, const struct ek_key_row *k)
{
    if (k->flags & EK_KEY_OR_ONE) {
        write_string(s, NULL);
        fputs(",", s->out);
    }
    fputs("{\"type\":\"array\",\"items\":", s->out);
    if (k->choices)
        write_words(s, k->choices);
    else
        write_string(s, NULL);
    if (s->table->no_empty)
        fputs(",\"minItems\":1", s->out);
    if (k->low < k->high)
        fprintf(s->out, ",\"maxItems\":%.10g", k->high);
    fputs("}", s->out);
}

static void write_whole(const struct schema *s, const struct ek_key_row *k)
{
    if (k->type == EK_KEY_DURATION) {
        write_pattern(s, "^[0-9]+(ms|s|m|h|d)$");
    } else if (k->low == k->high) {
        fprintf(s->out, "{\"enum\":[%.10g]}", k->low);
    } else {
        if (k->type == EK_KEY_SIZE) {
            write_pattern(s, "^[0-9]+(B|KiB|MiB|GiB)?$");
            fputs(",", s->out);
        }
        write_number(s, k, "integer");
    }
}

static void write_type(const struct schema *s, const struct ek_key_row *k)
{
    switch (k->type) {
    case EK_KEY_BOOL:
        fputs("{\"type\":\"boolean\"}", s->out);
        return;
    case EK_KEY_INT:
    case EK_KEY_DURATION:
    case EK_KEY_SIZE:
        write_whole(s, k);
        return;
    case EK_KEY_NUMBER:
        write_number(s, k, "number");
        return;
    case EK_KEY_CHOICE:
        write_words(s, k->choices);
        return;
    case EK_KEY_TEXTS:
        write_texts(s, k);
        return;
    case EK_KEY_RATE:
        write_pattern(s, "^1 per [1-9][0-9]* lists$");
        return;
    case EK_KEY_DATE:
        write_pattern(s, "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$");
        return;
    case EK_KEY_SEGMENT:
        fputs("{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":1,"
              "\"additionalProperties\":",
              s->out);
        write_string(s, NULL);
        fputs("}", s->out);
        return;
    case EK_KEY_PATHS:
        write_string(s, NULL);
        fputs(",", s->out);
        /* fall through */
    case EK_KEY_PROPERTIES:
        fputs("{\"type\":\"object\",\"additionalProperties\":", s->out);
        write_string(s, NULL);
        fputs("}", s->out);
        return;
    case EK_KEY_MAP:
        write_mapping(s, k);
        return;
    case EK_KEY_LIST:
        write_list(s, k);
        return;
    default:
        write_string(s, k);
    }
}

static bool is_scalar(const struct ek_key_row *k)
{
    return k->type != EK_KEY_PROPERTIES && k->type != EK_KEY_MAP && k->type != EK_KEY_LIST;
}

/* Alternatives to the type are printed before or after it. */
static void write_value(const struct schema *s, const struct ek_key_row *k)
{
    fputs("{\"description\":", s->out);
    write_text(s, k->help, strlen(k->help));
    fputs(",\"anyOf\":[", s->out);
    if (k->choices && (k->type == EK_KEY_MAP || k->type == EK_KEY_SEGMENT)) {
        write_words(s, k->choices);
        fputs(",", s->out);
    }
    write_type(s, k);
    if (k->word) {
        fputs(",", s->out);
        write_words(s, k->word);
    }
    if (s->expands && is_scalar(k)) {
        fputs(",", s->out);
        write_pattern(s, "\\$\\{");
    }
    fputs("]}", s->out);
}

static void write_required(const struct schema *s, const char *section)
{
    bool any = false, has_owner = false;
    for (size_t i = 0; i < s->table->owner_count; i++)
        has_owner |= !strcmp(s->table->owners[i].section, section);
    for (size_t i = 0; has_owner && i < s->table->count; i++) {
        const struct ek_key_row *k = &s->table->keys[i];
        if (!(k->flags & EK_KEY_REQUIRED) || !ek_key_is_in(k, section))
            continue;
        fprintf(s->out, "%s\"%s\"", any ? "," : ",\"required\":[", ek_key_name(k));
        any = true;
    }
    fputs(any ? "]" : "", s->out);
}

static void write_members(const struct schema *s, const char *section)
{
    bool any = false;
    fputs("\"type\":\"object\",\"additionalProperties\":false,\"properties\":{", s->out);
    for (size_t i = 0; i < s->table->count; i++) {
        const struct ek_key_row *k = &s->table->keys[i];
        if (!ek_key_is_in(k, section) || k->type == EK_KEY_UNAVAILABLE)
            continue;
        fputs(any ? "," : "", s->out);
        write_text(s, ek_key_name(k), strlen(ek_key_name(k)));
        fputs(":", s->out);
        write_value(s, k);
        any = true;
    }
    fputs("}", s->out);
    write_required(s, section);
}

static void write_section(const struct schema *s, const char *section)
{
    fputs("{", s->out);
    write_members(s, section);
    fputs("}", s->out);
}

static void write_schema(const struct schema *s, const char *title)
{
    fprintf(s->out, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"%s\",",
            title);
    write_members(s, "");
    fputs("}\n", s->out);
}

void ek_schema_config(FILE *out)
{
    write_schema(&(struct schema){ek_config_keys(), true, out}, "evenkeel configuration");
}

void ek_schema_rules(FILE *out)
{
    write_schema(&(struct schema){ek_rules_keys(), false, out}, "evenkeel rules");
}
