#include "guard/guard_assets.h"

#include "base/alloc.h"
#include "guard/guard_control.h"
#include "guard/guard_fleet.h"

#include <inttypes.h>
#include <string.h>

/* Previous guard and its state. */
struct before {
    struct ek_guard guard;
    struct ek_state *state;
    int rc; /* error of gathering the state */
};

const struct ek_assets *ek_guard_assets(const struct ek_guard *g)
{
    return g->assets;
}

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

/* The hash of a manifest does not cover which query features are watched. */
static bool watches_the_same(const struct ek_manifest *a, const struct ek_manifest *b)
{
    bool same = a->watched_count == b->watched_count;
    for (int f = a->item_count; same && f < a->watched_count; f++)
        same = !strcmp(a->item[f]->name, b->item[f]->name);
    return same;
}

static int check(const struct ek_guard *g, const struct ek_assets *assets,
                 enum ek_restore_result *fit, struct ek_error *e)
{
    const struct ek_assets *now = g->assets;
    *fit = EK_RESTORE_OTHER_MANIFEST;
    if (assets->manifest->hash != now->manifest->hash)
        return ek_fail(e, EK_ESTATE,
                       "the manifest is another one (%016" PRIx64 ", in use %016" PRIx64
                       "): make a new guard",
                       assets->manifest->hash, now->manifest->hash);
    if (!watches_the_same(assets->manifest, now->manifest))
        return ek_fail(e, EK_ESTATE, "the manifest watches other query features: make a new guard");
    if (ek_codec_layout(assets->codec) != ek_codec_layout(now->codec))
        return ek_fail(e, EK_ESTATE, "messages are laid out otherwise: make a new guard");
    *fit = EK_RESTORE_NONE;
    return EK_OK;
}

static int add_record(void *to, const char *key, const void *bytes, size_t length)
{
    struct before *b = to;
    if (bytes)
        b->rc = ek_state_add(b->state, key, bytes, length, NULL);
    return b->rc;
}

/* Write the full state to b->state. The checkpoint index is restored, so the next checkpoint is not
 * affected. */
static int gather(struct ek_guard *g, struct before *b, struct ek_error *e)
{
    struct ek_checkpoint_index saved = g->saved;
    int rc = ek_state_new(&b->state, e);
    if (rc)
        return rc;
    g->saved = (struct ek_checkpoint_index){.base = saved.base};
    rc = ek_guard_save(g, 1, NULL, 0, add_record, b, e);
    ek_checkpoint_index_clear(&g->saved);
    g->saved = saved;
    return b->rc ? out_of_memory(e) : rc;
}

/* Decision for an open finding. */
struct stored {
    int feature, cell;
    struct ek_decision decision;
};

struct stored_set {
    const struct ek_guard *guard;
    int count;
    struct stored one[EK_EPISODES_MAX];
};

static struct ek_decision decide(const struct ek_guard *g, const struct ek_finding *f)
{
    const struct ek_assets *a = g->assets;
    const struct ek_means means = ek_assets_means(a);
    return ek_decide(a->rules, a->manifest, &means, f);
}

bool ek_open_decisions_exist(const struct ek_guard *g)
{
    struct ek_finding f;
    int place = 0;
    return !g->member && ek_guard_next_open(g, &place, &f);
}

static void decision_serialize(struct ek_decision *d, struct ek_serialize *s)
{
    int action = (int)d->treatment.action, mode = (int)d->mode, by = (int)d->repair.by,
        desired = d->desired;
    ek_serialize_int(s, &mode, 0, EK_MODE_COUNT - 1);
    ek_serialize_int(s, &desired, 0, 1);
    ek_serialize_int(s, &action, 0, EK_ACTION_COUNT - 1);
    ek_serialize_f64(s, &d->treatment.value);
    ek_serialize_int(s, &by, 0, EK_REPAIR_COUNT - 1);
    d->treatment.action = (enum ek_action)action;
    d->mode = (enum ek_mode)mode;
    d->repair.by = (enum ek_repair_by)by;
    d->desired = desired;
}

static void one_serialize(const struct ek_guard *g, struct stored *one, struct ek_serialize *s)
{
    int cells = ek_cells_count(ek_detector_registry(g->detector));
    ek_serialize_int(s, &one->feature, 0, g->assets->manifest->watched_count - 1);
    ek_serialize_int(s, &one->cell, 0, cells - 1);
    decision_serialize(&one->decision, s);
}

void ek_open_decisions_write(const struct ek_guard *g, struct ek_serialize *s)
{
    struct ek_finding f;
    int count = 0;
    for (int place = 0; ek_guard_next_open(g, &place, &f);)
        count++;
    ek_serialize_int(s, &count, 0, EK_EPISODES_MAX);
    for (int place = 0; ek_guard_next_open(g, &place, &f);) {
        struct stored one = {f.feature, f.cell, decide(g, &f)};
        one_serialize(g, &one, s);
    }
}

