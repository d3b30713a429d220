#include "daemon/commands/client_print.h"

#include "base/error.h"
#include "guard/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { WORDS_BYTES = 2000, NUMBER_BYTES = 64, TITLE_LINES = 2, LINE_COLUMNS = 79 };

yyjson_doc *ek_client_parse(const struct ek_buf *answer)
{
    struct ek_json_error why;
    yyjson_doc *doc;
    ek_json_parse(&doc, (const char *)answer->data, answer->length, false, &why);
    return doc;
}

/* Return the string of a key, or `none` if it is missing or empty. */
static const char *get_text(yyjson_val *o, const char *key, const char *none)
{
    const char *text = yyjson_get_str(yyjson_obj_get(o, key));
    return text && *text ? text : none;
}

/* Format the segment of an object as "arm=B" or "all". */
static void format_segment(yyjson_val *of, char *text, size_t size)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(of, "segment"));
    yyjson_val *key = yyjson_obj_iter_next(&iter);
    const char *value = yyjson_get_str(yyjson_obj_iter_get_val(key));
    if (key)
        snprintf(text, size, "%s=%s", yyjson_get_str(key), value ? value : "?");
    else
        snprintf(text, size, "all");
}

/* Format milliseconds as "2026-09-21 14:30" in UTC. */
static void format_time(yyjson_val *o, const char *key, char text[EK_DATE_TEXT])
{
    yyjson_val *v = yyjson_obj_get(o, key);
    ek_date_text(yyjson_is_int(v) ? yyjson_get_sint(v) : -1, text);
    char *day_end = strchr(text, 'T');
    if (!day_end)
        return;
    *day_end = ' ';
    day_end[6] = 0;
}

/* Print a table of the objects of an array, within `room` rows (NULL: all). Return false if `array`
 * is no array or memory is exhausted. */
static bool print_table(yyjson_val *array, const char *const *titles, int count,
                        int (*add)(struct ek_text_table *c, yyjson_val *of),
                        struct ek_row_limit *room, FILE *to)
{
    struct ek_text_table *c = yyjson_is_arr(array) ? ek_text_table_new(titles, count) : NULL;
    bool good = c;
    size_t i, max;
    yyjson_val *of;
    yyjson_arr_foreach(array, i, max, of)
    {
        good = good && !add(c, of);
    }
    if (good && room)
        ek_text_table_fit(c, room, to);
    else if (good)
        ek_text_table_print(c, to);
    ek_text_table_free(c);
    return good;
}

