#include "daemon/commands/compare_print.h"

#include "daemon/base/columns.h"
#include "daemon/base/paragraph.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { INDENT = 4, COLUMN = 32 };

static const char *of_side(int side)
{
    return side == EK_SIDE_A ? "A" : "B";
}

/* "price", or "price, arm=B". */
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
    ek_paragraph_words(&p, side);
    ek_paragraph_words(&p, path);
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
    ek_paragraph_words(&p, f->text);
    if (f->end) {
        ek_paragraph_words(&p, "-");
        ek_paragraph_words(&p, f->end);
    }
    ek_paragraph_end(&p);
}

static const char *word_or(const char *word, const char *none)
{
    return word[0] ? word : none;
}

/* What one side says of it, in the one thing that `bit` stands for. */
static void said_text(const struct ek_compared_finding *f, unsigned bit, char *text, size_t size)
{
    switch (bit) {
    case EK_OTHER_CLASS:
        snprintf(text, size, "%s", word_or(f->class, "none"));
        break;
    case EK_OTHER_FACTOR:
        snprintf(text, size, isnan(f->factor) ? "none" : "%.4g", f->factor);
        break;
    case EK_OTHER_UNIT:
        snprintf(text, size, "%s", word_or(f->unit, "none"));
        break;
    case EK_OTHER_ACTION:
        snprintf(text, size, "%s", word_or(f->action, "none"));
        break;
    case EK_OTHER_MODE:
        snprintf(text, size, "%s", word_or(f->mode, "none"));
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
    ek_paragraph_words(&p, line);
    bool first = true;
    for (int i = 0; i < EK_OTHERS; i++) {
        unsigned bit = 1u << i;
        if (!(pair->other & bit))
            continue;
        said_text(pair->of[EK_SIDE_A], bit, a, sizeof a);
        said_text(pair->of[EK_SIDE_B], bit, b, sizeof b);
        bool named = bit == EK_OTHER_BEGIN || bit == EK_OTHER_END;
        if (!first)
            ek_paragraph_words(&p, "and");
        snprintf(line, sizeof line, "%s%s%s in A, %s in B", named ? "" : ek_compared_in_name(i),
                 named ? "" : " ", a, b);
        ek_paragraph_words(&p, line);
        first = false;
    }
    ek_paragraph_end(&p);
}

static void print_kind(const struct ek_compared *c, enum kind kind, FILE *to)
{
    static const char *const titles[KINDS] = {"findings told alike", "findings told otherwise",
                                              "findings of A only", "findings of B only"};
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < c->pairs; i++)
        count += kind_of(&c->pair[i]) == kind;
    fprintf(to, "  %-24s %zu\n", titles[kind], count);
    for (size_t i = 0; kind != ALIKE && i < c->pairs && shown < EK_COMPARED_SHOWN; i++) {
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

/* Rows of the same plan on both sides say nothing to who compares. */
static void print_plans(const struct ek_compared *c, FILE *to)
{
    size_t differ = 0, shown = 0;
    for (size_t i = 0; i < c->rows; i++)
        differ += c->row[i].differ;
    fprintf(to, "  %-24s %zu, not the same after %zu of them\n", "plan changes", c->rows, differ);
    if (differ)
        fprintf(to, "%*s%-9s %-*s %s\n", INDENT, "", "query", COLUMN, "A", "B");
    for (size_t i = 0; i < c->rows && shown < EK_COMPARED_SHOWN; i++) {
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
            "  scored anew              A %" PRIu64 ", B %" PRIu64 ", by both %" PRIu64
            "; not the same %" PRIu64 "\n",
            c->touched[EK_SIDE_A], c->touched[EK_SIDE_B], c->both, c->apart);
    for (int i = 0; i < EK_SIDES; i++)
        if (c->unscored[i])
            fprintf(to, "  could not be scored by %s %" PRIu64 "\n", of_side(i), c->unscored[i]);
    for (int i = 0; i < EK_SIDES; i++)
        if (c->left[i])
            fprintf(to, "  of %s, not compared       %" PRIu64 " findings and plans\n", of_side(i),
                    c->left[i]);
}

static void print_withdrawn(const struct ek_compared *c, FILE *to)
{
    if (c->withdrawn[EK_SIDE_A] || c->withdrawn[EK_SIDE_B])
        fprintf(to, "  withdrawn by a guardrail A %" PRIu64 ", B %" PRIu64 "\n",
                c->withdrawn[EK_SIDE_A], c->withdrawn[EK_SIDE_B]);
}

/* The last one is no mean: the 95% quantile of `change`, which rules may bound. */
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
    static const char *const titles[EK_COMPARED_MOVES] = {"as they came, to A",
                                                          "as they came, to B", "A to B"};
    bool any = false;
    for (int i = 0; i < EK_COMPARED_MOVES; i++)
        any |= c->moved[i].lists > 0;
    if (!any)
        return;
    fprintf(to, "  how ranks move, in the mean\n%*s%-20s %7s", INDENT, "", "", "lists");
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

void ek_compare_print(const struct ek_compared *c, const char *a, const char *b, FILE *to)
{
    print_name("A:", a, to);
    print_name("B:", b, to);
    for (int k = 0; k < KINDS; k++)
        print_kind(c, (enum kind)k, to);
    print_plans(c, to);
    print_withdrawn(c, to);
    print_touched(c, to);
    print_ranks(c, to);
    if (!c->differ)
        fputs("  Nothing differs.\n", to);
}

static int add_text(struct ek_buf *out, const char *key, const char *text)
{
    int rc = ek_buf_printf(out, "\"%s\":", key);
    return rc ? rc : ek_buf_json(out, text, strlen(text));
}

static int add_place(struct ek_buf *out, const struct ek_event_place *p)
{
    int rc = ek_buf_text(out, "{");
    if (!rc)
        rc = add_text(out, "feature", p->feature);
    if (!rc)
        rc = ek_buf_text(out, ",\"segment\":");
    return rc ? rc : ek_segment_json(out, p->dimension, p->value);
}

static int add_word(struct ek_buf *out, const char *key, const char *word)
{
    int rc = ek_buf_text(out, ",");
    if (!rc && !word[0])
        return ek_buf_printf(out, "\"%s\":null", key);
    return rc ? rc : add_text(out, key, word);
}

static int add_finding(struct ek_buf *out, const struct ek_compared_finding *f)
{
    if (!f)
        return ek_buf_text(out, "null");
    int rc = add_place(out, &f->at);
    if (!rc)
        rc = add_word(out, "class", f->class);
    if (!rc)
        rc = isnan(f->factor) ? ek_buf_text(out, ",\"factor\":null")
                              : ek_buf_printf(out, ",\"factor\":%.6g", f->factor);
    if (!rc)
        rc = add_word(out, "unit", f->unit);
    if (!rc)
        rc = add_word(out, "action", f->action);
    if (!rc)
        rc = add_word(out, "mode", f->mode);
    if (!rc)
        rc = ek_buf_printf(out, ",\"since_query\":%" PRIu64 ",\"confirmed\":%" PRIu64, f->since,
                           f->confirmed);
    if (!rc && f->end)
        rc = ek_buf_printf(out, ",\"end\":\"%s\",\"ended\":%" PRIu64, f->end, f->ended);
    if (!rc)
        rc = add_word(out, "text", f->text);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_pair(struct ek_buf *out, const struct ek_compared_pair *p)
{
    int rc = ek_buf_text(out, "{\"a\":");
    if (!rc)
        rc = add_finding(out, p->of[EK_SIDE_A]);
    if (!rc)
        rc = ek_buf_text(out, ",\"b\":");
    if (!rc)
        rc = add_finding(out, p->of[EK_SIDE_B]);
    if (!rc)
        rc = ek_buf_text(out, ",\"otherwise\":[");
    bool first = true;
    for (int i = 0; !rc && i < EK_OTHERS; i++)
        if (p->other & 1u << i) {
            rc = ek_buf_printf(out, "%s\"%s\"", first ? "" : ",", ek_compared_in_name(i));
            first = false;
        }
    return rc ? rc : ek_buf_text(out, "]}");
}

static int add_plan(struct ek_buf *out, const struct ek_compared_plan *p)
{
    int rc = ek_buf_text(out, "[");
    for (size_t i = 0; !rc && i < p->count; i++) {
        rc = ek_buf_text(out, i ? "," : "");
        if (!rc)
            rc = add_place(out, &p->entry[i].at);
        if (!rc)
            rc = add_word(out, "action", ek_action_name(p->entry[i].action));
        if (!rc)
            rc = add_word(out, "mode", ek_mode_name(p->entry[i].mode));
        if (!rc)
            rc = ek_buf_printf(out, ",\"percent\":%.4g", p->entry[i].percent);
        if (!rc)
            rc = ek_buf_text(out, "}");
    }
    return rc ? rc : ek_buf_text(out, "]");
}

static int add_row(struct ek_buf *out, const struct ek_compared_row *r)
{
    int rc = ek_buf_printf(out, "{\"query\":%" PRIu64 ",\"a\":", r->query);
    if (!rc)
        rc = add_plan(out, r->of[EK_SIDE_A]);
    if (!rc)
        rc = ek_buf_text(out, ",\"b\":");
    if (!rc)
        rc = add_plan(out, r->of[EK_SIDE_B]);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_move(struct ek_buf *out, const char *key, const struct ek_rank_sums *s)
{
    int rc = ek_buf_printf(out, "\"%s\":{\"lists\":%" PRIu64, key, s->lists);
    for (int f = 0; !rc && f < FIGURES; f++)
        rc = s->lists ? ek_buf_printf(out, ",\"%s\":%.6g", FIGURE[f].key, figure_of(s, f))
                      : ek_buf_printf(out, ",\"%s\":null", FIGURE[f].key);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_lists(const struct ek_compared *c, struct ek_buf *out)
{
    int rc = ek_buf_printf(out,
                           "],\"withdrawn\":{\"a\":%" PRIu64 ",\"b\":%" PRIu64
                           "},\"touched\":{\"a\":%" PRIu64 ",\"b\":%" PRIu64 ",\"both\":%" PRIu64
                           ",\"apart\":%" PRIu64 "},\"unscored\":{\"a\":%" PRIu64 ",\"b\":%" PRIu64
                           "},\"left\":{\"a\":%" PRIu64 ",\"b\":%" PRIu64 "},\"ranks\":{",
                           c->withdrawn[0], c->withdrawn[1], c->touched[0], c->touched[1], c->both,
                           c->apart, c->unscored[0], c->unscored[1], c->left[0], c->left[1]);
    if (!rc)
        rc = add_move(out, "came_to_a", &c->moved[EK_CAME_TO_A]);
    if (!rc)
        rc = ek_buf_text(out, ",");
    if (!rc)
        rc = add_move(out, "came_to_b", &c->moved[EK_CAME_TO_B]);
    if (!rc)
        rc = ek_buf_text(out, ",");
    return rc ? rc : add_move(out, "a_to_b", &c->moved[EK_A_TO_B]);
}

int ek_compare_json(const struct ek_compared *c, const char *a, const char *b, uint64_t unreadable,
                    struct ek_buf *out)
{
    int rc = ek_buf_text(out, "{");
    if (!rc)
        rc = add_text(out, "a", a);
    if (!rc)
        rc = add_word(out, "b", b);
    if (!rc)
        rc = ek_buf_printf(out,
                           ",\"messages\":%" PRIu64 ",\"unreadable\":%" PRIu64
                           ",\"differ\":%s,\"findings\":[",
                           c->messages, unreadable, c->differ ? "true" : "false");
    for (size_t i = 0; !rc && i < c->pairs; i++) {
        rc = ek_buf_text(out, i ? "," : "");
        if (!rc)
            rc = add_pair(out, &c->pair[i]);
    }
    if (!rc)
        rc = ek_buf_text(out, "],\"plans\":[");
    for (size_t i = 0; !rc && i < c->rows; i++) {
        rc = ek_buf_text(out, i ? "," : "");
        if (!rc)
            rc = add_row(out, &c->row[i]);
    }
    if (!rc)
        rc = add_lists(c, out);
    return rc ? rc : ek_buf_text(out, "}}\n");
}
