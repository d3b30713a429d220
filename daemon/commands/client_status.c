#include "base/error.h"
#include "daemon/commands/client_print.h"

#include <math.h>
#include <string.h>

enum { FIGURE_BYTES = 64 };

static void print_line(const json_t *o, const char *label, const char *key, FILE *to)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_integer(v) && !json_is_string(v) && !json_is_boolean(v))
        return;
    fprintf(to, "%-18s ", label);
    if (json_is_integer(v) && json_integer_value(v) < 0)
        fputs("not known yet", to);
    else if (json_is_integer(v))
        fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else
        ek_print_safe(json_is_string(v) ? json_string_value(v)
                      : json_is_true(v) ? "yes"
                                        : "no",
                      to);
    fputc('\n', to);
}

static void print_words(const char *before, const char *words, FILE *to)
{
    if (!words)
        return;
    fputs(before, to);
    ek_print_safe(words, to);
}

/* Since when by a clock; by that of the stream where it is known only that a state has it. */
static void print_since(const json_t *paused, FILE *to)
{
    char since[EK_DATE_TEXT];
    if (!json_is_integer(json_object_get(paused, "since_ms")))
        return;
    ek_tell_time(paused, "since_ms", since);
    fprintf(to, ", since %s UTC%s", since,
            !strcmp(ek_tell_text(paused, "clock", "wall"), "stream") ? " of the stream" : "");
}

static void print_paused(const json_t *paused, FILE *to)
{
    fprintf(to, "%-18s %s", "paused", json_is_object(paused) ? "yes" : "no");
    print_since(paused, to);
    print_words(", by ", ek_tell_text(paused, "who", NULL), to);
    print_words(": ", ek_tell_text(paused, "why", NULL), to);
    fputc('\n', to);
}

/* With what is missing, as /ready has it. */
static void print_ready(const json_t *o, FILE *to)
{
    const json_t *ready = json_object_get(o, "ready"), *topic;
    const json_t *missing = json_object_get(o, "missing_topics");
    size_t i;
    if (!json_is_boolean(ready))
        return;
    fprintf(to, "%-18s %s", "ready", json_is_true(ready) ? "yes" : "no");
    print_words(": ", ek_tell_text(o, "reason", NULL), to);
    json_array_foreach(missing, i, topic)
    {
        print_words(", ", json_string_value(topic), to);
    }
    print_words(", ", ek_tell_text(o, "message", NULL), to);
    fputc('\n', to);
}

int ek_tell_status(const struct ek_buf *answer, FILE *to)
{
    static const struct {
        const char *label, *key;
    } lines[] = {{"service", "service"},
                 {"version", "version"},
                 {"ready", NULL}, /* with the reason */
                 {"partitions", "partitions"},
                 {"lag", "lag"},
                 {"consumed", "consumed"},
                 {"passed", "passed"},
                 {"routed", "routed"},
                 {"dead letters", "dead_letters"},
                 {"score failures", "score_failures"},
                 {"observed queries", "observed_queries"},
                 {"open findings", "open_findings"},
                 {"plan version", "plan_version"}};
    json_t *o = ek_tell_parsed(answer);
    bool good = json_is_object(o);
    for (size_t i = 0; good && i < sizeof lines / sizeof *lines; i++)
        if (lines[i].key)
            print_line(o, lines[i].label, lines[i].key, to);
        else
            print_ready(o, to);
    if (good)
        print_paused(json_object_get(o, "paused"), to);
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

double ek_tell_consumed(const struct ek_buf *answer)
{
    json_t *o = ek_tell_parsed(answer);
    const json_t *v = json_object_get(o, "consumed");
    double consumed = json_is_number(v) ? json_number_value(v) : NAN;
    json_decref(o);
    return consumed;
}

static void print_state(const json_t *o, FILE *to)
{
    bool paused = json_is_object(json_object_get(o, "paused"));
    ek_print_safe(ek_tell_text(o, "service", "evenkeel"), to);
    fputs(json_is_true(json_object_get(o, "ready")) ? " ready" : " not ready", to);
    fputs(paused ? ", paused" : "", to);
}

int ek_tell_line(const struct ek_buf *answer, double per_second, FILE *to)
{
    static const struct {
        const char *label, *key;
    } figures[] = {{"lag", "lag"},
                   {"consumed", "consumed"},
                   {"routed", "routed"},
                   {"dead letters", "dead_letters"},
                   {"score failures", "score_failures"},
                   {"open findings", "open_findings"},
                   {"plan", "plan_version"}};
    json_t *o = ek_tell_parsed(answer);
    bool good = json_is_object(o);
    if (good)
        print_state(o, to);
    for (size_t i = 0; good && i < sizeof figures / sizeof *figures; i++) {
        const json_t *v = json_object_get(o, figures[i].key);
        if (json_is_integer(v) && json_integer_value(v) >= 0)
            fprintf(to, ", %s %" JSON_INTEGER_FORMAT, figures[i].label, json_integer_value(v));
        if (!strcmp(figures[i].key, "consumed") && !isnan(per_second))
            fprintf(to, " (%.0f/s)", per_second);
    }
    if (good)
        fputc('\n', to);
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

static int add_withdrawn(struct ek_columns *c, const json_t *route)
{
    char segment[EK_TELL_WORDS_BYTES], figure[FIGURE_BYTES];
    const json_t *rail = json_object_get(route, "withdrawn");
    if (!json_is_object(rail))
        return EK_OK;
    ek_tell_segment(route, segment, sizeof segment);
    snprintf(figure, sizeof figure, "%.4g of at most %.4g",
             json_number_value(json_object_get(rail, "figure")),
             json_number_value(json_object_get(rail, "limit")));
    return ek_columns_add(c, (const char *const[]){ek_tell_text(route, "feature", "?"), segment,
                                                   ek_tell_text(route, "action", "?"),
                                                   ek_tell_text(rail, "rail", "?"), figure});
}

static bool some_withdrawn(const json_t *routes)
{
    size_t i;
    const json_t *route;
    json_array_foreach(routes, i, route)
    {
        if (json_is_object(json_object_get(route, "withdrawn")))
            return true;
    }
    return false;
}

int ek_tell_withdrawn_in(const struct ek_buf *answer, struct ek_room *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT", "ACTION", "GUARDRAIL", "FIGURE"};
    enum { TITLE_LINES = 3 };
    json_t *o = ek_tell_parsed(answer);
    const json_t *routes = json_object_get(o, "routes");
    bool good = json_is_array(routes);
    if (room)
        room->lines -= TITLE_LINES;
    if (good && some_withdrawn(routes) && (!room || room->lines > 0)) {
        fputs("\ntaken back, until 'evenkeel resume --feature' lets it begin anew\n", to);
        good =
            ek_tell_table(routes, titles, sizeof titles / sizeof *titles, add_withdrawn, room, to);
    }
    json_decref(o);
    return good ? EK_OK : EK_EFORMAT;
}

int ek_tell_withdrawn(const struct ek_buf *answer, FILE *to)
{
    return ek_tell_withdrawn_in(answer, NULL, to);
}