/* Append formatted text. */
static void __attribute__((format(printf, 3, 4)))
put(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

/* Append the 95% interval of a factor, such as " (98.9 to 101.8)", if there is one. */
static void put_interval(yyjson_val *of, char *text, size_t size)
{
    yyjson_val *low = yyjson_obj_get(of, "factor_low"), *high = yyjson_obj_get(of, "factor_high");
    if (yyjson_is_num(low) && yyjson_is_num(high))
        put(text, size, " (%.4g to %.4g)", yyjson_get_num(low), yyjson_get_num(high));
}

/* Return the likely conversion of a finding, or NULL. */
static yyjson_val *get_conversion(yyjson_val *finding)
{
    yyjson_val *of;
    size_t i, max;
    yyjson_arr_foreach(yyjson_obj_get(finding, "unit_matches"), i, max, of)
    {
        if (strcmp(get_text(of, "match", ""), "coincidence") != 0)
            return of;
    }
    return NULL;
}

/* Format a transform, such as "scale x100 (cents), estimate x98.7 (96.5 to 101)" or "scale,
 * nights", or fractions of values. */
static void decision_text(yyjson_val *finding, char *text, size_t size)
{
    yyjson_val *factor = yyjson_obj_get(finding, "factor"), *unit = get_conversion(finding);
    const char *name = yyjson_get_str(yyjson_arr_get(yyjson_obj_get(finding, "units"), 0));
    *text = 0;
    put(text, size, "%s", get_text(finding, "class", "not diagnosed"));
    if (yyjson_is_num(factor) && unit)
        put(text, size, " x%.4g (%.200s), estimate", yyjson_get_num(yyjson_obj_get(unit, "ratio")),
            get_text(unit, "unit", "?"));
    if (yyjson_is_num(factor)) {
        put(text, size, " x%.4g", yyjson_get_num(factor));
        put_interval(finding, text, size);
    }
    if (name && !unit)
        put(text, size, ", %.200s", name);
    yyjson_val *now = yyjson_obj_get(finding, "value_fraction");
    yyjson_val *trained = yyjson_obj_get(finding, "trained_fraction");
    if (yyjson_is_num(now) && yyjson_is_num(trained)) {
        char values[EK_FINDING_VALUES_BYTES];
        ek_finding_values_text((enum ek_class)ek_class_parse(text), yyjson_get_num(now),
                               yyjson_get_num(trained), values);
        snprintf(text, size, "%s", values);
    }
}

/* Return the state of an open finding. `updated` is an event of a confirmed finding. */
static const char *state_text(yyjson_val *finding)
{
    const char *state = get_text(finding, "state", "?");
    return strcmp(state, "updated") != 0 ? state : "confirmed";
}

static int add_finding(struct ek_text_table *c, yyjson_val *finding)
{
    char segment[WORDS_BYTES], since[EK_DATE_TEXT], what[WORDS_BYTES], action[WORDS_BYTES];
    const char *mode = get_text(finding, "mode", NULL);
    format_segment(finding, segment, sizeof segment);
    format_time(finding, "since_ms", since);
    decision_text(finding, what, sizeof what);
    snprintf(action, sizeof action, "%.100s%s%.100s", get_text(finding, "mitigation", "-"),
             mode ? ", " : "", mode ? mode : "");
    return ek_text_table_add(c, (const char *const[]){get_text(finding, "feature", "?"), segment,
                                                      state_text(finding), action, since, what});
}

static int add_cell(struct ek_text_table *c, yyjson_val *cell)
{
    char segment[WORDS_BYTES], percent[NUMBER_BYTES] = "-";
    yyjson_val *v = yyjson_obj_get(cell, "percent");
    format_segment(cell, segment, sizeof segment);
    if (yyjson_is_num(v))
        snprintf(percent, sizeof percent, "%.4g%%", yyjson_get_num(v));
    return ek_text_table_add(c, (const char *const[]){get_text(cell, "feature", "?"), segment,
                                                      get_text(cell, "mitigation", "?"),
                                                      get_text(cell, "mode", "-"), percent,
                                                      get_text(cell, "source", "-")});
}

bool ek_client_print_findings(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT",     "STATE",
                                         "ACTION",  "SINCE (UTC)", "WHAT"};
    if (!yyjson_is_arr(o))
        return false;
    fputs(yyjson_arr_size(o) ? "\nopen findings\n" : "\nno open findings\n", to);
    if (room)
        room->lines -= TITLE_LINES;
    return !yyjson_arr_size(o) ||
           print_table(o, titles, sizeof titles / sizeof *titles, add_finding, room, to);
}

static void print_end_of(yyjson_val *cell, FILE *to)
{
    char segment[WORDS_BYTES];
    bool all = !yyjson_obj_size(yyjson_obj_get(cell, "segment"));
    format_segment(cell, segment, sizeof segment);
    fputs("the fault of ", to);
    ek_print_safe(get_text(cell, "feature", "?"), to);
    fputs(" has cleared; end its route with 'evenkeel resume --feature ", to);
    ek_print_safe(get_text(cell, "feature", "?"), to);
    fputs(all ? "" : " --segment ", to);
    ek_print_safe(all ? "" : segment, to);
    fputs("'\n", to);
}

/* Print within the rows left; omit the text if none is left. */
static void print_in(yyjson_val *cell, struct ek_row_limit *room, FILE *to)
{
    char text[3 * WORDS_BYTES] = "";
    FILE *into = room->lines > 0 ? fmemopen(text, sizeof text - 1, "w") : NULL;
    if (!into)
        return;
    print_end_of(cell, into);
    fclose(into);
    text[strcspn(text, "\n")] = 0;
    room->lines -= ek_print_wrapped(text, room->columns, to);
}

/* Print routes that wait for an operator after their fault has cleared. */
static void print_cleared(yyjson_val *cells, struct ek_row_limit *room, FILE *to)
{
    size_t i, max;
    yyjson_val *cell;
    yyjson_arr_foreach(cells, i, max, cell)
    {
        if (!yyjson_is_true(yyjson_obj_get(cell, "fault_cleared")))
            continue;
        if (room)
            print_in(cell, room, to);
        else
            print_end_of(cell, to);
    }
}

bool ek_client_print_plan(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT", "ACTION", "MODE", "OF LISTS", "BY"};
    yyjson_val *cells = yyjson_obj_get(o, "entries");
    if (!yyjson_is_arr(cells))
        return false;
    fputs(yyjson_arr_size(cells) ? "\nactive mitigations\n" : "\nno active mitigations\n", to);
    if (room)
        room->lines -= TITLE_LINES;
    if (yyjson_arr_size(cells) &&
        !print_table(cells, titles, sizeof titles / sizeof *titles, add_cell, room, to))
        return false;
    print_cleared(cells, room, to);
    return true;
}

