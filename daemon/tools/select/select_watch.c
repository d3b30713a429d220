/* Rules from measured effects of shifts.
 *
 * Features without a measurable effect keep the defaults, because noise in a few lists must not
 * disable protection. The most harmful features get smaller report thresholds, harmless ones
 * larger; thresholds of actions keep their defaults.
 */
#include "daemon/tools/select/select_watch.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/parse.h"
#include "base/portable.h"
#include "daemon/base/text_table.h"
#include "daemon/tools/select/select_choose.h"
#include "offline/world/faults.h"
#include "rules/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sensitivity of the monitoring of a feature. */
enum care { CARE_MOST, CARE_USUAL, CARE_NONE, CARE_BUILT_IN };

/* The first third of the features with harmful shifts are monitored most closely. */
static enum care care_of(const struct ek_shift_impact *h, int rank, int harmful)
{
    if (ek_shift_impact_known(h) != EK_HARM_YES)
        return ek_shift_impact_known(h) == EK_HARM_NO ? CARE_NONE : CARE_BUILT_IN;
    return rank < (harmful + 2) / 3 ? CARE_MOST : CARE_USUAL;
}

static int count_harmful(const struct ek_shift_impact *h, const int *order, int features)
{
    int count = 0;
    for (int i = 0; i < features; i++)
        count += ek_shift_impact_known(&h[order[i]]) == EK_HARM_YES;
    return count;
}

static int write_head(struct ek_writer *w, int cutoff, double whole, struct ek_error *e)
{
    return ek_writer_printf(
        w, e,
        "# Rules by the expected loss of a unit change, the largest first: written by evenkeel "
        "select\n# --watch. NDCG@%d is %.4f on the measured lists. With `mode: observe` there are "
        "no actions:\n# use `shadow`, then `canary` or `enforce`.\nversion: 1\ndefaults:\n  mode: "
        "observe\nfeatures:\n",
        cutoff, whole);
}

/* Write the reason as a comment. */
static int write_why(struct ek_writer *w, const struct ek_shift_impact *h, enum care care,
                     struct ek_error *e)
{
    int rc = ek_writer_printf(w, e, "  # %s: %g%% a year to change unit, which unnoticed ", h->kind,
                              100 * h->chance);
    if (!rc)
        rc = isnan(h->unnoticed)
                 ? ek_writer_printf(w, e, "was not measured: default actions\n")
                 : ek_writer_printf(w, e, "costs %.4f +- %.4f", h->unnoticed, h->error);
    if (rc || isnan(h->unnoticed))
        return rc;
    if (care == CARE_BUILT_IN)
        return ek_writer_printf(w, e, "%s: default actions\n",
                                h->unnoticed < -2 * h->error
                                    ? ", a gain, which is ignored"
                                    : ", not significant with these lists");
    if (care == CARE_NONE)
        return ek_writer_printf(w, e, ", negligible: report only\n");
    if (h->action == EK_ACT_ROUTE)
        return ek_writer_printf(w, e, "; %.4f of it remains when routed\n", h->left);
    if (h->action == EK_ACT_BLANK)
        return ek_writer_printf(w, e, "; %.4f of it remains when blanked, %.4f when routed\n",
                                h->left, h->routed);
    if (isnan(h->routed))
        return ek_writer_printf(w, e, "; not routable: alert\n");
    return ek_writer_printf(w, e, "; routing or blanking costs more: alert\n");
}

static int write_units(struct ek_writer *w, const struct ek_shift_impact *h, const char *before,
                       struct ek_error *e)
{
    int rc = EK_OK;
    bool any = false;
    for (int i = 0; i < h->shift_count && i < EK_UNITS_MAX && !rc; i++)
        if (h->shift[i].unit) {
            rc = ek_writer_printf(w, e, h->shift[i].by_query ? "%s\"query_feature:%s\"" : "%s%s",
                                  before, h->shift[i].unit);
            before = ", ";
            any = true;
        }
    return rc || !any ? rc : ek_writer_printf(w, e, "]");
}

