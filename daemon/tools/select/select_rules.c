/* Rules from what was measured. What cannot be told from nothing has the built-in values: noise of
 * a few lists must not turn protection off. What is dearest is spoken of at smaller effects than
 * the built-in ones, what is harmless only at larger ones; when to act stays as it is built in. */
#include "daemon/tools/select/select_watch.h"

#include "base/file.h"
#include "rules/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How closely a feature is watched. */
enum care { CARE_MOST, CARE_USUAL, CARE_NONE, CARE_BUILT_IN };

/* The first third of those whose shift does harm are watched most. */
static enum care care_of(const struct ek_harm *h, int rank, int harmful)
{
    if (ek_harm_known(h) != EK_HARM_YES)
        return ek_harm_known(h) == EK_HARM_NO ? CARE_NONE : CARE_BUILT_IN;
    return rank < (harmful + 2) / 3 ? CARE_MOST : CARE_USUAL;
}

static int count_harmful(const struct ek_harm *h, const int *order, int features)
{
    int count = 0;
    for (int i = 0; i < features; i++)
        count += ek_harm_known(&h[order[i]]) == EK_HARM_YES;
    return count;
}

static int write_head(struct ek_writer *w, int cutoff, double whole, struct ek_error *e)
{
    return ek_writer_printf(
        w, e,
        "# Rules by what a change of unit would cost, the dearest feature first: made by evenkeel "
        "select\n"
        "# --watch. NDCG@%d is %.4f on the lists that were measured. Nothing acts before `mode` "
        "says so:\n"
        "# try `shadow`, then `canary` or `enforce`.\n"
        "version: 1\n"
        "defaults:\n"
        "  mode: observe\n"
        "features:\n",
        cutoff, whole);
}

/* Why, for people. */
static int write_why(struct ek_writer *w, const struct ek_harm *h, enum care care,
                     struct ek_error *e)
{
    int rc = ek_writer_printf(w, e, "  # %s: %g%% a year to change unit, which unnoticed ", h->kind,
                              100 * h->chance);
    if (!rc)
        rc = isnan(h->unnoticed)
                 ? ek_writer_printf(w, e, "was not measured: built-in actions\n")
                 : ek_writer_printf(w, e, "costs %.4f +- %.4f", h->unnoticed, h->error);
    if (rc || isnan(h->unnoticed))
        return rc;
    if (care == CARE_BUILT_IN)
        return ek_writer_printf(w, e, "%s: built-in actions\n",
                                h->unnoticed < -2 * h->error ? ", a gain, which is not relied on"
                                                             : ", too few lists to tell");
    if (care == CARE_NONE)
        return ek_writer_printf(w, e, ", as good as nothing: told, not acted on\n");
    if (h->action == EK_ACT_ROUTE)
        return ek_writer_printf(w, e, "; routed, %.4f of that is left\n", h->left);
    if (h->action == EK_ACT_SILENCE)
        return ek_writer_printf(w, e, "; silenced, %.4f of that is left, and routed %.4f\n",
                                h->left, h->routed);
    if (isnan(h->routed))
        return ek_writer_printf(w, e, "; not routable, so people are told\n");
    return ek_writer_printf(w, e, "; to route or silence it costs more, so people are told\n");
}

static int write_units(struct ek_writer *w, const struct ek_harm *h, const char *before,
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

/* A name as YAML: in quotes, for it may look like anything else. */
static int write_name(struct ek_writer *w, const char *name, struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = ek_buf_json(&text, name, strlen(name));
    rc = rc ? ek_fail(e, rc, "no memory for the rules")
            : ek_writer_write(w, text.data, text.length, e);
    ek_buf_release(&text);
    return rc;
}

static int write_actions(struct ek_writer *w, const struct ek_feature *f, const struct ek_harm *h,
                         enum care care, struct ek_error *e)
{
    static const char *const effects[] = {"min_effect: 1.05, ", "", "min_effect: 1.5, "};
    enum ek_action action = care == CARE_NONE ? EK_ACT_ALERT : h->action;
    const char *word = ek_action_name(action);
    int rc = ek_writer_printf(w, e, "%son: {scale: %s", effects[care], word);
    /* What is routed, and what cannot be, has the built-in action for the rest. */
    if (!rc && action != EK_ACT_ROUTE && f->routable)
        rc = ek_writer_printf(w, e, ", power: %s, offset: %s, sign: %s", word, word, word);
    return rc ? rc : ek_writer_printf(w, e, "}");
}

static int write_feature(struct ek_writer *w, const struct ek_feature *f, const struct ek_harm *h,
                         enum care care, struct ek_error *e)
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

int ek_select_write_rules(const char *path, const struct ek_manifest *m, const struct ek_harm *h,
                          const int *order, int cutoff, double whole, struct ek_error *e)
{
    struct ek_writer *w;
    int harmful = count_harmful(h, order, m->item_count), rank = 0;
    int rc = ek_writer_open(&w, path, e);
    if (rc)
        return rc;
    rc = write_head(w, cutoff, whole, e);
    for (int i = 0; i < m->item_count && !rc; i++) {
        const struct ek_harm *f = &h[order[i]];
        enum care care = care_of(f, rank, harmful);
        rank += ek_harm_known(f) == EK_HARM_YES;
        rc = write_feature(w, m->item[order[i]], f, care, e);
    }
    if (!rc)
        return ek_writer_close(w, e);
    ek_writer_abandon(w);
    return rc;
}