static int add_pin(struct ek_text_table *c, yyjson_val *pin)
{
    char segment[WORDS_BYTES], by[WORDS_BYTES], until[EK_DATE_TEXT] = "for good";
    const char *author = get_text(pin, "actor", NULL);
    format_segment(pin, segment, sizeof segment);
    if (yyjson_is_int(yyjson_obj_get(pin, "until_ms")))
        format_time(pin, "until_ms", until);
    snprintf(by, sizeof by, author ? "%s (%.200s)" : "%s", get_text(pin, "source", "-"), author);
    return ek_text_table_add(c, (const char *const[]){get_text(pin, "feature", "?"), segment,
                                                      get_text(pin, "action", "?"), until, by,
                                                      get_text(pin, "reason", "-")});
}

bool ek_client_print_pins(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE",     "SEGMENT", "ACTION",
                                         "UNTIL (UTC)", "BY",      "REASON"};
    if (!yyjson_arr_size(o))
        return yyjson_is_arr(o);
    fputs("\npins\n", to);
    return print_table(o, titles, sizeof titles / sizeof *titles, add_pin, room, to);
}

bool ek_client_print_paused(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    (void)room;
    bool good = yyjson_is_obj(o);
    bool paused = yyjson_is_obj(yyjson_obj_get(o, "paused"));
    bool changed = yyjson_is_true(yyjson_obj_get(o, "changed"));
    if (good)
        fprintf(to, "%s%s%s\n", paused ? "paused" : "not paused", changed ? "" : ", as it was",
                paused && yyjson_is_false(yyjson_obj_get(o, "kept"))
                    ? "; a restart ends it, because 'state.topic' is not set"
                    : "");
    return good;
}

/* Format as "price, arm=B". */
static void place_text(yyjson_val *decision, char *text, size_t size)
{
    char segment[WORDS_BYTES];
    bool all = !yyjson_obj_size(yyjson_obj_get(decision, "segment"));
    format_segment(decision, segment, sizeof segment);
    snprintf(text, size, "%s", get_text(decision, "feature", "-"));
    if (!all)
        put(text, size, ", %s", segment);
}

static void print_accept(yyjson_val *o, FILE *to)
{
    bool reverted = !strcmp(get_text(o, "type", ""), "revert");
    fprintf(to, ": x%.4g is %s", yyjson_get_num(yyjson_obj_get(o, "factor")),
            reverted ? "no longer normal" : "normal from now on");
    if (!reverted)
        fprintf(to, "; 'evenkeel revert %" PRId64 "' takes that back",
                yyjson_get_sint(yyjson_obj_get(o, "accept")));
}

/* Print the current action. */
static void print_other(yyjson_val *o, FILE *to)
{
    const char *what = get_text(o, "type", "?");
    bool pinned = !strcmp(what, "pin");
    fputs(pinned ? ": pinned to " : ": ", to);
    if (pinned)
        ek_print_safe(get_text(o, "mitigation", "none"), to);
    else if (!strcmp(what, "unpin"))
        fputs("unpinned", to);
    else if (!strcmp(what, "resume"))
        fputs("the route restarts, or ends if its fault has cleared", to);
    else
        ek_print_safe(what, to);
}

bool ek_client_print_decision(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    char place[WORDS_BYTES];
    (void)room;
    if (!yyjson_is_obj(o))
        return false;
    place_text(o, place, sizeof place);
    ek_print_safe(place, to);
    if (yyjson_is_int(yyjson_obj_get(o, "accept")))
        print_accept(o, to);
    else
        print_other(o, to);
    fputc('\n', to);
    const char *note = get_text(o, "note", NULL);
    if (note) {
        fputs("note: ", to);
        ek_print_safe(note, to);
        fputc('\n', to);
    }
    return true;
}

bool ek_client_print_resumed(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    return yyjson_obj_get(o, "feature") ? ek_client_print_decision(o, room, to)
                                        : ek_client_print_paused(o, room, to);
}

/* Return what was done: the mitigation of a route, such as "repair", else the type. */
static const char *verb_of(yyjson_val *d)
{
    const char *type = get_text(d, "type", "?");
    return strcmp(type, "route") != 0 ? type : get_text(d, "mitigation", type);
}

/* Format a decision without its actor and place, such as "route, 25%; scale x100; it looks odd;
 * plan 7". */
