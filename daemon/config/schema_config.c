/* The schema of the configuration, out of the table of options. */
#include "base/error.h"
#include "daemon/config/options.h"
#include "daemon/config/schema.h"
#include "daemon/config/schema_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 100 };
static const char EXPANDED[] = "\\$\\{";

static int write_number(struct ek_buf *out, const struct ek_option *o)
{
    bool limited = o->low < o->high;
    int rc = ek_schema_number(out, "integer", limited ? (double)o->low : -HUGE_VAL,
                              limited ? (double)o->high : HUGE_VAL);
    if (!rc && o->word && !(rc = ek_buf_text(out, ",")))
        rc = ek_schema_words(out, o->word);
    return rc;
}

static int write_texts(struct ek_buf *out)
{
    int rc = ek_schema_text(out, 0, 0);
    if (!rc)
        rc = ek_buf_text(out, ",{\"type\":\"array\",\"items\":");
    if (!rc)
        rc = ek_schema_text(out, 0, 0);
    return rc ? rc : ek_buf_text(out, "}");
}

/* What may stand there, one after the other. */
static int write_types(struct ek_buf *out, const struct ek_option *o)
{
    int rc;
    switch (o->type) {
    case EK_OPTION_INT:
        return write_number(out, o);
    case EK_OPTION_DURATION:
        rc = ek_schema_pattern(out, EK_SCHEMA_DURATION);
        break;
    case EK_OPTION_BYTES:
        rc = ek_schema_pattern(out, "^[0-9]+(B|KiB|MiB|GiB)?$");
        return rc || (rc = ek_buf_text(out, ","))
                   ? rc
                   : ek_schema_number(out, "integer", (double)o->low, (double)o->high);
    case EK_OPTION_CHOICE:
        return ek_schema_words(out, o->choices);
    case EK_OPTION_TEXTS:
        return write_texts(out);
    case EK_OPTION_PROPERTIES:
        return ek_buf_text(out, "{\"type\":\"object\",\"additionalProperties\":{\"type\":["
                                "\"string\",\"number\",\"boolean\"]}}");
    default:
        return ek_schema_text(out, 0, 0);
    }
    if (!rc && o->word && !(rc = ek_buf_text(out, ",")))
        rc = ek_schema_words(out, o->word);
    return rc;
}

static int write_option(struct ek_buf *out, const struct ek_option *o)
{
    int rc = ek_buf_text(out, "{\"description\":");
    if (!rc)
        rc = ek_buf_json(out, o->help, strlen(o->help));
    if (!rc)
        rc = ek_buf_text(out, ",\"anyOf\":[");
    if (!rc)
        rc = write_types(out, o);
    if (!rc && o->type != EK_OPTION_PROPERTIES && !(rc = ek_buf_text(out, ",")))
        rc = ek_schema_pattern(out, EXPANDED);
    return rc ? rc : ek_buf_text(out, "]}");
}

/* The first word of an option's key behind `section`; 0: it is not in it. */
static size_t word_in(const struct ek_option *o, const char *section)
{
    size_t length = strlen(section);
    if (o->type == EK_OPTION_LATER || strncmp(o->key, section, length) != 0)
        return 0;
    return strcspn(o->key + length, ".");
}

/* Whether an option before `number` has the same word there. */
static bool is_repeated(size_t number, const char *section, size_t length)
{
    size_t start = strlen(section);
    const char *word = ek_option_at(number)->key + start;
    for (size_t i = 0; i < number; i++)
        if (word_in(ek_option_at(i), section) == length &&
            !strncmp(ek_option_at(i)->key + start, word, length))
            return true;
    return false;
}

static int write_section(struct ek_buf *out, const char *section);

static int write_member(struct ek_buf *out, const struct ek_option *o, const char *section,
                        size_t length)
{
    char path[3 * PATH_BYTES], name[PATH_BYTES];
    const char *word = o->key + strlen(section);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    int rc = ek_schema_name(out, name);
    if (rc || !word[length])
        return rc ? rc : write_option(out, o);
    snprintf(path, sizeof path, "%.100s%s.", section, name);
    bool list = !strcmp(path, "alerts.");
    if (list)
        rc = ek_buf_text(out, "{\"type\":\"array\",\"items\":");
    if (!rc)
        rc = write_section(out, path);
    return !rc && list ? ek_buf_text(out, "}") : rc;
}

/* `section` ends with a dot, or is empty. */
static int write_members(struct ek_buf *out, const char *section)
{
    int rc =
        ek_buf_text(out, "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    bool any = false;
    for (size_t i = 0; !rc && i < ek_option_count(); i++) {
        size_t length = word_in(ek_option_at(i), section);
        if (!length || is_repeated(i, section, length))
            continue;
        rc = any ? ek_buf_text(out, ",") : EK_OK;
        any = true;
        if (!rc)
            rc = write_member(out, ek_option_at(i), section, length);
    }
    return rc ? rc : ek_buf_text(out, "}");
}

static int write_section(struct ek_buf *out, const char *section)
{
    int rc = ek_buf_text(out, "{");
    if (!rc)
        rc = write_members(out, section);
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_schema_config(struct ek_buf *out)
{
    int rc = ek_schema_head(out, "evenkeel configuration");
    if (!rc)
        rc = write_members(out, "");
    return rc ? rc : ek_buf_text(out, "}\n");
}
