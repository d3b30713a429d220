/* Typed node readers of yaml/yaml.h. */
#include "yaml/yaml.h"

#include "base/alloc.h"
#include "base/parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 60, CHOICES_BYTES = 200, NUMBER_BYTES = 24, KEYS_BYTES = 150 };

const struct ek_node *ek_node_get(const struct ek_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != EK_NODE_MAPPING)
        return NULL;
    for (size_t i = 0; i < mapping->count; i++)
        if (!strcmp(mapping->children[2 * i].text, key))
            return &mapping->children[2 * i + 1];
    return NULL;
}

int ek_node_fail(const struct ek_yaml *y, const struct ek_node *n, struct ek_error *e,
                 const char *format, ...)
{
    char message[sizeof e->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return ek_fail_at(e, EK_ECONFIG, ek_yaml_name(y), n->line, n->column, "%s", message);
}

/* Fail with `'KEY' must be WANTED, not VALUE`. */
int ek_node_wrong(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                  const char *desired, struct ek_error *e)
{
    if (n->kind == EK_NODE_MAPPING)
        return ek_node_fail(y, n, e, "'%s' must be %s, not a mapping", what, desired);
    if (n->kind == EK_NODE_SEQUENCE)
        return ek_node_fail(y, n, e, "'%s' must be %s, not a list", what, desired);
    if (!*n->text && !n->quoted)
        return ek_node_fail(y, n, e, "'%s' has no value, it must be %s", what, desired);
    return ek_node_fail(y, n, e, "'%s' must be %s, not %s'%.*s'", what, desired,
                        n->quoted ? "the text " : "", SHOWN_BYTES, n->text);
}

static bool is_plain(const struct ek_node *n)
{
    return n->kind == EK_NODE_SCALAR && !n->quoted;
}

/* Return true for YAML's null. */
static bool is_null(const struct ek_node *n)
{
    static const char *const words[] = {"null", "Null", "NULL", "~"};
    for (size_t i = 0; is_plain(n) && i < sizeof words / sizeof *words; i++)
        if (!strcmp(n->text, words[i]))
            return true;
    return false;
}

int ek_node_text(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                 const char **out, struct ek_error *e)
{
    if (n->kind != EK_NODE_SCALAR || (!n->quoted && !*n->text))
        return ek_node_wrong(y, n, what, "a text", e);
    if (is_null(n))
        return ek_node_fail(y, n, e,
                            "'%s' has no value (%s): write a text, in quotes where '%s' is meant",
                            what, n->text, n->text);
    *out = n->text;
    return EK_OK;
}

int ek_node_bool(const struct ek_yaml *y, const struct ek_node *n, const char *what, bool *out,
                 struct ek_error *e)
{
    if (!is_plain(n) || (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0))
        return ek_node_wrong(y, n, what, "true or false", e);
    *out = !strcmp(n->text, "true");
    return EK_OK;
}

int ek_node_double(const struct ek_yaml *y, const struct ek_node *n, const char *what, double low,
                   double high, double *out, struct ek_error *e)
{
    double value;
    if (!is_plain(n) || ek_parse_finite(n->text, EK_WHOLE, &value))
        return ek_node_wrong(y, n, what, "a number", e);
    if (value >= low && value <= high) {
        *out = value;
        return EK_OK;
    }
    if (isfinite(low) && isfinite(high))
        return ek_node_fail(y, n, e, "'%s' must be from %g to %g, not %s", what, low, high,
                            n->text);
    return ek_node_fail(y, n, e, "'%s' must be at %s %g, not %s", what,
                        isfinite(low) ? "least" : "most", isfinite(low) ? low : high, n->text);
}

int ek_node_out_of_range(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                         const char *low, const char *high, struct ek_error *e)
{
    if (!strcmp(low, high))
        return ek_node_fail(y, n, e, "'%s' must be %s, not %.*s", what, low, SHOWN_BYTES, n->text);
    return ek_node_fail(y, n, e, "'%s' must be from %s to %s, not %.*s", what, low, high,
                        SHOWN_BYTES, n->text);
}

int ek_node_int(const struct ek_yaml *y, const struct ek_node *n, const char *what, int64_t low,
                int64_t high, int64_t *out, struct ek_error *e)
{
    int64_t value = 0;
    int rc = is_plain(n) ? ek_parse_i64(n->text, EK_WHOLE, &value) : EK_EFORMAT;
    if (rc == EK_EFORMAT)
        return ek_node_wrong(y, n, what, "a whole number", e);
    if (!rc && value >= low && value <= high) {
        *out = value;
        return EK_OK;
    }
    char least[NUMBER_BYTES], most[NUMBER_BYTES];
    snprintf(least, sizeof least, "%lld", (long long)low);
    snprintf(most, sizeof most, "%lld", (long long)high);
    return ek_node_out_of_range(y, n, what, least, most, e);
}

int ek_node_check_kind(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                       enum ek_node_kind kind, struct ek_error *e)
{
    static const char *const kinds[] = {"a text", "a list", "a mapping (key: value)"};
    return n->kind == kind ? EK_OK : ek_node_wrong(y, n, what, kinds[kind], e);
}

/* Format `a, b or c`, truncated to the buffer. */
static void list_names(char *text, size_t size, const char *const *words, size_t count)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 words[i]);
}

int ek_node_choice(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                   const char *const *words, size_t count, int *out, struct ek_error *e)
{
    const char *text = NULL;
    int rc = ek_node_text(y, n, what, &text, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) != 0)
            continue;
        *out = (int)i;
        return EK_OK;
    }
    char all[CHOICES_BYTES];
    list_names(all, sizeof all, words, count);
    const char *near = ek_nearest_name(text, words, count);
    return near
               ? ek_node_fail(y, n, e, "unknown %s '%.*s', did you mean '%s'?", what, SHOWN_BYTES,
                              text, near)
               : ek_node_fail(y, n, e, "'%s' must be %s, not '%.*s'", what, all, SHOWN_BYTES, text);
}

static int check_key(const struct ek_yaml *y, const struct ek_node *key, const char *const *known,
                     size_t count, struct ek_error *e)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(known[i], key->text))
            return EK_OK;
    char all[CHOICES_BYTES];
    list_names(all, sizeof all, known, count);
    const char *near = ek_nearest_name(key->text, known, count);
    if (near)
        return ek_node_fail(y, key, e, "unknown key '%.*s', did you mean '%s'?", SHOWN_BYTES,
                            key->text, near);
    bool is_short = strlen(all) < KEYS_BYTES;
    return ek_node_fail(y, key, e, "unknown key '%.*s'%s%s", SHOWN_BYTES, key->text,
                        is_short ? ": it must be " : "", is_short ? all : "");
}

int ek_node_all_keys(const struct ek_yaml *y, const struct ek_node *mapping,
                     const char *const *known, size_t count, struct ek_error_list *faults,
                     struct ek_error *e)
{
    if (mapping->kind != EK_NODE_MAPPING)
        return ek_node_fail(y, mapping, e, "a mapping (key: value) is expected here");
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < mapping->count; i++)
        rc = ek_error_list_collect(faults, check_key(y, &mapping->children[2 * i], known, count, e),
                                   e);
    return rc;
}

int ek_node_keys(const struct ek_yaml *y, const struct ek_node *mapping, const char *const *known,
                 size_t count, struct ek_error *e)
{
    return ek_node_all_keys(y, mapping, known, count, NULL, e);
}