static void details_text(yyjson_val *d, char *text, size_t size)
{
    yyjson_val *plan = yyjson_obj_get(d, "plan");
    yyjson_val *percent = yyjson_obj_get(d, "percent"), *factor = yyjson_obj_get(d, "factor");
    yyjson_val *figure = yyjson_obj_get(d, "observed"), *limit = yyjson_obj_get(d, "limit");
    yyjson_val *after = yyjson_obj_get(plan, "after");
    const char *none = !strcmp(get_text(d, "type", ""), "pin") ? "none" : NULL;
    const char *action = get_text(d, "mitigation", none), *class = get_text(d, "class", NULL);
    const char *rail = get_text(d, "guardrail", NULL), *why = get_text(d, "reason", NULL);
    *text = 0;
    if (action && strcmp(action, verb_of(d)) != 0)
        put(text, size, "%s; ", action);
    if (yyjson_is_num(percent))
        put(text, size, "%.4g%%; ", yyjson_get_num(percent));
    if (class)
        put(text, size, yyjson_is_num(factor) ? "%s " : "%s; ", class);
    if (yyjson_is_num(factor))
        put(text, size, "x%.4g; ", yyjson_get_num(factor));
    if (rail)
        put(text, size, "%s ", rail);
    if (yyjson_is_num(figure) && yyjson_is_num(limit))
        put(text, size, "%.4g of at most %.4g; ", yyjson_get_num(figure), yyjson_get_num(limit));
    if (yyjson_is_int(yyjson_obj_get(d, "accept")))
        put(text, size, "accept %" PRId64 "; ", yyjson_get_sint(yyjson_obj_get(d, "accept")));
    if (why)
        put(text, size, "%s; ", why);
    if (yyjson_get_sint(after) != yyjson_get_sint(yyjson_obj_get(plan, "before")))
        put(text, size, "plan %" PRId64 "; ", yyjson_get_sint(after));
    size_t length = strlen(text);
    if (length)
        text[length - 2] = 0;
}

static int add_decision(struct ek_text_table *c, yyjson_val *d)
{
    char number[NUMBER_BYTES], when[EK_DATE_TEXT], place[WORDS_BYTES], details[2 * WORDS_BYTES];
    snprintf(number, sizeof number, "%" PRId64, yyjson_get_sint(yyjson_obj_get(d, "sequence")));
    format_time(d, "time_ms", when);
    place_text(d, place, sizeof place);
    details_text(d, details, sizeof details);
    return ek_text_table_add(c, (const char *const[]){number, when, verb_of(d), place,
                                                      get_text(d, "actor", "-"), details});
}

bool ek_client_print_history_details(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"NO",  "STREAM TIME, UTC", "WHAT", "WHERE",
                                         "WHO", "DETAILS"};
    if (yyjson_arr_size(o))
        return print_table(o, titles, sizeof titles / sizeof *titles, add_decision, room, to);
    if (yyjson_is_arr(o))
        fputs("no decisions\n", to);
    return yyjson_is_arr(o);
}

/* Print a decision in one line, such as "12  2026-09-21 14:30  ana: pause; it looks odd". A
 * terminal gets the part that fits. */
static void print_entry(yyjson_val *d, FILE *to)
{
    int columns, rows;
    char when[EK_DATE_TEXT], place[WORDS_BYTES], details[2 * WORDS_BYTES], text[4 * WORDS_BYTES];
    place_text(d, place, sizeof place);
    details_text(d, details, sizeof details);
    format_time(d, "time_ms", when);
    *text = 0;
    put(text, sizeof text, "%4" PRId64 "  %s  %s: %s",
        yyjson_get_sint(yyjson_obj_get(d, "sequence")), when, get_text(d, "actor", "-"),
        verb_of(d));
    if (get_text(d, "feature", NULL))
        put(text, sizeof text, " %s", place);
    if (*details)
        put(text, sizeof text, "; %s", details);
    if (ek_terminal_live(to)) {
        ek_terminal_size(to, &columns, &rows);
        ek_print_cut(text, columns - 1, to);
    } else {
        ek_print_safe(text, to);
        fputc('\n', to);
    }
}

bool ek_client_print_history(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    size_t i, max;
    yyjson_val *d;
    if (!yyjson_arr_size(o))
        return ek_client_print_history_details(o, room, to);
    fputs("  NO  STREAM TIME, UTC\n", to);
    yyjson_arr_foreach(o, i, max, d)
    {
        print_entry(d, to);
    }
    return true;
}

