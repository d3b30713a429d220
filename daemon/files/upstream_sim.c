#include "daemon/files/upstream_sim.h"

#include "assets/model.h"
#include "base/alloc.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/routing_warning.h"
#include "offline/world/faults.h"
#include "score/scorer.h"

struct ek_upstream_sim {
    struct ek_fault *faults;
    uint64_t *hits;
    size_t fault_count;
    uint64_t seed;
    struct ek_model *model;
    struct ek_scorer *scorer;
};

void ek_upstream_sim_free(struct ek_upstream_sim *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->fault_count; i++)
        ek_fault_release(&u->faults[i]);
    ek_free(u->faults);
    ek_free(u->hits);
    ek_scorer_free(u->scorer);
    ek_model_free(u->model);
    ek_free(u);
}

static int read_faults(struct ek_upstream_sim *u, const struct ek_upstream_sim_options *o,
                       struct ek_error *e)
{
    u->faults = ek_calloc(o->fault_count, sizeof *u->faults);
    u->hits = ek_calloc(o->fault_count, sizeof *u->hits);
    if (!u->faults || !u->hits)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < o->fault_count; i++) {
        int rc = ek_fault_parse(&u->faults[i], o->manifest, o->faults[i], e);
        if (rc)
            return rc;
        u->fault_count++;
    }
    return EK_OK;
}

static int read_model(struct ek_upstream_sim *u, const struct ek_upstream_sim_options *o,
                      struct ek_error *e)
{
    if (!o->model)
        return EK_OK;
    int rc = ek_model_load(&u->model, o->model, e);
    if (!rc)
        rc = ek_model_check(u->model, o->manifest, e);
    if (rc && e)
        ek_kind_explain(o->model, EK_KIND_MODEL, e);
    if (!rc)
        rc = ek_scorer_new(&u->scorer, u->model, e);
    if (!rc && u->model->trained.routed) /* no feature is routed here */
        ek_routing_warn(o->model, u->model, NULL, NULL);
    return rc;
}

int ek_upstream_sim_new(struct ek_upstream_sim **out, const struct ek_upstream_sim_options *o,
                        struct ek_error *e)
{
    struct ek_upstream_sim *u = ek_calloc(1, sizeof *u);
    if (!u)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    u->seed = o->seed;
    int rc = read_faults(u, o, e);
    if (!rc)
        rc = read_model(u, o, e);
    if (rc) {
        ek_upstream_sim_free(u);
        return rc;
    }
    *out = u;
    return EK_OK;
}

bool ek_upstream_sim_needs_fit(const struct ek_upstream_sim *u)
{
    for (size_t i = 0; i < u->fault_count; i++)
        if (ek_fault_needs_fit(&u->faults[i]))
            return true;
    return false;
}

int ek_upstream_sim_fit(struct ek_upstream_sim *u, const struct ek_dataset *d, struct ek_error *e)
{
    for (size_t i = 0; i < u->fault_count; i++) {
        int rc = ek_fault_fit(&u->faults[i], d, e);
        if (rc)
            return rc;
    }
    return EK_OK;
}

int ek_upstream_sim_apply(struct ek_upstream_sim *u, struct ek_list *q, uint64_t number,
                          struct ek_error *e)
{
    for (size_t i = 0; i < u->fault_count; i++)
        u->hits[i] += ek_fault_apply(&u->faults[i], q, number, u->seed);
    if (u->scorer)
        return ek_scorer_score(u->scorer, q, NULL, q->score, e);
    for (int k = 0; k < q->items; k++)
        q->score[k] = 0;
    return EK_OK;
}

uint64_t ek_upstream_sim_matches(const struct ek_upstream_sim *u, size_t i)
{
    return u->hits[i];
}
