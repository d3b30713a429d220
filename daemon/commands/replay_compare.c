#include "daemon/commands/replay_compare.h"

#include "base/json.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "guard/event_json.h"
#include "lists/capture.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 4, COLUMN = 32 };

static const char *of_side(int side)
{
    return side == EK_SIDE_A ? "A" : "B";
}

/* Format as "price" or "price, arm=B". */
static void place_text(const struct ek_event_place *p, char *text, size_t size)
{
    if (p->dimension)
        snprintf(text, size, "%s, %s=%s", p->feature, p->dimension,
                 p->value ? p->value : EK_SEGMENT_OTHER);
    else
        snprintf(text, size, "%s", p->feature);
    ek_make_safe(text);
}

static void print_name(const char *side, const char *path, FILE *to)
{
    struct ek_paragraph p = ek_paragraph_start(to, 2);
    ek_paragraph_add(&p, side);
    ek_paragraph_add(&p, path);
    ek_paragraph_end(&p);
}

enum kind { ALIKE, OTHERWISE, ONLY_A, ONLY_B, KINDS };

static enum kind kind_of(const struct ek_compared_pair *p)
{
    if (!p->of[EK_SIDE_B])
        return ONLY_A;
    if (!p->of[EK_SIDE_A])
        return ONLY_B;
    return p->other ? OTHERWISE : ALIKE;
}

static void print_alone(const struct ek_compared_finding *f, FILE *to)
{
    struct ek_paragraph p = ek_paragraph_start(to, INDENT);
    ek_paragraph_add(&p, f->text);
    if (f->end) {
        ek_paragraph_add(&p, "-");
        ek_paragraph_add(&p, f->end);
    }
    ek_paragraph_end(&p);
}

static const char *text_or(const char *word, const char *none)
{
    return word[0] ? word : none;
}

/* Format the property `bit` of one side's finding. */
static void get_text(const struct ek_compared_finding *f, unsigned bit, char *text, size_t size)
{
    switch (bit) {
    case EK_OTHER_CLASS:
        snprintf(text, size, "%s", text_or(f->class, "none"));
        break;
    case EK_OTHER_FACTOR:
        snprintf(text, size, isnan(f->factor) ? "none" : "%.4g", f->factor);
        break;
    case EK_OTHER_UNIT:
        snprintf(text, size, "%s", text_or(f->unit, "none"));
        break;
    case EK_OTHER_ACTION:
        snprintf(text, size, "%s", text_or(f->action, "none"));
        break;
    case EK_OTHER_MODE:
        snprintf(text, size, "%s", text_or(f->mode, "none"));
        break;
    case EK_OTHER_BEGIN:
        snprintf(text, size, "confirmed at %" PRIu64, f->confirmed);
        break;
    default:
        if (f->end)
            snprintf(text, size, "%s at %" PRIu64, f->end, f->ended);
        else
            snprintf(text, size, "open");
    }
}

static void print_otherwise(const struct ek_compared_pair *pair, FILE *to)
{
    char place[200], a[200], b[200], line[500];
    struct ek_paragraph p = ek_paragraph_start(to, INDENT);
    place_text(&pair->of[EK_SIDE_A]->at, place, sizeof place);
    snprintf(line, sizeof line, "%s:", place);
    ek_paragraph_add(&p, line);
    bool first = true;
    for (int i = 0; i < EK_OTHERS; i++) {
        unsigned bit = 1u << i;
        if (!(pair->other & bit))
            continue;
        get_text(pair->of[EK_SIDE_A], bit, a, sizeof a);
        get_text(pair->of[EK_SIDE_B], bit, b, sizeof b);
        bool named = bit == EK_OTHER_BEGIN || bit == EK_OTHER_END;
        if (!first)
            ek_paragraph_add(&p, "and");
        snprintf(line, sizeof line, "%s%s%s in A, %s in B", named ? "" : ek_compared_in_name(i),
                 named ? "" : " ", a, b);
        ek_paragraph_add(&p, line);
        first = false;
    }
    ek_paragraph_end(&p);
}

static void print_kind(const struct ek_compared *c, enum kind kind, FILE *to)
{
    static const char *const titles[KINDS] = {"equal findings", "different findings",
                                              "findings only in A", "findings only in B"};
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < c->pairs; i++)
        count += kind_of(&c->pair[i]) == kind;
    fprintf(to, "  %-24s %zu\n", titles[kind], count);
    for (size_t i = 0; kind != ALIKE && i < c->pairs && shown < EK_COMPARED_LISTED; i++) {
        const struct ek_compared_pair *p = &c->pair[i];
        if (kind_of(p) != kind)
            continue;
        shown++;
        if (kind == OTHERWISE)
            print_otherwise(p, to);
        else
            print_alone(p->of[kind == ONLY_A ? EK_SIDE_A : EK_SIDE_B], to);
    }
    if (kind != ALIKE && count > shown)
        fprintf(to, "%*sand %zu more\n", INDENT, "", count - shown);
}