/* Append the action of an incident, such as "repair, enforce, 12 lists treated". */
static void put_action(yyjson_val *i, char *text, size_t size)
{
    yyjson_val *rail = yyjson_obj_get(i, "rolled_back");
    if (yyjson_is_int(yyjson_obj_get(i, "mitigated_ms")))
        put(text, size, "; %s, %s, %" PRId64 " lists treated", get_text(i, "mitigation", "?"),
            get_text(i, "mode", "?"), yyjson_get_sint(yyjson_obj_get(i, "treated_lists")));
    else
        put(text, size, "; no action (%s)", get_text(i, "mode", "?"));
    if (yyjson_is_obj(rail))
        put(text, size, ", rolled back by %s", get_text(rail, "guardrail", "?"));
}

/* Format an incident, such as "scale x100 (cents), estimate x98.7; repair, enforce". */
static void incident_text(yyjson_val *i, char *text, size_t size)
{
    yyjson_val *factor = yyjson_obj_get(i, "factor"), *ratio = yyjson_obj_get(i, "ratio");
    const char *unit = get_text(i, "unit", NULL), *state = get_text(i, "state", "");
    int64_t times = yyjson_get_sint(yyjson_obj_get(i, "times"));
    *text = 0;
    put(text, size, "%s", get_text(i, "class", "not diagnosed"));
    if (unit && yyjson_is_num(ratio))
        put(text, size, " x%.4g (%s), estimate", yyjson_get_num(ratio), unit);
    if (yyjson_is_num(factor)) {
        put(text, size, " x%.4g", yyjson_get_num(factor));
        put_interval(i, text, size);
    }
    if (unit && !yyjson_is_num(ratio))
        put(text, size, ", %s", unit);
    if (times > 1)
        put(text, size, ", began %" PRId64 " times", times);
    put_action(i, text, size);
    if (!strcmp(state, "accepted") || !strcmp(state, "dismissed"))
        put(text, size, "; %s", state);
}

/* Omit the day of the end if it is that of the start. */
static const char *end_text(yyjson_val *i, const char *from, char to[EK_DATE_TEXT])
{
    if (!yyjson_is_int(yyjson_obj_get(i, "to_ms")))
        return "open";
    format_time(i, "to_ms", to);
    size_t day = strcspn(to, " ");
    return to[day] && !strncmp(from, to, day + 1) ? to + day + 1 : to;
}

static int add_incident(struct ek_text_table *c, yyjson_val *i)
{
    char segment[WORDS_BYTES], from[EK_DATE_TEXT], to[EK_DATE_TEXT], lists[NUMBER_BYTES];
    char what[2 * WORDS_BYTES];
    format_segment(i, segment, sizeof segment);
    format_time(i, "from_ms", from);
    snprintf(lists, sizeof lists, "%" PRId64, yyjson_get_sint(yyjson_obj_get(i, "lists")));
    incident_text(i, what, sizeof what);
    return ek_text_table_add(c, (const char *const[]){get_text(i, "feature", "?"), segment, from,
                                                      end_text(i, from, to), lists, what});
}

bool ek_client_print_incidents(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT",   "FROM (UTC)",
                                         "TO",      "ALL LISTS", "WHAT"};
    if (yyjson_arr_size(o))
        return print_table(o, titles, sizeof titles / sizeof *titles, add_incident, room, to);
    if (yyjson_is_arr(o))
        fputs("no incidents\n", to);
    return yyjson_is_arr(o);
}

/* Add a row that compares an order of the lists with the upstream order. The first row of a route
 * is also there if no list was compared. */
static int add_order(struct ek_text_table *c, yyjson_val *route, const char *key, const char *order,
                     bool first)
{
    char segment[WORDS_BYTES] = "", mode[WORDS_BYTES] = "";
    char lists[NUMBER_BYTES], figure[4][NUMBER_BYTES];
    static const char *const figures[] = {"tau", "top10_overlap", "places", "change_p95"};
    yyjson_val *sums = yyjson_obj_get(route, key), *percent = yyjson_obj_get(route, "percent");
    if (!yyjson_is_obj(sums) && !first)
        return EK_OK;
    if (first) {
        format_segment(route, segment, sizeof segment);
        snprintf(mode, sizeof mode, "%.100s", get_text(route, "mode", "?"));
        if (yyjson_is_num(percent))
            put(mode, sizeof mode, " %.4g%%", yyjson_get_num(percent));
    }
    snprintf(lists, sizeof lists, "%" PRId64, yyjson_get_sint(yyjson_obj_get(sums, "lists")));
    for (int i = 0; i < 4; i++) {
        yyjson_val *v = yyjson_obj_get(sums, figures[i]);
        snprintf(figure[i], NUMBER_BYTES, yyjson_is_num(v) ? "%.2f" : "-", yyjson_get_num(v));
    }
    return ek_text_table_add(c, (const char *const[]){first ? get_text(route, "feature", "?") : "",
                                                      segment, mode, order, lists, figure[0],
                                                      figure[1], figure[2], figure[3]});
}

