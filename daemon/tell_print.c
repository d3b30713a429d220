#include "daemon/tell_print.h"

#include "base/error.h"
#include "daemon/columns.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { WORDS_BYTES = 2000, TIME_BYTES = 24 };

/* NULL when it is no JSON. */
static json_t *parsed(const struct ek_buf *answer)
{
    return json_loadb((const char *)answer->data, answer->length, 0, NULL);
}

static const char *text_or(const json_t *o, const char *key, const char *none)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && *text ? text : none;
}

void ek_tell_error(const struct ek_buf *answer, char *text, size_t size)
{
    json_t *o = parsed(answer);
    snprintf(text, size, "%s", text_or(o, "error", ""));
    json_decref(o);
}

/* "arm=B", or "all". */
static void segment_text(const json_t *of, char *text, size_t size)
{
    void *pair = json_object_iter(json_object_get(of, "segment"));
    const char *value = pair ? json_string_value(json_object_iter_value(pair)) : NULL;
    if (pair)
        snprintf(text, size, "%s=%s", json_object_iter_key(pair), value ? value : "?");
    else
        snprintf(text, size, "all");
}

/* Of the stream, in UTC. */
static void time_text(const json_t *o, const char *key, char *text)
{
    const json_t *v = json_object_get(o, key);
    time_t seconds = (time_t)(json_integer_value(v) / 1000);
    struct tm at;
    if (!json_is_integer(v) || !gmtime_r(&seconds, &at) ||
        !strftime(text, TIME_BYTES, "%Y-%m-%d %H:%M", &at))
        snprintf(text, TIME_BYTES, "-");
}

static void print_line(const json_t *o, const char *label, const char *key, FILE *to)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_integer(v) && !json_is_string(v) && !json_is_boolean(v))
        return;
    fprintf(to, "%-18s ", label);
    if (json_is_integer(v))
        fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else
        ek_print_safe(json_is_string(v) ? json_string_value(v)
                      : json_is_true(v) ? "yes"
                                        : "no",
                      to);
    fputc('\n', to);
}

static void print_paused(const json_t *paused, FILE *to)
{
    const char *who = text_or(paused, "who", NULL), *why = text_or(paused, "why", NULL);
    fprintf(to, "%-18s %s", "paused", json_is_object(paused) ? "yes" : "no");
    if (who)
        fputs(", by ", to);
    ek_print_safe(who ? who : "", to);
    if (why)
        fputs(": ", to);
    ek_print_safe(why ? why : "", to);
    fputc('\n', to);
}