/* Quote the name, which may look like another type. */
static int write_name(struct ek_writer *w, const char *name, struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = ek_buf_json(&text, name, strlen(name));
    rc = rc ? ek_fail(e, rc, "out of memory") : ek_writer_write(w, text.data, text.length, e);
    ek_buf_release(&text);
    return rc;
}

static int write_actions(struct ek_writer *w, const struct ek_feature *f,
                         const struct ek_shift_impact *h, enum care care, struct ek_error *e)
{
    static const char *const effects[] = {"report_threshold: 1.05, ", "",
                                          "report_threshold: 1.5, "};
    enum ek_action action = care == CARE_NONE ? EK_ACT_ALERT : h->action;
    const char *word = ek_action_name(action);
    int rc = ek_writer_printf(w, e, "%sactions: {scale: %s", effects[care], word);
    /* The built-in actions of the other classes suit a routed feature, and one that the model
     * cannot route; but written features would be repaired, even those that do no harm. */
    if (!rc && action != EK_ACT_ROUTE && (f->routable || action == EK_ACT_ALERT))
        rc = ek_writer_printf(w, e, ", power: %s, offset: %s, sign: %s", word, word, word);
    return rc ? rc : ek_writer_printf(w, e, "}");
}

static int write_feature(struct ek_writer *w, const struct ek_feature *f,
                         const struct ek_shift_impact *h, enum care care, struct ek_error *e)
{
    int rc = write_why(w, h, care, e);
    if (!rc)
        rc = ek_writer_printf(w, e, "  ");
    if (!rc)
        rc = write_name(w, f->name, e);
    if (!rc)
        rc = ek_writer_printf(w, e, ": {");
    if (!rc && care != CARE_BUILT_IN)
        rc = write_actions(w, f, h, care, e);
    if (!rc)
        rc = write_units(w, h, care == CARE_BUILT_IN ? "units: [" : ", units: [", e);
    return rc ? rc : ek_writer_printf(w, e, "}\n");
}

/* Write rules from the effects h [F] in the order of the expected harm, order [F], each with a
 * comment. Return 0, or an error of the file such as EK_EIO. */
static int select_write_rules(const char *path, const struct ek_manifest *m,
                              const struct ek_shift_impact *h, const int *order, int cutoff,
                              double whole, struct ek_error *e)
{
    struct ek_writer *w;
    int harmful = count_harmful(h, order, m->item_count), rank = 0;
    int rc = ek_writer_open(&w, path, e);
    if (rc)
        return rc;
    rc = write_head(w, cutoff, whole, e);
    for (int i = 0; i < m->item_count && !rc; i++) {
        const struct ek_shift_impact *f = &h[order[i]];
        enum care care = care_of(f, rank, harmful);
        rank += ek_shift_impact_known(f) == EK_HARM_YES;
        rc = write_feature(w, m->item[order[i]], f, care, e);
    }
    if (!rc)
        return ek_writer_close(w, e);
    ek_writer_abandon(w);
    return rc;
}

enum { WIDTH = 79 };

/* Fail with the kind or item feature most similar to an unknown word. */
static int unknown_name(struct ek_select_args *a, const struct ek_manifest *m, const char *name)
{
    const char *kinds[32], *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    double chance;
    size_t count = 0;
    while (count < 32 && (kinds[count] = ek_shift_impact_kind((int)count, &chance)))
        count++;
    if (!near)
        near = ek_nearest_name(name, kinds, count);
    return ek_fail(&a->e, EK_EUSAGE, "--prior: unknown item feature or kind '%.60s'%s%s%s", name,
                   near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool is_kind(const char *name)
{
    double chance;
    const char *kind;
    for (int i = 0; (kind = ek_shift_impact_kind(i, &chance)); i++)
        if (!strcmp(kind, name))
            return true;
    return false;
}

/* The prior of a feature overrides that of its kind, so features are read in a second pass. */
static int read_priors(struct ek_select_args *a, const struct ek_manifest *m,
                       struct ek_shift_impact *h)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < a->prior_count; i++) {
            const char *sign = strchr(a->chance[i], '=');
            char name[EK_NAME_BYTES_MAX + 1];
            double chance = 0;
            snprintf(name, sizeof name, "%.*s", (int)(sign - a->chance[i]), a->chance[i]);
            ek_parse_finite(sign + 1, EK_WHOLE, &chance);
            int item = ek_manifest_item(m, name);
            if (item < 0 && !is_kind(name))
                return unknown_name(a, m, name);
            if (round && item >= 0)
                h[item].chance = chance;
            for (int f = 0; !round && item < 0 && f < m->item_count; f++)
                if (!strcmp(h[f].kind, name))
                    h[f].chance = chance;
        }
    return EK_OK;
}