static int add_route(struct ek_text_table *c, yyjson_val *route)
{
    int rc = add_order(c, route, "plan_vs_upstream", "wanted", true);
    if (!rc)
        rc = add_order(c, route, "output_vs_upstream", "sent", false);
    return rc ? rc : add_order(c, route, "model_vs_upstream", "no route", false);
}

static void print_guardrail(yyjson_val *route, const char *key, const char *text, FILE *to)
{
    char place[WORDS_BYTES];
    yyjson_val *rail = yyjson_obj_get(route, key);
    if (!yyjson_is_obj(rail))
        return;
    place_text(route, place, sizeof place);
    ek_print_safe(place, to);
    fprintf(to, ": %s ", text);
    ek_print_safe(get_text(rail, "guardrail", "?"), to);
    fprintf(to, ", %.4g of at most %.4g\n", yyjson_get_num(yyjson_obj_get(rail, "observed")),
            yyjson_get_num(yyjson_obj_get(rail, "limit")));
}

static bool is_compared(yyjson_val *routes)
{
    size_t i, max;
    yyjson_val *route;
    yyjson_arr_foreach(routes, i, max, route)
    {
        if (yyjson_is_obj(yyjson_obj_get(route, "plan_vs_upstream")))
            return true;
    }
    return false;
}

static void print_guardrails(yyjson_val *routes, FILE *to)
{
    size_t i, max;
    yyjson_val *route;
    yyjson_arr_foreach(routes, i, max, route)
    {
        print_guardrail(route, "rolled_back", "rolled back by the guardrail", to);
        print_guardrail(route, "would_roll_back", "above the guardrail", to);
    }
}

bool ek_client_print_impact(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT", "MODE",   "ORDER", "LISTS",
                                         "TAU",     "TOP10",   "PLACES", "P95"};
    yyjson_val *routes = yyjson_obj_get(o, "routes");
    if (!yyjson_is_arr(routes))
        return false;
    if (!yyjson_arr_size(routes))
        fputs("no routes, active or in shadow\n", to);
    else if (!print_table(routes, titles, sizeof titles / sizeof *titles, add_route, room, to))
        return false;
    else if (!is_compared(routes))
        fputs("no list was shadow scored; without 'assets.model' none is\n", to);
    print_guardrails(routes, to);
    return true;
}

uint64_t ek_client_number(yyjson_val *o, const char *key)
{
    int64_t number = yyjson_get_sint(yyjson_obj_get(o, key));
    return number > 0 ? (uint64_t)number : 0;
}

enum ek_reload_state ek_client_get_reload_state(yyjson_val *o, uint64_t number)
{
    const char *state = get_text(o, "state", "");
    bool there = (uint64_t)yyjson_get_sint(yyjson_obj_get(o, "reload")) >= number;
    if (there && !strcmp(state, "done"))
        return EK_RELOAD_DONE;
    return there && !strcmp(state, "refused") ? EK_RELOAD_REFUSED : EK_RELOAD_RUNNING;
}

static void print_places(yyjson_val *errors, const char *before, FILE *to)
{
    size_t i, max;
    yyjson_val *e;
    yyjson_arr_foreach(errors, i, max, e)
    {
        const char *file = get_text(e, "file", NULL);
        int64_t line = yyjson_get_sint(yyjson_obj_get(e, "line"));
        fputs(before, to);
        ek_print_safe(file ? file : "", to);
        if (line)
            fprintf(to, "%s%" PRId64 ":%" PRId64, file ? ":" : "", line,
                    yyjson_get_sint(yyjson_obj_get(e, "column")));
        fputs(file || line ? ": " : "", to);
        ek_print_safe(get_text(e, "message", "?"), to);
        fputc('\n', to);
    }
}

bool ek_client_print_reload(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    (void)room;
    bool good = yyjson_is_obj(o), reset = strcmp(get_text(o, "carried_over", "all"), "all") != 0;
    if (good && !strcmp(get_text(o, "state", ""), "done"))
        fprintf(to, "reloaded: evidence, findings and routes %s\n", reset ? "are reset" : "go on");
    if (good) {
        print_places(yyjson_obj_get(o, "errors"), "", to);
        print_places(yyjson_obj_get(o, "warnings"), "note: ", to);
    }
    return good;
}

static yyjson_val *find_command(yyjson_val *commands, uint64_t number)
{
    size_t i, max;
    yyjson_val *o;
    yyjson_arr_foreach(commands, i, max, o)
    {
        if ((uint64_t)yyjson_get_sint(yyjson_obj_get(o, "command_id")) == number)
            return o;
    }
    return NULL;
}