static void entry_text(const struct ek_compared_plan *p, size_t i, char *text, size_t size)
{
    char place[300];
    text[0] = 0;
    if (i < p->count) {
        const struct ek_event_entry *entry = &p->entry[i];
        place_text(&entry->at, place, sizeof place);
        int used = snprintf(text, size, "%s: %s, %s", place, ek_action_name(entry->action),
                            ek_mode_name(entry->mode));
        if (entry->mode == EK_MODE_CANARY && (size_t)used < size)
            snprintf(text + used, size - (size_t)used, " %.4g%%", entry->percent);
    } else if (i == 0) {
        snprintf(text, size, "nothing");
    }
}

static void print_row(const struct ek_compared_row *r, FILE *to)
{
    const struct ek_compared_plan *a = r->of[EK_SIDE_A], *b = r->of[EK_SIDE_B];
    size_t lines = a->count > b->count ? a->count : b->count;
    char of_a[340], of_b[340], query[24];
    snprintf(query, sizeof query, "%" PRIu64, r->query);
    for (size_t i = 0; i < (lines ? lines : 1); i++) {
        entry_text(a, i, of_a, sizeof of_a);
        entry_text(b, i, of_b, sizeof of_b);
        if (of_b[0])
            fprintf(to, "%*s%-9s %-*s %s\n", INDENT, "", i ? "" : query, COLUMN, of_a, of_b);
        else
            fprintf(to, "%*s%-9s %s\n", INDENT, "", i ? "" : query, of_a);
    }
}

/* Rows equal on both sides are omitted. */
static void print_plans(const struct ek_compared *c, FILE *to)
{
    size_t differ = 0, shown = 0;
    for (size_t i = 0; i < c->rows; i++)
        differ += c->row[i].differ;
    fprintf(to, "  %-24s %zu, different after %zu of them\n", "plan changes", c->rows, differ);
    if (differ)
        fprintf(to, "%*s%-9s %-*s %s\n", INDENT, "", "list", COLUMN, "A", "B");
    for (size_t i = 0; i < c->rows && shown < EK_COMPARED_LISTED; i++) {
        if (!c->row[i].differ)
            continue;
        shown++;
        print_row(&c->row[i], to);
    }
    if (differ > shown)
        fprintf(to, "%*sand %zu more\n", INDENT, "", differ - shown);
}

static void print_touched(const struct ek_compared *c, FILE *to)
{
    fprintf(to,
            "  re-scored                A %" PRIu64 ", B %" PRIu64 ", by both %" PRIu64
            "; different %" PRIu64 "\n",
            c->touched[EK_SIDE_A], c->touched[EK_SIDE_B], c->both, c->apart);
    for (int i = 0; i < EK_SIDES; i++)
        if (c->unscored[i])
            fprintf(to, "  not scorable by %s %" PRIu64 "\n", of_side(i), c->unscored[i]);
    for (int i = 0; i < EK_SIDES; i++)
        if (c->left[i])
            fprintf(to, "  of %s, not compared       %" PRIu64 " findings and plans\n", of_side(i),
                    c->left[i]);
}

static void print_rolled_back(const struct ek_compared *c, FILE *to)
{
    if (c->rolled_back[EK_SIDE_A] || c->rolled_back[EK_SIDE_B])
        fprintf(to, "  rolled back by a guardrail A %" PRIu64 ", B %" PRIu64 "\n",
                c->rolled_back[EK_SIDE_A], c->rolled_back[EK_SIDE_B]);
}

/* The last statistic is the 95% quantile of `change`, a guardrail; the others are means. */
enum { FIGURES = 5 };
static const struct {
    const char *title, *key;
} FIGURE[FIGURES] = {{"tau", "tau"},
                     {"top10", "top10"},
                     {"places", "places"},
                     {"change", "change"},
                     {"p95", "change_p95"}};

static double figure_of(const struct ek_rank_sums *s, int figure)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    const double figures[FIGURES] = {mean.tau, mean.top10, mean.places, mean.change,
                                     ek_rank_sums_quantile(s, .95)};
    return figures[figure];
}

