/* Command `eval`: ranking quality of models on lists with faults, routes and other mitigations. */
#include "base/alloc.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/routing_warning.h"
#include "daemon/training/eval_args.h"
#include "daemon/training/eval_mitigation.h"
#include "daemon/training/eval_print.h"

#include <stdio.h>

struct models {
    struct ek_model *model[EK_FILES_MAX];
    int count;
};

static int load_models(struct models *v, struct ek_eval_args *a, const struct ek_manifest *m)
{
    for (v->count = 0; v->count < a->model.count; v->count++) {
        const char *path = a->model.path[v->count];
        int rc = ek_model_load(&v->model[v->count], path, &a->e);
        if (rc)
            return ek_kind_explain(path, EK_KIND_MODEL, &a->e);
        rc = ek_model_check(v->model[v->count], m, &a->e);
        if (rc) {
            ek_model_free(v->model[v->count]);
            ek_error_place(&a->e, path, 0, 0);
            return rc;
        }
    }
    return EK_OK;
}

static void free_models(struct models *v)
{
    for (int i = 0; i < v->count; i++)
        ek_model_free(v->model[i]);
}

/* Apply faults, then mitigations. upstream: empty; filled from messages. */
static int prepare(struct ek_eval_args *a, const struct ek_manifest *m, struct ek_mitigation *c,
                   struct ek_dataset *d, struct ek_upstream_scores *upstream)
{
    int rc = a->has_teacher ? ek_files_read_relabeled(&a->data, m, a->config, d, upstream, &a->e)
                            : ek_files_read(&a->data, m, d, &a->e);
    if (!rc)
        rc = ek_mitigation_apply_fault(c, m, d, a);
    return rc ? rc : ek_mitigation_repair(c, m, d, a);
}

static int measure(struct ek_eval_args *a, const struct models *v, const struct ek_mitigation *c,
                   struct ek_dataset *d, struct ek_eval_result *r)
{
    int rc = EK_OK;
    r->lists = d->lists;
    for (int i = 0; i < v->count && !rc; i++) {
        size_t routable = (size_t)v->model[i]->routable_count;
        struct ek_treatment *t = r->treatment + (size_t)i * routable;
        ek_mitigation_from_model(c, v->model[i], d, a->spread, t);
        r->of[i] = a->evaluation;
        r->of[i].treatment = t;
        rc = ek_evaluate(v->model[i], d, &r->of[i], &a->e);
    }
    return rc;
}

/* Save the model with this agreement in place of an earlier one. */
static int save_with(struct ek_eval_args *a, struct ek_model *model,
                     const struct ek_model_agreement *f)
{
    if (!f->lists)
        return ek_fail(&a->e, EK_EFORMAT,
                       "no list has different upstream scores, so there is no agreement");
    model->agreement = *f;
    return ek_model_save(model, a->output, &a->e);
}

/* r: result of the only model. */
static int measure_agreement(struct ek_eval_args *a, struct ek_model *model,
                             const struct ek_mitigation *c, struct ek_dataset *d,
                             const struct ek_upstream_scores *upstream, struct ek_eval_result *r)
{
    struct ek_model_agreement f;
    ek_mitigation_from_model(c, model, d, a->spread, r->treatment);
    int rc = ek_model_agreement_measure(model, d, upstream, r->treatment, &f, &a->e);
    if (!rc && a->output)
        rc = save_with(a, model, &f);
    if (rc)
        return rc;
    if (!a->json) {
        ek_routing_agreement_print(&f, d->lists, stdout);
        return EK_OK;
    }
    ek_routing_agreement_print_json(&f, stdout);
    putchar('\n');
    return EK_OK;
}

static int measure_quality(struct ek_eval_args *a, const struct ek_manifest *m,
                           const struct models *v, const struct ek_mitigation *c,
                           struct ek_dataset *d, struct ek_eval_result *r)
{
    int rc = measure(a, v, c, d, r);
    if (!rc && a->json)
        rc = ek_eval_print_json(a, m, r);
    else if (!rc)
        ek_eval_print_text(a, r);
    return rc;
}

static int with_models(struct ek_eval_args *a, const struct ek_manifest *m, const struct models *v)
{
    struct ek_dataset d;
    struct ek_mitigation c;
    size_t count = (size_t)v->count;
    struct ek_eval_result r = {
        .of = ek_calloc(count, sizeof *r.of),
        .treatment = ek_calloc(count, (size_t)m->routable_count * sizeof *r.treatment),
    };
    struct ek_upstream_scores upstream = {0};
    ek_dataset_init(&d, m->item_count, m->query_count);
    int rc = ek_mitigation_parse(&c, m, a);
    if (!rc && (!r.of || !r.treatment))
        rc = ek_fail(&a->e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < v->count && !rc; i++)
        ek_routing_warn(a->model.path[i], v->model[i], c.treatment, NULL);
    if (!rc)
        rc = prepare(a, m, &c, &d, &upstream);
    if (!rc && a->has_teacher)
        rc = measure_agreement(a, v->model[0], &c, &d, &upstream, &r);
    else if (!rc)
        rc = measure_quality(a, m, v, &c, &d, &r);
    ek_upstream_scores_release(&upstream);
    ek_dataset_release(&d);
    ek_mitigation_release(&c);
    ek_free(r.of);
    ek_free(r.treatment);
    return rc;
}

static int with_manifest(struct ek_eval_args *a)
{
    struct ek_manifest *m;
    struct models v;
    int rc = ek_manifest_load(&m, a->manifest, &a->e);
    if (rc)
        return ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e);
    rc = load_models(&v, a, m);
    if (!rc)
        rc = with_models(a, m, &v);
    free_models(&v);
    ek_manifest_free(m);
    return rc;
}

int ek_cmd_eval(int argc, char **argv)
{
    struct ek_eval_args a;
    ek_eval_parse(&a, argc, argv);
    return with_manifest(&a) ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