enum ek_command_state ek_client_get_command_state(yyjson_val *o, uint64_t number, char *why,
                                                  size_t size)
{
    static const char *const words[] = {"pending", "lost", "applied", "rejected"};
    yyjson_val *command = find_command(o, number);
    int state = EK_COMMAND_REJECTED;
    while (state > EK_COMMAND_PENDING && strcmp(get_text(command, "state", ""), words[state]) != 0)
        state--;
    snprintf(why, size, "%s", get_text(command, "error", ""));
    return (enum ek_command_state)state;
}

bool ek_client_print_command(yyjson_val *o, uint64_t number, FILE *to)
{
    yyjson_val *command = find_command(o, number), *d = yyjson_obj_get(command, "decision");
    bool paused = !strcmp(get_text(d, "type", ""), "pause");
    bool good = d != NULL;
    if (good && !yyjson_obj_get(d, "feature"))
        fputs(paused ? "paused\n" : "not paused\n", to);
    else if (good)
        good = ek_client_print_decision(d, NULL, to);
    if (good) {
        fputs("for all instances, as decided by ", to);
        ek_print_safe(get_text(command, "leader", "?"), to);
        fputc('\n', to);
    }
    return good;
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
    format_time(paused, "since_ms", since);
    fprintf(to, ", since %s UTC%s", since,
            !strcmp(get_text(paused, "clock", "wall"), "stream") ? " in event time" : "");
}

static void print_pause(yyjson_val *paused, FILE *to)
{
    if (!yyjson_is_obj(paused))
        return;
    fprintf(to, "%-18s yes", "paused");
    print_since(paused, to);
    print_text(", by ", get_text(paused, "actor", NULL), to);
    print_text(": ", get_text(paused, "reason", NULL), to);
    fputc('\n', to);
}

/* Print why an instance is not ready or degraded, and the missing topics as /ready lists them. */
static void print_ready(yyjson_val *o, FILE *to)
{
    yyjson_val *ready = yyjson_obj_get(o, "ready"), *topic;
    yyjson_val *missing = yyjson_obj_get(o, "missing_topics");
    size_t i, max;
    if (!yyjson_is_bool(ready) || (yyjson_is_true(ready) && !get_text(o, "degraded", NULL)))
        return;
    fprintf(to, "%-18s %s", "ready", yyjson_is_true(ready) ? "yes" : "no");
    print_text(": ", get_text(o, "reason", NULL), to);
    yyjson_arr_foreach(missing, i, max, topic)
    {
        print_text(", ", yyjson_get_str(topic), to);
    }
    print_text(", ", get_text(o, "message", NULL), to);
    print_text(", degraded: ", get_text(o, "degraded", NULL), to);
    fputc('\n', to);
}

/* Print number and first reason of undecodable messages, unless a condition has this text. */
static void print_undecodable(yyjson_val *input, FILE *to)
{
    int64_t undecodable = yyjson_get_sint(yyjson_obj_get(input, "undecodable"));
    int64_t decoded = yyjson_get_sint(yyjson_obj_get(input, "decoded"));
    size_t i, max;
    yyjson_val *c;
    yyjson_arr_foreach(yyjson_obj_get(input, "conditions"), i, max, c)
    {
        if (strstr(get_text(c, "condition", ""), "undecodable"))
            return;
    }
    if (!undecodable)
        return;
    fprintf(to, "%-18s %" PRId64 " of %" PRId64 " messages", "undecodable", undecodable,
            decoded + undecodable);
    print_text("; they are in ", get_text(input, "copies_in", NULL), to);
    print_text(": ", get_text(input, "first_reason", NULL), to);
    fputc('\n', to);
}

/* Conditions of the input, one a line, and why optional fields count as absent. */
static void print_input(yyjson_val *o, FILE *to)
{
    yyjson_val *input = yyjson_obj_get(o, "input"), *c;
    const char *unreadable = get_text(input, "unreadable", NULL);
    size_t i, max;
    const char *state = get_text(input, "state", "ok");
    if (!yyjson_is_obj(input))
        return;
    if (strcmp(state, "ok") != 0) {
        fprintf(to, "%-18s ", "input");
        ek_print_safe(state, to);
        fputc('\n', to);
    }
    yyjson_arr_foreach(yyjson_obj_get(input, "conditions"), i, max, c)
    {
        fprintf(to, "%-18s ", get_text(c, "condition", "?"));
        ek_print_safe(get_text(c, "text", "?"), to);
        fputc('\n', to);
    }
    print_undecodable(input, to);
    if (!unreadable)
        return;
    fprintf(to, "%-18s counts as absent: ", "unreadable field");
    ek_print_safe(unreadable, to);
    fputc('\n', to);
}