static int by_expected(const void *a, const void *b, void *context)
{
    const struct ek_shift_impact *h = context;
    int i = *(const int *)a, j = *(const int *)b;
    if (isnan(h[i].expected) || isnan(h[j].expected))
        return isnan(h[i].expected) == isnan(h[j].expected) ? i - j : isnan(h[i].expected) ? 1 : -1;
    if (h[i].expected != h[j].expected)
        return h[i].expected > h[j].expected ? -1 : 1;
    return i - j;
}

static int measure(struct ek_select_args *a, const struct ek_manifest *m,
                   const struct ek_model *model, const struct ek_dataset *d, struct ek_pool *pool,
                   double *whole, struct ek_shift_impact *h)
{
    struct ek_select_progress w;
    ek_select_progress_start(&w, pool);
    struct ek_importance_options o;
    ek_importance_defaults(&o);
    o.metric.cutoff = a->cutoff;
    o.seed = a->seed;
    o.run = ek_select_run;
    o.done = ek_select_progress_add;
    o.context = &w;
    for (int i = 0; i < m->item_count; i++)
        ek_shift_candidates(m, i, d, &h[i]);
    int rc = read_priors(a, m, h);
    if (rc)
        return rc;
    ek_progress_start(&w.progress, "shifting");
    rc = ek_shift_impact_measure(model, m, d, &o, whole, h, &a->e);
    if (!rc)
        ek_progress_finish(&w.progress, "all features shifted");
    return rc;
}

static void number(char cell[20], int digits, double x)
{
    if (isnan(x))
        snprintf(cell, 20, "-");
    else
        snprintf(cell, 20, "%+.*f", digits, x);
}

/* Return the best measured action, else the default of the rules. */
static const char *action_of(const struct ek_shift_impact *h)
{
    return ek_shift_impact_known(h) == EK_HARM_UNKNOWN ? "built-in" : ek_action_name(h->action);
}

static int add_row(struct ek_text_table *table, const struct ek_manifest *m,
                   const struct ek_shift_impact *h, int item)
{
    char chance[20], unnoticed[20], error[20], left[20], expected[20];
    const char *texts[] = {h->kind, chance,   unnoticed,    error,
                           left,    expected, action_of(h), m->item[item]->name};
    snprintf(chance, sizeof chance, "%g%%", 100 * h->chance);
    number(unnoticed, 4, h->unnoticed);
    snprintf(error, sizeof error, isnan(h->error) ? "-" : "%.4f", h->error);
    number(left, 4, h->left);
    number(expected, 5, h->expected);
    return ek_text_table_add(table, texts);
}

