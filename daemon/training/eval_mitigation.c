#include "daemon/training/eval_mitigation.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "offline/train/rescale.h"
#include "offline/world/faults.h"
#include "offline/world/synthetic_lists.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

void ek_mitigation_release(struct ek_mitigation *c)
{
    ek_free(c->treatment);
    ek_free(c->repair);
    ek_free(c->fill);
    ek_free(c->arm);
    memset(c, 0, sizeof *c);
}

static int treat(struct ek_mitigation *c, const struct ek_manifest *m, int k,
                 struct ek_treatment treatment, struct ek_eval_args *a)
{
    if (c->treatment[k].action != EK_ACT_NONE)
        return ek_fail(&a->e, EK_EUSAGE, "feature '%s' has two treatments, %s and %s",
                       m->item[m->routable[k]]->name, ek_action_name(c->treatment[k].action),
                       ek_action_name(treatment.action));
    c->treatment[k] = treatment;
    return EK_OK;
}

/* text: "FEATURE,...", "all" or "none"; NULL is "none". */
static int read_action(struct ek_mitigation *c, const struct ek_manifest *m, const char *text,
                       enum ek_action action, struct ek_eval_args *a)
{
    int count = 0, rc = EK_OK;
    if (!text || !strcmp(text, "none"))
        return EK_OK;
    int *k = ek_calloc((size_t)m->routable_count, sizeof *k);
    if (!k)
        return ek_fail(&a->e, EK_ENOMEM, "out of memory");
    if (!strcmp(text, "all"))
        for (; count < m->routable_count; count++)
            k[count] = count;
    else
        rc = ek_routable_list(m, text, k, &count, &a->e);
    for (int i = 0; i < count && !rc; i++)
        rc = treat(c, m, k[i], (struct ek_treatment){action, 1}, a);
    ek_free(k);
    return rc;
}

/* Parse FEATURE=FACTOR. */
static int read_factor(struct ek_mitigation *c, const struct ek_manifest *m, const char *piece,
                       size_t length, struct ek_eval_args *a)
{
    char name[NAME_BYTES];
    int k, count;
    struct ek_treatment t = {EK_ACT_REPAIR, 0};
    size_t n = (size_t)((const char *)memchr(piece, '=', length) - piece);
    if (ek_parse_finite(piece + n + 1, length - n - 1, &t.value) || t.value <= 0)
        return ek_fail(&a->e, EK_EUSAGE, "--repair needs a factor above 0, not '%.*s'", (int)length,
                       piece);
    snprintf(name, sizeof name, "%.*s", (int)n, piece);
    int rc = ek_routable_list(m, name, &k, &count, &a->e);
    return rc ? rc : treat(c, m, k, t, a);
}

struct items {
    int *number, count;
};

/* Append the index of an item feature, routable or not. Return 0 or EK_EUSAGE. */
static int add_item(const struct ek_manifest *m, const char *piece, size_t length,
                    struct items *out, struct ek_error *e)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)length, piece);
    int item = ek_manifest_item(m, name);
    const char *near = item < 0 ? ek_manifest_suggest(m, EK_ROLE_ITEM, name) : NULL;
    if (item < 0)
        return ek_fail(e, EK_EUSAGE,
                       near ? "unknown item feature '%s', did you mean '%s'?"
                            : "unknown item feature '%s'",
                       name, near);
    for (int i = 0; i < out->count; i++)
        if (out->number[i] == item)
            return ek_fail(e, EK_EUSAGE, "duplicate feature '%s'", name);
    out->number[out->count++] = item;
    return EK_OK;
}

static int read_repairs(struct ek_mitigation *c, const struct ek_manifest *m,
                        struct ek_eval_args *a)
{
    struct items fitted = {c->repair, 0};
    const char *piece;
    size_t length;
    int rc = EK_OK;
    for (const char *at = a->repair; !rc && ek_next_field(&at, &piece, &length);)
        rc = memchr(piece, '=', length) ? read_factor(c, m, piece, length, a)
                                        : add_item(m, piece, length, &fitted, &a->e);
    c->repair_count = fitted.count;
    return rc;
}

static int read_imputed(struct ek_mitigation *c, const struct ek_manifest *m,
                        struct ek_eval_args *a)
{
    struct items imputed = {c->fill, 0};
    const char *piece;
    size_t length;
    int rc = EK_OK;
    for (const char *at = a->impute; !rc && ek_next_field(&at, &piece, &length);)
        rc = add_item(m, piece, length, &imputed, &a->e);
    c->fill_count = imputed.count;
    return rc;
}