static void put_count(yyjson_val *o, const char *label, const char *key, char *text, size_t size)
{
    yyjson_val *v = yyjson_obj_get(o, key);
    if (yyjson_is_int(v) && yyjson_get_sint(v) >= 0)
        put(text, size, ", %s %" PRId64, label, yyjson_get_sint(v));
}

/* Append the number of lists, their rate, and the age of the last message. */
static void put_traffic(yyjson_val *o, char *text, size_t size)
{
    yyjson_val *rate = yyjson_obj_get(o, "lists_per_second");
    yyjson_val *age = yyjson_obj_get(yyjson_obj_get(o, "input"), "last_message_age_ms");
    put_count(o, "lists", "observed_lists", text, size);
    if (yyjson_is_num(rate))
        put(text, size, " (%.3g/s)", yyjson_get_num(rate));
    if (yyjson_is_int(age) && yyjson_get_sint(age) >= 0)
        put(text, size, ", last message %.*f s ago", yyjson_get_sint(age) < 10000 ? 1 : 0,
            (double)yyjson_get_sint(age) / 1000);
}

static void put_fleet(yyjson_val *fleet, char *text, size_t size)
{
    const char *instance = get_text(fleet, "instance", NULL);
    const char *leader = get_text(fleet, "leader", NULL);
    if (!instance)
        return;
    put(text, size, ", instance %.200s", instance);
    if (yyjson_is_true(yyjson_obj_get(fleet, "is_leader")))
        put(text, size, " (leader)");
    else if (leader)
        put(text, size, ", leader %.200s", leader);
}

bool ek_client_summary(yyjson_val *o, char *text, size_t size)
{
    static const struct {
        const char *label, *key;
    } counts[] = {{"lag", "lag"},
                  {"consumed", "consumed"},
                  {"mitigated", "routed"},
                  {"dead letters", "dead_letters"},
                  {"score failures", "score_failures"},
                  {"open findings", "open_findings"},
                  {"plan", "plan_version"}};
    *text = 0;
    if (!yyjson_is_obj(o))
        return false;
    put(text, size, "%.200s%s%s", get_text(o, "service", "evenkeel"),
        yyjson_is_true(yyjson_obj_get(o, "ready")) ? " ready" : " not ready",
        yyjson_is_obj(yyjson_obj_get(o, "paused")) ? ", paused" : "");
    put_fleet(yyjson_obj_get(o, "fleet"), text, size);
    put_traffic(o, text, size);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        put_count(o, counts[i].label, counts[i].key, text, size);
    if (yyjson_is_null(yyjson_obj_get(o, "output")))
        put(text, size, ", no output");
    return true;
}

bool ek_client_print_status(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    char text[WORDS_BYTES];
    (void)room;
    if (!ek_client_summary(o, text, sizeof text))
        return false;
    ek_print_wrapped(text, LINE_COLUMNS, to);
    print_ready(o, to);
    print_pause(yyjson_obj_get(o, "paused"), to);
    print_input(o, to);
    return true;
}

static int add_rolled_back(struct ek_text_table *c, yyjson_val *route)
{
    char segment[WORDS_BYTES], figure[NUMBER_BYTES];
    yyjson_val *rail = yyjson_obj_get(route, "rolled_back");
    if (!yyjson_is_obj(rail))
        return EK_OK;
    format_segment(route, segment, sizeof segment);
    snprintf(figure, sizeof figure, "%.4g of at most %.4g",
             yyjson_get_num(yyjson_obj_get(rail, "observed")),
             yyjson_get_num(yyjson_obj_get(rail, "limit")));
    return ek_text_table_add(c, (const char *const[]){get_text(route, "feature", "?"), segment,
                                                      get_text(route, "mitigation", "?"),
                                                      get_text(rail, "guardrail", "?"), figure});
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

bool ek_client_print_rollbacks(yyjson_val *o, struct ek_row_limit *room, FILE *to)
{
    static const char *const titles[] = {"FEATURE", "SEGMENT", "ACTION", "GUARDRAIL", "FIGURE"};
    yyjson_val *routes = yyjson_obj_get(o, "routes");
    if (room)
        room->lines -= TITLE_LINES + 1;
    if (!some_rolled_back(routes) || (room && room->lines <= 0))
        return yyjson_is_arr(routes);
    fputs("\nrolled back, until 'evenkeel resume --feature'\n", to);
    return print_table(routes, titles, sizeof titles / sizeof *titles, add_rolled_back, room, to);
}