static int print_text(const struct ek_select_args *a, const struct ek_manifest *m,
                      const struct ek_shift_impact *h, const int *order, double whole,
                      struct ek_error *e)
{
    static const char *const titles[] = {"kind", "chance",   "unnoticed", "+-",
                                         "left", "expected", "action",    "feature"};
    FILE *to = ek_select_table(a);
    struct ek_text_table *table = ek_text_table_new(titles, 8);
    int rc = table ? EK_OK : EK_ENOMEM;
    for (int i = 0; i < m->item_count && !rc; i++)
        rc = add_row(table, m, &h[order[i]], order[i]);
    if (!rc)
        ek_text_table_print(table, to);
    ek_text_table_free(table);
    if (rc)
        return ek_fail(e, rc, "out of memory");
    char text[600];
    snprintf(text, sizeof text,
             "NDCG@%d is %.4f (gain 2^y - 1, lists without a positive label skipped). unnoticed: "
             "mean loss over plausible unit changes; +-: its standard error over the lists; "
             "built-in: not significant, or not measured (-); left: loss that remains with the "
             "action; chance: probability of a change within a year (an estimate, see --prior); "
             "expected: chance x unnoticed",
             a->cutoff, whole);
    fputc('\n', to);
    ek_print_wrapped(text, WIDTH, to);
    return EK_OK;
}

static void shifts_json(struct ek_json_writer *to, const struct ek_shift_impact *h)
{
    ek_json_open(to, "shifts", '[');
    for (int i = 0; i < h->shift_count; i++) {
        ek_json_open(to, NULL, '{');
        ek_json_add_text(to, "shift", h->shift[i].how);
        ek_json_add_text(to, h->shift[i].by_query ? "query_feature" : "unit", h->shift[i].unit);
        ek_json_add_number(to, "weight", h->shift[i].weight);
        ek_json_add_number(to, "lost", h->shift[i].lost);
        ek_json_close(to, '}');
    }
    ek_json_close(to, ']');
}

static int print_json(const struct ek_select_args *a, const struct ek_manifest *m,
                      const struct ek_shift_impact *h, const int *order, double whole,
                      struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer to;
    ek_json_begin_line(&to, &line);
    ek_json_add_count(&to, "cutoff", (uint64_t)a->cutoff);
    ek_json_add_text(&to, "gain", "exp");
    ek_json_add_text(&to, "empty", "skip");
    ek_json_add_number(&to, "whole", whole);
    ek_json_open(&to, "features", '[');
    for (int i = 0; i < m->item_count; i++) {
        const struct ek_shift_impact *f = &h[order[i]];
        ek_json_open(&to, NULL, '{');
        ek_json_add_text(&to, "name", m->item[order[i]]->name);
        ek_json_add_text(&to, "kind", f->kind);
        ek_json_add_number(&to, "chance", f->chance);
        ek_json_add_number(&to, "unnoticed", f->unnoticed);
        ek_json_add_number(&to, "error", isfinite(f->error) ? f->error : NAN);
        ek_json_add_number(&to, "routed", f->routed);
        ek_json_add_number(&to, "silenced", f->silenced);
        ek_json_add_text(&to, "action", action_of(f));
        ek_json_add_number(&to, "left", f->left);
        ek_json_add_number(&to, "expected", f->expected);
        shifts_json(&to, f);
        ek_json_close(&to, '}');
    }
    ek_json_close(&to, ']');
    return ek_json_end_line(&to, stdout, e);
}

int ek_select_watch(struct ek_select_args *a, const struct ek_manifest *m,
                    const struct ek_model *model, const struct ek_dataset *d, struct ek_pool *pool)
{
    size_t n = (size_t)m->item_count;
    struct ek_shift_impact *h = ek_calloc(n, sizeof *h);
    int *order = ek_calloc(n, sizeof *order);
    double whole = 0;
    int rc = h && order ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = measure(a, m, model, d, pool, &whole, h);
    for (int i = 0; i < m->item_count && !rc; i++) {
        order[i] = i;
        if (isnan(h[i].unnoticed))
            fprintf(stderr,
                    "evenkeel: '%s' is not measured: it has more than %d values, too many to "
                    "renumber\n",
                    m->item[i]->name, EK_FAULT_CODES_MAX);
    }
    if (!rc)
        ek_sort_with(order, n, sizeof *order, by_expected, h);
    if (!rc && a->output)
        rc = select_write_rules(a->output, m, h, order, a->cutoff, whole, &a->e);
    if (!rc)
        rc = (a->json ? print_json : print_text)(a, m, h, order, whole, &a->e);
    ek_free(h);
    ek_free(order);
    return rc;
}