static void print_ranks(const struct ek_compared *c, FILE *to)
{
    static const char *const titles[EK_COMPARED_MOVES] = {"upstream, to A", "upstream, to B",
                                                          "A to B"};
    bool any = false;
    for (int i = 0; i < EK_COMPARED_MOVES; i++)
        any |= c->moved[i].lists > 0;
    if (!any)
        return;
    fprintf(to, "  mean rank changes\n%*s%-20s %7s", INDENT, "", "", "lists");
    for (int f = 0; f < FIGURES; f++)
        fprintf(to, " %7s", FIGURE[f].title);
    fputc('\n', to);
    for (int i = 0; i < EK_COMPARED_MOVES; i++) {
        const struct ek_rank_sums *s = &c->moved[i];
        if (!s->lists)
            continue;
        fprintf(to, "%*s%-20s %7" PRIu64, INDENT, "", titles[i], s->lists);
        for (int f = 0; f < FIGURES; f++)
            fprintf(to, " %7.4f", figure_of(s, f));
        fputc('\n', to);
    }
}

/* Print within 79 columns, except for long names. a, b: names of the rules. */
static void compare_print(const struct ek_compared *c, const char *a, const char *b, FILE *to)
{
    print_name("A:", a, to);
    print_name("B:", b, to);
    for (int k = 0; k < KINDS; k++)
        print_kind(c, (enum kind)k, to);
    print_plans(c, to);
    print_rolled_back(c, to);
    print_touched(c, to);
    print_ranks(c, to);
    if (!c->differ)
        fputs("  No differences.\n", to);
}

static void add_text(struct ek_json_writer *w, const char *key, const char *word)
{
    ek_json_add_text(w, key, word[0] ? word : NULL);
}

static void open_place(struct ek_json_writer *w, const char *key, const struct ek_event_place *p)
{
    ek_json_open(w, key, '{');
    ek_json_add_text(w, "feature", p->feature);
    ek_json_add_segment(w, "segment", p->dimension, p->value);
}

static void add_finding(struct ek_json_writer *w, const char *key,
                        const struct ek_compared_finding *f)
{
    if (!f) {
        ek_json_add_null(w, key);
        return;
    }
    open_place(w, key, &f->at);
    add_text(w, "class", f->class);
    ek_json_add_rounded(w, "factor", f->factor, 6);
    add_text(w, "unit", f->unit);
    add_text(w, "mitigation", f->action);
    add_text(w, "mode", f->mode);
    ek_json_add_count(w, "since_list", f->since);
    ek_json_add_count(w, "confirmed", f->confirmed);
    if (f->end) {
        ek_json_add_text(w, "end", f->end);
        ek_json_add_count(w, "ended", f->ended);
    }
    add_text(w, "text", f->text);
    ek_json_close(w, '}');
}

static void add_pair(struct ek_json_writer *w, const struct ek_compared_pair *p)
{
    ek_json_open(w, NULL, '{');
    add_finding(w, "a", p->of[EK_SIDE_A]);
    add_finding(w, "b", p->of[EK_SIDE_B]);
    ek_json_open(w, "otherwise", '[');
    for (int i = 0; i < EK_OTHERS; i++)
        if (p->other & 1u << i)
            ek_json_add_text(w, NULL, ek_compared_in_name(i));
    ek_json_close(w, ']');
    ek_json_close(w, '}');
}