int ek_mitigation_parse(struct ek_mitigation *c, const struct ek_manifest *m,
                        struct ek_eval_args *a)
{
    memset(c, 0, sizeof *c);
    c->arms = 1;
    c->treatment = ek_calloc((size_t)m->routable_count, sizeof *c->treatment);
    c->repair = ek_calloc((size_t)m->item_count, sizeof *c->repair);
    c->fill = ek_calloc((size_t)m->item_count, sizeof *c->fill);
    if (!c->treatment || !c->repair || !c->fill)
        return ek_fail(&a->e, EK_ENOMEM, "out of memory");
    int rc = read_action(c, m, a->route, EK_ACT_ROUTE, a);
    if (!rc)
        rc = read_action(c, m, a->route_per_source, EK_ACT_ROUTE_PER_SOURCE, a);
    if (!rc)
        rc = read_action(c, m, a->blank, EK_ACT_BLANK, a);
    if (!rc)
        rc = read_repairs(c, m, a);
    if (!rc)
        rc = read_imputed(c, m, a);
    return rc;
}

/* Lists that differ in any fault belong to different arms. */
static int apply_fault(struct ek_mitigation *c, const struct ek_fault *f, struct ek_dataset *d,
                       struct ek_eval_args *a)
{
    int arms = f->op == EK_FAULT_CURRENCY ? 1 + EK_FAULT_RATES : 2;
    bool apart = f->share < 1 || f->op == EK_FAULT_CURRENCY;
    if (apart && c->arms > EK_EVAL_ARMS_MAX / arms)
        return ek_fail(&a->e, EK_EUSAGE, "the faults have more than %d arms", EK_EVAL_ARMS_MAX);
    for (size_t i = 0; i < d->lists; i++) {
        struct ek_list q;
        ek_dataset_view(d, i, &q);
        if (apart)
            c->arm[i] = c->arm[i] * arms + ek_fault_arm(f, &q, i, a->seed);
        ek_fault_apply(f, &q, i, a->seed);
    }
    if (apart)
        c->arms *= arms;
    return EK_OK;
}

static int break_once(struct ek_mitigation *c, const struct ek_manifest *m, struct ek_dataset *d,
                      const char *spec, struct ek_eval_args *a)
{
    struct ek_fault f;
    int rc = ek_fault_parse(&f, m, spec, &a->e);
    if (rc)
        return rc;
    if (f.dimension)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: LETOR lists have no segment '%s'", spec, f.dimension);
    else if (a->sources && f.source >= a->sources)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: invalid source %d; sources are 0 to %d", spec, f.source,
                     a->sources - 1);
    else if (f.source >= 0 && !a->sources && !a->has_teacher)
        rc = ek_fail(&a->e, EK_EUSAGE, "%s: LETOR items have no source; use --sources", spec);
    else
        rc = ek_fault_fit(&f, d, &a->e);
    if (!rc)
        rc = apply_fault(c, &f, d, a);
    ek_fault_release(&f);
    return rc;
}

static void draw_sources(struct ek_dataset *d, const struct ek_eval_args *a)
{
    for (size_t i = 0; i < d->lists && a->sources; i++) {
        size_t first = d->offset[i];
        d->sources[i] = (uint8_t)a->sources;
        ek_sources_draw(d->source + first, (int)(d->offset[i + 1] - first), a->sources, i, a->seed);
    }
}

int ek_mitigation_apply_fault(struct ek_mitigation *c, const struct ek_manifest *m,
                              struct ek_dataset *d, struct ek_eval_args *a)
{
    c->arm = ek_calloc(d->lists, sizeof *c->arm);
    int rc = c->arm ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    draw_sources(d, a);
    for (int i = 0; i < a->fault_count && !rc; i++)
        rc = break_once(c, m, d, a->fault[i], a);
    return rc;
}

static int repair_one(const struct ek_mitigation *c, const struct ek_dataset *reference, int item,
                      struct ek_dataset *d, struct ek_eval_args *a)
{
    double median, *factor = ek_calloc((size_t)c->arms, sizeof *factor);
    int rc = factor ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = ek_ln_median(reference, item, &median, &a->e);
    if (!rc)
        rc = ek_rescale_fit(d, item, median, a->by_arm ? c->arm : NULL, a->by_arm ? c->arms : 1,
                            factor, &a->e);
    ek_free(factor);
    return rc;
}

int ek_mitigation_repair(const struct ek_mitigation *c, const struct ek_manifest *m,
                         struct ek_dataset *d, struct ek_eval_args *a)
{
    struct ek_dataset reference;
    if (!c->repair_count)
        return EK_OK;
    int rc = ek_files_read(&a->reference, m, &reference, &a->e);
    for (int i = 0; i < c->repair_count && !rc; i++)
        rc = repair_one(c, &reference, c->repair[i], d, a);
    ek_dataset_release(&reference);
    return rc;
}

void ek_mitigation_from_model(const struct ek_mitigation *c, const struct ek_model *model,
                              struct ek_dataset *d, bool spread, struct ek_treatment *treatment)
{
    for (int i = 0; i < c->fill_count; i++)
        ek_impute(d, c->fill[i], model->item_median[c->fill[i]]);
    for (int k = 0; k < model->routable_count; k++) {
        treatment[k] = c->treatment[k];
        if (spread && treatment[k].action == EK_ACT_ROUTE)
            treatment[k] =
                (struct ek_treatment){EK_ACT_ROUTE_NORMALIZED, ek_spread_ratio(model, d, k)};
    }
}
