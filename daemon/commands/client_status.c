#include "base/error.h"
#include "daemon/commands/client_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FIGURE_BYTES = 64 };

static void print_line(yyjson_val *o, const char *label, const char *key, FILE *to)
{
    yyjson_val *v = yyjson_obj_get(o, key);
    if (!yyjson_is_int(v) && !yyjson_is_str(v) && !yyjson_is_bool(v))
        return;
    fprintf(to, "%-18s ", label);
    if (yyjson_is_int(v) && yyjson_get_sint(v) < 0)
        fputs("unknown", to);
    else if (yyjson_is_int(v))
        fprintf(to, "%" PRId64, yyjson_get_sint(v));
    else
        ek_print_safe(yyjson_is_str(v) ? yyjson_get_str(v) : yyjson_is_true(v) ? "yes" : "no", to);
    fputc('\n', to);
}

static void print_text(const char *before, const char *words, FILE *to)
{
    if (!words)
        return;
    fputs(before, to);
    ek_print_safe(words, to);
}

/* Print the start of a pause: wall time, or event time if it was restored from a state without
 * one. */
static void print_since(yyjson_val *paused, FILE *to)
{
    char since[EK_DATE_TEXT];
    if (!yyjson_is_int(yyjson_obj_get(paused, "since_ms")))
        return;
    ek_client_format_time(paused, "since_ms", since);
    fprintf(to, ", since %s UTC%s", since,
            !strcmp(ek_client_get_text(paused, "clock", "wall"), "stream") ? " in event time" : "");
}

static void print_paused(yyjson_val *paused, FILE *to)
{
    fprintf(to, "%-18s %s", "paused", yyjson_is_obj(paused) ? "yes" : "no");
    print_since(paused, to);
    print_text(", by ", ek_client_get_text(paused, "actor", NULL), to);
    print_text(": ", ek_client_get_text(paused, "reason", NULL), to);
    fputc('\n', to);
}

/* Print readiness, and the missing topics as /ready lists them. */
static void print_ready(yyjson_val *o, FILE *to)
{
    yyjson_val *ready = yyjson_obj_get(o, "ready"), *topic;
    yyjson_val *missing = yyjson_obj_get(o, "missing_topics");
    size_t i, max;
    if (!yyjson_is_bool(ready))
        return;
    fprintf(to, "%-18s %s", "ready", yyjson_is_true(ready) ? "yes" : "no");
    print_text(": ", ek_client_get_text(o, "reason", NULL), to);
    yyjson_arr_foreach(missing, i, max, topic)
    {
        print_text(", ", yyjson_get_str(topic), to);
    }
    print_text(", ", ek_client_get_text(o, "message", NULL), to);
    print_text(", degraded: ", ek_client_get_text(o, "degraded", NULL), to);
    fputc('\n', to);
}

/* Conditions of the input, one a line, and why optional fields count as absent. */
static void print_input(yyjson_val *o, FILE *to)
{
    yyjson_val *input = yyjson_obj_get(o, "input"), *c;
    size_t i, max;
    if (!yyjson_is_obj(input))
        return;
    fprintf(to, "%-18s ", "input");
    ek_print_safe(ek_client_get_text(input, "state", "unknown"), to);
    fputc('\n', to);
    yyjson_arr_foreach(yyjson_obj_get(input, "conditions"), i, max, c)
    {
        fprintf(to, "%-18s ", ek_client_get_text(c, "condition", "?"));
        ek_print_safe(ek_client_get_text(c, "text", "?"), to);
        fputc('\n', to);
    }
    if (!ek_client_get_text(input, "unreadable", NULL))
        return;
    fprintf(to, "%-18s counts as absent: ", "unreadable field");
    ek_print_safe(ek_client_get_text(input, "unreadable", ""), to);
    fputc('\n', to);
}

int ek_client_print_status(const struct ek_buf *answer, FILE *to)
{
    static const struct {
        const char *label, *key;
    } lines[] = {{"service", "service"},
                 {"version", "version"},
                 {"ready", NULL}, /* followed by the reason */
                 {"partitions", "partitions"},
                 {"lag", "lag"},
                 {"consumed", "consumed"},
                 {"forwarded", "forwarded"},
                 {"routed", "routed"},
                 {"dead letters", "dead_letters"},
                 {"score failures", "score_failures"},
                 {"observed lists", "observed_lists"},
                 {"open findings", "open_findings"},
                 {"plan version", "plan_version"}};
    yyjson_doc *doc = ek_client_parse(answer);
    yyjson_val *o = yyjson_doc_get_root(doc);
    bool good = yyjson_is_obj(o);
    for (size_t i = 0; good && i < sizeof lines / sizeof *lines; i++)
        if (lines[i].key)
            print_line(o, lines[i].label, lines[i].key, to);
        else
            print_ready(o, to);
    if (good)
        print_paused(yyjson_obj_get(o, "paused"), to);
    if (good)
        print_input(o, to);
    yyjson_doc_free(doc);
    return good ? EK_OK : EK_EFORMAT;
}