static const struct ek_decision *decision_of(const struct stored_set *set,
                                             const struct ek_finding *f)
{
    for (int i = 0; i < set->count; i++)
        if (set->one[i].feature == f->feature && set->one[i].cell == f->cell)
            return &set->one[i].decision;
    return NULL;
}

static bool is_same(const struct ek_decision *was, const struct ek_decision *now)
{
    return was && was->mode == now->mode && was->desired == now->desired &&
           was->treatment.action == now->treatment.action &&
           was->treatment.value == now->treatment.value && was->repair.by == now->repair.by;
}

static bool is_other(void *context, const struct ek_finding *f)
{
    const struct stored_set *set = context;
    struct ek_decision now = decide(set->guard, f);
    return !is_same(decision_of(set, f), &now);
}

/* A route that the new rules or model do not support ends without minimum duration. Return whether
 * a decision differs. */
static bool request(struct ek_guard *g, struct stored_set *set)
{
    struct ek_finding f;
    bool some = false;
    for (int place = 0; ek_guard_next_open(g, &place, &f);) {
        if (!is_other(set, &f))
            continue;
        f.state = decide(g, &f).desired ? EK_UPDATED : EK_DISMISSED;
        ek_controller_add_finding(g->control, &f, g->time_ms);
        some = true;
    }
    return some;
}

static int apply_decisions(struct ek_guard *g, struct stored_set *set)
{
    uint64_t query = ek_detector_list_count(g->detector);
    bool changed;
    if (!request(g, set))
        return EK_OK;
    int rc = ek_controller_update(g->control, g->time_ms, query, &changed);
    if (!rc)
        rc = ek_guard_report_open(g, is_other, set);
    return rc ? rc : ek_guard_report_update(g, changed, query);
}

void ek_open_decisions_apply(struct ek_guard *g, struct ek_serialize *s)
{
    struct stored_set *set = ek_calloc(1, sizeof *set);
    if (!set) {
        s->rc = s->rc ? s->rc : EK_ENOMEM;
        return;
    }
    set->guard = g;
    ek_serialize_int(s, &set->count, 0, EK_EPISODES_MAX);
    for (int i = 0; i < set->count && !s->rc; i++)
        one_serialize(g, &set->one[i], s);
    if (!s->rc)
        s->rc = apply_decisions(g, set);
    ek_free(set);
}

/* Apply new rules to the plan, and report a change, also of a plan that ended because the state was
 * reset. In a fleet the leader does this. */
static int update_plan(struct ek_guard *g, const struct before *b, enum ek_restore_result fit)
{
    uint64_t query = ek_detector_list_count(g->detector);
    uint64_t version = ek_controller_plan(b->guard.control)->version;
    bool changed;
    if (b->guard.member)
        return EK_OK;
    int rc = ek_controller_update(g->control, g->time_ms, query, &changed);
    if (fit == EK_RESTORE_COUNTERS_ONLY)
        changed |= ek_controller_plan(g->control)->version != version;
    return rc ? rc : ek_guard_report_update(g, changed, query);
}

static int restore_from(struct ek_guard *g, const struct ek_assets *assets, const struct before *b,
                        enum ek_restore_result *fit, struct ek_error *e)
{
    int rc = ek_guard_make(g, assets, e);
    if (rc)
        return rc;
    *fit = EK_RESTORE_FULL;
    rc = ek_guard_load_into(g, b->state, fit, e);
    if (!rc && update_plan(g, b, *fit))
        rc = out_of_memory(e);
    if (rc)
        ek_guard_release(g);
    else
        g->saved.base = b->guard.saved.base;
    return rc;
}

/* Replace in place, because parts of the guard refer to its address. */
static int replace(struct ek_guard *g, const struct ek_assets *assets, struct before *b,
                   enum ek_restore_result *fit, struct ek_error *e)
{
    b->guard = *g;
    memset(g, 0, sizeof *g);
    int rc = restore_from(g, assets, b, fit, e);
    if (rc)
        *g = b->guard;
    else
        ek_guard_release(&b->guard);
    return rc;
}

int ek_guard_set_assets(struct ek_guard *g, const struct ek_assets *assets,
                        enum ek_restore_result *fit, struct ek_error *e)
{
    int rc = check(g, assets, fit, e);
    if (rc)
        return rc;
    struct before *b = ek_calloc(1, sizeof *b);
    if (!b)
        return out_of_memory(e);
    rc = gather(g, b, e);
    if (!rc)
        rc = replace(g, assets, b, fit, e);
    ek_state_free(b->state);
    ek_free(b);
    return rc;
}