int ek_tell_status(const struct ek_buf *answer, FILE *to)
{
    static const struct {
        const char *label, *key;
    } lines[] = {{"service", "service"},
                 {"version", "version"},
                 {"ready", "ready"},
                 {"partitions", "partitions"},
                 {"lag", "lag"},
                 {"consumed", "consumed"},
                 {"passed", "passed"},
                 {"routed", "routed"},
                 {"dead letters", "dead_letters"},
                 {"observed queries", "observed_queries"},
                 {"open findings", "open_findings"},
                 {"plan version", "plan_version"}};
    json_t *o = parsed(answer);
    bool good = json_is_object(o);
    for (size_t i = 0; good && i < sizeof lines / sizeof *lines; i++)
        print_line(o, lines[i].label, lines[i].key, to);
    if (good)
        print_paused(json_object_get(o, "paused"), to);
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

/* "scale x100.3, cents" */
static void what_text(const json_t *finding, char *text, size_t size)
{
    const json_t *factor = json_object_get(finding, "factor");
    const char *unit = json_string_value(json_array_get(json_object_get(finding, "units"), 0));
    int n = snprintf(text, size, "%s", text_or(finding, "class", "not diagnosed yet"));
    if (json_is_number(factor))
        n += snprintf(text + n, size - (size_t)n, " x%.4g", json_number_value(factor));
    if (unit)
        snprintf(text + n, size - (size_t)n, ", %.200s", unit);
}

static int add_finding(struct ek_columns *c, const json_t *finding)
{
    char segment[WORDS_BYTES], since[TIME_BYTES], what[WORDS_BYTES], action[WORDS_BYTES];
    const char *mode = text_or(finding, "mode", NULL);
    segment_text(finding, segment, sizeof segment);
    time_text(finding, "since_ms", since);
    what_text(finding, what, sizeof what);
    snprintf(action, sizeof action, "%.100s%s%.100s", text_or(finding, "action", "-"),
             mode ? ", " : "", mode ? mode : "");
    return ek_columns_add(c, (const char *const[]){text_or(finding, "feature", "?"), segment,
                                                   text_or(finding, "state", "?"), action, since,
                                                   what});
}

static int add_cell(struct ek_columns *c, const json_t *cell)
{
    char segment[WORDS_BYTES];
    segment_text(cell, segment, sizeof segment);
    return ek_columns_add(c, (const char *const[]){text_or(cell, "feature", "?"), segment,
                                                   text_or(cell, "action", "?")});
}

/* A table of the objects of an array; false: it is none, or there is no memory. */
static bool print_table(const json_t *array, const char *const *titles, int count,
                        int (*add)(struct ek_columns *c, const json_t *of), FILE *to)
{
    struct ek_columns *c = json_is_array(array) ? ek_columns_new(titles, count) : NULL;
    bool good = c;
    size_t i;
    json_t *of;
    json_array_foreach(array, i, of)
    {
        good = good && !add(c, of);
    }
    if (good)
        ek_columns_print(c, to);
    ek_columns_free(c);
    return good;
}

int ek_tell_findings(const struct ek_buf *answer, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT",     "STATE",
                                         "ACTION",  "SINCE (UTC)", "WHAT"};
    json_t *o = parsed(answer);
    bool good = json_is_array(o);
    if (good)
        fputs(json_array_size(o) ? "\nopen findings\n" : "\nno open findings\n", to);
    if (good && json_array_size(o))
        good = print_table(o, titles, sizeof titles / sizeof *titles, add_finding, to);
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

int ek_tell_plan(const struct ek_buf *answer, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT", "ACTION"};
    json_t *o = parsed(answer);
    const json_t *cells = json_object_get(o, "cells");
    bool good = json_is_array(cells);
    if (good)
        fputs(json_array_size(cells) ? "\nplan in force\n" : "\nnothing in force\n", to);
    if (good && json_array_size(cells))
        good = print_table(cells, titles, sizeof titles / sizeof *titles, add_cell, to);
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

int ek_tell_paused(const struct ek_buf *answer, FILE *to)
{
    json_t *o = parsed(answer);
    bool good = json_is_object(o);
    bool paused = json_is_object(json_object_get(o, "paused"));
    bool changed = json_is_true(json_object_get(o, "changed"));
    if (good)
        fprintf(to, "%s%s\n", paused ? "paused" : "not paused", changed ? "" : ", as it was");
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

static void print_accept(const json_t *o, const char *segment, FILE *to)
{
    int64_t version = json_integer_value(json_object_get(o, "accept"));
    bool reverted = !strcmp(text_or(o, "what", ""), "revert");
    ek_print_safe(text_or(o, "feature", "?"), to);
    fputs(strcmp(segment, "all") != 0 ? ", " : "", to);
    ek_print_safe(strcmp(segment, "all") != 0 ? segment : "", to);
    fprintf(to, ": x%.4g is %s", json_number_value(json_object_get(o, "factor")),
            reverted ? "no longer normal" : "normal from now on");
    if (!reverted)
        fprintf(to, "; 'evenkeel revert %" PRId64 "' takes that back", version);
    fputc('\n', to);
}

int ek_tell_decision(const struct ek_buf *answer, FILE *to)
{
    char segment[WORDS_BYTES];
    json_t *o = parsed(answer);
    bool good = json_is_object(o);
    segment_text(o, segment, sizeof segment);
    if (good)
        print_accept(o, segment, to);
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}