double ek_client_get_consumed(const struct ek_buf *answer)
{
    yyjson_doc *doc = ek_client_parse(answer);
    yyjson_val *o = yyjson_doc_get_root(doc);
    yyjson_val *v = yyjson_obj_get(o, "consumed");
    double consumed = yyjson_is_num(v) ? yyjson_get_num(v) : NAN;
    yyjson_doc_free(doc);
    return consumed;
}

static void print_state(yyjson_val *o, FILE *to)
{
    bool paused = yyjson_is_obj(yyjson_obj_get(o, "paused"));
    ek_print_safe(ek_client_get_text(o, "service", "evenkeel"), to);
    fputs(yyjson_is_true(yyjson_obj_get(o, "ready")) ? " ready" : " not ready", to);
    fputs(paused ? ", paused" : "", to);
}

int ek_client_print_line(const struct ek_buf *answer, double per_second, FILE *to)
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
    yyjson_doc *doc = ek_client_parse(answer);
    yyjson_val *o = yyjson_doc_get_root(doc);
    bool good = yyjson_is_obj(o);
    if (good)
        print_state(o, to);
    for (size_t i = 0; good && i < sizeof figures / sizeof *figures; i++) {
        yyjson_val *v = yyjson_obj_get(o, figures[i].key);
        if (yyjson_is_int(v) && yyjson_get_sint(v) >= 0)
            fprintf(to, ", %s %" PRId64, figures[i].label, yyjson_get_sint(v));
        if (!strcmp(figures[i].key, "consumed") && !isnan(per_second))
            fprintf(to, " (%.0f/s)", per_second);
    }
    if (good)
        fputc('\n', to);
    yyjson_doc_free(doc);
    return good ? EK_OK : EK_EFORMAT;
}

static int add_rolled_back(struct ek_text_table *c, yyjson_val *route)
{
    char segment[EK_CLIENT_TEXT_BYTES], figure[FIGURE_BYTES];
    yyjson_val *rail = yyjson_obj_get(route, "rolled_back");
    if (!yyjson_is_obj(rail))
        return EK_OK;
    ek_client_format_segment(route, segment, sizeof segment);
    snprintf(figure, sizeof figure, "%.4g of at most %.4g",
             yyjson_get_num(yyjson_obj_get(rail, "observed")),
             yyjson_get_num(yyjson_obj_get(rail, "limit")));
    return ek_text_table_add(
        c, (const char *const[]){ek_client_get_text(route, "feature", "?"), segment,
                                 ek_client_get_text(route, "mitigation", "?"),
                                 ek_client_get_text(rail, "guardrail", "?"), figure});
}

static bool some_rolled_back(yyjson_val *routes)
{
    size_t i, max;
    yyjson_val *route;
    yyjson_arr_foreach(routes, i, max, route)
    {
        if (yyjson_is_obj(yyjson_obj_get(route, "rolled_back")))
            return true;
    }
    return false;
}

int ek_client_print_rollbacks_within(const struct ek_buf *answer, struct ek_row_limit *room,
                                     FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT", "ACTION", "GUARDRAIL", "FIGURE"};
    enum { TITLE_LINES = 3 };
    yyjson_doc *doc = ek_client_parse(answer);
    yyjson_val *o = yyjson_doc_get_root(doc);
    yyjson_val *routes = yyjson_obj_get(o, "routes");
    bool good = yyjson_is_arr(routes);
    if (room)
        room->lines -= TITLE_LINES;
    if (good && some_rolled_back(routes) && (!room || room->lines > 0)) {
        fputs("\nrolled back, until 'evenkeel resume --feature'\n", to);
        good = ek_client_print_table(routes, titles, sizeof titles / sizeof *titles,
                                     add_rolled_back, room, to);
    }
    yyjson_doc_free(doc);
    return good ? EK_OK : EK_EFORMAT;
}

int ek_client_print_rollbacks(const struct ek_buf *answer, FILE *to)
{
    return ek_client_print_rollbacks_within(answer, NULL, to);
}