static void add_plan(struct ek_json_writer *w, const char *key, const struct ek_compared_plan *p)
{
    ek_json_open(w, key, '[');
    for (size_t i = 0; i < p->count; i++) {
        open_place(w, NULL, &p->entry[i].at);
        ek_json_add_text(w, "mitigation", ek_action_name(p->entry[i].action));
        ek_json_add_text(w, "mode", ek_mode_name(p->entry[i].mode));
        ek_json_add_rounded(w, "percent", p->entry[i].percent, 4);
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

static void add_row(struct ek_json_writer *w, const struct ek_compared_row *r)
{
    ek_json_open(w, NULL, '{');
    ek_json_add_count(w, "list", r->query);
    add_plan(w, "a", r->of[EK_SIDE_A]);
    add_plan(w, "b", r->of[EK_SIDE_B]);
    ek_json_close(w, '}');
}

static void add_move(struct ek_json_writer *w, const char *key, const struct ek_rank_sums *s)
{
    ek_json_open(w, key, '{');
    ek_json_add_count(w, "lists", s->lists);
    for (int f = 0; f < FIGURES; f++)
        ek_json_add_rounded(w, FIGURE[f].key, s->lists ? figure_of(s, f) : (double)NAN, 6);
    ek_json_close(w, '}');
}

/* Open an object with the counts of both sides. */
static void open_sides(struct ek_json_writer *w, const char *key, const uint64_t of[EK_SIDES])
{
    ek_json_open(w, key, '{');
    ek_json_add_count(w, "a", of[EK_SIDE_A]);
    ek_json_add_count(w, "b", of[EK_SIDE_B]);
}

static void add_sides(struct ek_json_writer *w, const char *key, const uint64_t of[EK_SIDES])
{
    open_sides(w, key, of);
    ek_json_close(w, '}');
}

static void add_lists(const struct ek_compared *c, struct ek_json_writer *w)
{
    add_sides(w, "rolled_back", c->rolled_back);
    open_sides(w, "touched", c->touched);
    ek_json_add_count(w, "both", c->both);
    ek_json_add_count(w, "apart", c->apart);
    ek_json_close(w, '}');
    add_sides(w, "unscored", c->unscored);
    add_sides(w, "left", c->left);
    ek_json_open(w, "ranks", '{');
    add_move(w, "came_to_a", &c->moved[EK_MOVED_TO_A]);
    add_move(w, "came_to_b", &c->moved[EK_MOVED_TO_B]);
    add_move(w, "a_to_b", &c->moved[EK_A_TO_B]);
    ek_json_close(w, '}');
}

enum { UNREADABLE_SHOWN = 5 };

struct run {
    const struct ek_field_mapping *field_mapping;
    struct ek_comparison_run *compare;
    struct ek_capture_reader *in;
    uint64_t messages, unreadable;
};

static int one_message(struct run *r, const struct ek_record *record, struct ek_error *e)
{
    char text[700];
    int rc = ek_comparison_run_add(r->compare, record->bytes, record->length, record->timestamp_ms,
                                   r->messages, e);
    if (rc != EK_EFORMAT && rc != EK_ELIMIT && rc != EK_ESTATE)
        return rc;
    ek_field_mapping_hint(r->field_mapping, e);
    if (++r->unreadable <= UNREADABLE_SHOWN)
        fprintf(stderr, "evenkeel: message %llu skipped: %s\n", (unsigned long long)r->messages,
                ek_error_text(e, text, sizeof text));
    return EK_OK;
}

static int run_all(struct run *r, struct ek_progress *progress, struct ek_error *e)
{
    struct ek_record record;
    uint64_t done, total;
    int more, rc;
    while (!(rc = ek_capture_next(r->in, &record, &more, e)) && more) {
        if ((rc = one_message(r, &record, e)))
            return rc;
        r->messages++;
        ek_capture_position(r->in, &done, &total);
        ek_progress_update(progress, done, total, NULL);
    }
    return rc;
}

static int print_json(const struct ek_replay_compare *a, const struct run *r,
                      const struct ek_compared *c, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer w;
    ek_json_begin_line(&w, &line);
    ek_json_add_text(&w, "a", a->rules[0]);
    ek_json_add_text(&w, "b", a->rules[1]);
    ek_json_add_count(&w, "messages", c->messages);
    ek_json_add_count(&w, "undecodable", r->unreadable);
    ek_json_add_flag(&w, "differ", c->differ);
    ek_json_open(&w, "findings", '[');
    for (size_t i = 0; i < c->pairs; i++)
        add_pair(&w, &c->pair[i]);
    ek_json_close(&w, ']');
    ek_json_open(&w, "plans", '[');
    for (size_t i = 0; i < c->rows; i++)
        add_row(&w, &c->row[i]);
    ek_json_close(&w, ']');
    add_lists(c, &w);
    return ek_json_end_line(&w, stdout, e);
}

static int print_result(const struct ek_replay_compare *a, const struct run *r,
                        const struct ek_compared *c, struct ek_progress *progress,
                        struct ek_error *e)
{
    char note[80];
    snprintf(note, sizeof note, "%llu message%s, %llu unreadable", (unsigned long long)r->messages,
             r->messages == 1 ? "" : "s", (unsigned long long)r->unreadable);
    ek_progress_finish(progress, note);
    if (a->json)
        return print_json(a, r, c, e);
    compare_print(c, a->rules[0], a->rules[1], stdout);
    return EK_OK;
}

int ek_replay_compare(const struct ek_replay_compare *a, bool *differ, struct ek_error *e)
{
    struct run r = {.field_mapping = a->field_mapping};
    struct ek_progress progress;
    const struct ek_compared *c;
    int rc = ek_comparison_run_new(&r.compare, a->assets[0], a->assets[1], e);
    if (!rc)
        rc = ek_capture_open(&r.in, a->messages, 0, e);
    ek_progress_start(&progress, "replay");
    if (!rc)
        rc = run_all(&r, &progress, e);
    if (!rc)
        rc = ek_comparison_run_finish(r.compare, &c, e);
    if (!rc)
        rc = print_result(a, &r, c, &progress, e);
    if (!rc && r.messages && r.unreadable == r.messages)
        rc = ek_fail(e, EK_EFORMAT, "none of the messages could be read");
    if (!rc)
        *differ = c->differ;
    if (r.in)
        ek_capture_close(r.in);
    ek_comparison_run_free(r.compare);
    return rc;
}
