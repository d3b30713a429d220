#include "daemon/http/api_words.h"

#include "base/date.h"
#include "base/parse.h"
#include "yaml/json_parse.h"
#include "rules/rules.h" /* limits of what people say */
#include "schema/words.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 1000 /* of a feature or segment; what is longer is none */ };

static int read_text(yyjson_val *value, const char *key, size_t most, const char **text,
                     struct ek_error *e)
{
    if (!yyjson_is_str(value))
        return ek_fail(e, EK_EUSAGE, "'%s' must be a text", key);
    *text = yyjson_get_str(value);
    return strlen(*text) > most
               ? ek_fail(e, EK_EUSAGE, "'%s' must have at most %zu bytes", key, most)
               : EK_OK;
}

static int read_author(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    return read_text(value, "author", EK_AUTHOR_BYTES, &w->author, e);
}

static int read_reason(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    return read_text(value, "reason", EK_REASON_BYTES, &w->reason, e);
}

static int read_feature(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    return read_text(value, "feature", NAME_BYTES, &w->feature, e);
}

static int read_segment(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    yyjson_obj_iter pair = yyjson_obj_iter_with(value);
    yyjson_val *key = yyjson_obj_iter_next(&pair), *of = yyjson_obj_iter_get_val(key);
    if (yyjson_is_null(value))
        return EK_OK;
    if (yyjson_obj_size(value) != 1 || !yyjson_is_str(of))
        return ek_fail(e, EK_EUSAGE,
                       "'segment' must be like {\"arm\": \"B\"}, or null for all traffic");
    w->dimension = yyjson_get_str(key);
    return read_text(of, w->dimension, NAME_BYTES, &w->value, e);
}

static int read_version(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    if (!yyjson_is_int(value) || yyjson_get_sint(value) < 1)
        return ek_fail(e, EK_EUSAGE, "'version' must be a whole number from 1 on");
    w->version = (uint64_t)yyjson_get_sint(value);
    return EK_OK;
}

static int read_begin_anew(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    w->begin_anew = yyjson_is_true(value);
    return yyjson_is_bool(value) ? EK_OK
                                 : ek_fail(e, EK_EUSAGE, "'begin_anew' must be true or false");
}

static int read_action(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    const char *names[EK_ACTION_COUNT];
    int rc = read_text(value, "action", NAME_BYTES, &w->action, e);
    if (rc || ek_action_parse(w->action) >= 0)
        return rc;
    for (int i = 0; i < EK_ACTION_COUNT; i++)
        names[i] = ek_action_name((enum ek_action)i);
    const char *near = ek_nearest_word(w->action, names, EK_ACTION_COUNT);
    return near ? ek_fail(e, EK_EUSAGE, "unknown action '%.60s', did you mean '%s'?", w->action,
                          near)
                : ek_fail(e, EK_EUSAGE, "unknown action '%.60s', there are %s, %s, %s and others",
                          w->action, names[0], names[1], names[2]);
}

static int read_until(struct ek_api_words *w, yyjson_val *value, struct ek_error *e)
{
    const char *text = NULL;
    int rc = read_text(value, "until", NAME_BYTES, &text, e);
    if (!rc && ek_parse_until_ms(text, &w->until_ms))
        rc = ek_fail(e, EK_EUSAGE,
                     "'until' must be a date like 2027-01-31 or 2027-01-31T12:00:00Z, not '%.60s'",
                     text);
    return rc;
}

/* Key k is bit k of enum ek_api_key. */
static const struct {
    const char *name;
    int (*read)(struct ek_api_words *w, yyjson_val *value, struct ek_error *e);
} KEYS[] = {{"author", read_author},   {"reason", read_reason},        {"feature", read_feature},
            {"segment", read_segment}, {"version", read_version},      {"action", read_action},
            {"until", read_until},     {"begin_anew", read_begin_anew}};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

static int unknown(const char *key, unsigned knows, struct ek_error *e)
{
    const char *names[KEY_COUNT];
    char all[200] = "";
    size_t count = 0;
    for (int k = 0; k < KEY_COUNT; k++) {
        if (!(knows & 1u << k))
            continue;
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", count ? ", " : "", KEYS[k].name);
        names[count++] = KEYS[k].name;
    }
    const char *near = ek_nearest_word(key, names, count);
    return near ? ek_fail(e, EK_EUSAGE, "unknown key '%.60s', did you mean '%s'?", key, near)
                : ek_fail(e, EK_EUSAGE, "unknown key '%.60s', there are %s", key, all);
}

static int read_keys(struct ek_api_words *w, unsigned knows, unsigned *said, struct ek_error *e)
{
    size_t i, max;
    yyjson_val *name, *value;
    yyjson_obj_foreach(yyjson_doc_get_root(w->body), i, max, name, value)
    {
        const char *key = yyjson_get_str(name);
        int k = 0;
        while (k < KEY_COUNT && !((knows & 1u << k) && !strcmp(key, KEYS[k].name)))
            k++;
        int rc = k < KEY_COUNT ? KEYS[k].read(w, value, e) : unknown(key, knows, e);
        if (rc)
            return rc;
        *said |= 1u << k;
    }
    return EK_OK;
}

static int parse(struct ek_api_words *w, const void *body, size_t length, struct ek_error *e)
{
    struct ek_json_fault problem;
    yyjson_doc *read;
    int rc = ek_json_parse(&read, body, length, false, &problem);
    w->body = read;
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    if (rc)
        return ek_fail(e, EK_EUSAGE, "line %d, column %d: %s", problem.line, problem.column,
                       problem.text);
    return yyjson_is_obj(yyjson_doc_get_root(w->body))
               ? EK_OK
               : ek_fail(e, EK_EUSAGE, "the body must be a JSON object");
}

int ek_api_words_read(struct ek_api_words *w, const void *body, size_t length, unsigned knows,
                      unsigned needs, struct ek_error *e)
{
    unsigned said = 0;
    *w = (struct ek_api_words){0};
    int rc = length ? parse(w, body, length, e) : EK_OK;
    if (!rc && w->body)
        rc = read_keys(w, knows, &said, e);
    for (int k = 0; !rc && k < KEY_COUNT; k++)
        if (needs & ~said & 1u << k)
            rc = ek_fail(e, EK_EUSAGE, "'%s' is needed", KEYS[k].name);
    return rc;
}

void ek_api_words_release(struct ek_api_words *w)
{
    yyjson_doc_free(w->body);
    w->body = NULL;
}
