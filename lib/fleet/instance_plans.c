/* Plans that an instance retains. */
#include "base/alloc.h"
#include "fleet/controller_record.h"
#include "fleet/plan_record.h"

#include <string.h>

struct kept {
    int64_t from_ms;
    struct ek_plan *plan;
    struct ek_fleet_accepted_set *normal; /* accepted levels of the plan; retains its cells */
};

struct ek_instance_plans {
    struct ek_detector *detector;
    const struct ek_manifest *manifest;
    uint64_t profile; /* hash */
    struct ek_record_order order;
    bool stored; /* the plan of the newest record, for which memory may have run out */
    struct kept kept[EK_FLEET_PLANS]; /* by from_ms, which rises with the version */
    int count;
    struct ek_plan *none;
    struct ek_controller_record *standing, *spare; /* of the last plan; of the record being read */
    int64_t received_ms;                           /* processing time of the last record */
    uint64_t counted;                              /* number of valid records */
    uint64_t late, missed;
    uint64_t normal; /* version of accepted levels in the detector; 0: none yet */
    bool unsettled;  /* the detector may have other levels than the last plan */
    struct ek_fleet_claim_item *claim,
        *taken; /* [EK_FLEET_FINDINGS_MAX]: current; of the record being read */
    int claims, takes;
    int requests;
    struct ek_row_request request[EK_ROW_REQUESTS_MAX];
};

int ek_instance_plans_new(struct ek_instance_plans **out, struct ek_detector *d, uint64_t profile)
{
    struct ek_instance_plans *p = ek_calloc(1, sizeof *p);
    if (!p)
        return EK_ENOMEM;
    p->detector = d;
    p->profile = profile;
    p->manifest = ek_detector_manifest(d);
    p->none = ek_calloc(1, sizeof *p->none);
    p->standing = ek_calloc(1, sizeof *p->standing);
    p->spare = ek_calloc(1, sizeof *p->spare);
    p->claim = ek_calloc(EK_FLEET_FINDINGS_MAX, sizeof *p->claim);
    p->taken = ek_calloc(EK_FLEET_FINDINGS_MAX, sizeof *p->taken);
    if (!p->none || !p->standing || !p->spare || !p->claim || !p->taken) {
        ek_instance_plans_free(p);
        return EK_ENOMEM;
    }
    *out = p;
    return EK_OK;
}

static void release_plan(struct ek_instance_plans *p, struct ek_plan *plan)
{
    for (int i = 0; plan && i < plan->count; i++)
        ek_detector_release(p->detector, plan->entry[i].cell);
    for (int i = 0; plan && i < plan->modes; i++)
        ek_detector_release(p->detector, plan->mode[i].cell);
    ek_free(plan);
}

static void release_cells(struct ek_instance_plans *p, const struct ek_fleet_accepted_set *n)
{
    for (int i = 0; n && i < n->levels.count; i++)
        ek_detector_release(p->detector, n->levels.one[i].cell);
}

static void release_kept(struct ek_instance_plans *p, struct kept *k)
{
    release_plan(p, k->plan);
    release_cells(p, k->normal);
    ek_fleet_accepted_set_clear(k->normal);
    ek_free(k->normal);
}

static void clear_controller(struct ek_instance_plans *p, struct ek_controller_record *s)
{
    release_cells(p, s ? &s->normal : NULL);
    for (int i = 0; s && i < s->desired.count; i++)
        ek_detector_release(p->detector, s->desired.entry[i].cell);
    for (int i = 0; s && i < s->rollouts.count; i++)
        ek_detector_release(p->detector, s->rollouts.one[i].cell);
    if (s)
        ek_controller_record_clear(s);
}

static void release_fleet_findings(struct ek_instance_plans *p,
                                   const struct ek_fleet_claim_item *claim, int count)
{
    for (int i = 0; i < count; i++)
        ek_detector_release(p->detector, claim[i].cell);
}

void ek_instance_plans_free(struct ek_instance_plans *p)
{
    if (!p)
        return;
    ek_detector_set_fleet_findings(p->detector, NULL, 0);
    release_fleet_findings(p, p->claim, p->claims);
    for (int i = 0; i < p->count; i++)
        release_kept(p, &p->kept[i]);
    clear_controller(p, p->standing);
    ek_free(p->standing);
    ek_free(p->spare);
    ek_free(p->claim);
    ek_free(p->taken);
    ek_free(p->none);
    ek_free(p);
}

/* Lists of a segment without a cell here cannot be distinguished. */
static int retain_cell(void *context, const struct ek_fleet_cell *names, int *cell)
{
    struct ek_instance_plans *p = context;
    return ek_detector_retain_cell(p->detector, names->dimension, names->value, cell);
}

static int add_finding(void *context, const struct ek_fleet_cell *names, const struct ek_finding *f)
{
    struct ek_instance_plans *p = context;
    int cell = -1, rc = f->feature < 0 ? EK_OK : retain_cell(p, names, &cell);
    if (!rc && cell >= 0)
        p->taken[p->takes++] = (struct ek_fleet_claim_item){f->feature, cell};
    return rc;
}

static int add_request(void *context, const struct ek_row_request *request)
{
    struct ek_instance_plans *p = context;
    int feature = ek_manifest_find_watched(p->manifest, request->feature);
    if (feature < 0)
        return EK_OK;
    const char *name = p->manifest->item[feature]->name; /* outlives the record */
    p->request[p->requests++] =
        (struct ek_row_request){ek_text_from(name), request->number, request->rows};
    return EK_OK;
}

/* Move the retained cells of the record to the plan. */
static void store_plan(struct ek_instance_plans *p, struct ek_plan *plan,
                       struct ek_fleet_accepted_set *normal, int64_t from_ms)
{
    *normal = p->standing->normal;
    p->standing->normal = (struct ek_fleet_accepted_set){.profile = normal->profile};
    if (p->count == EK_FLEET_PLANS) {
        release_kept(p, &p->kept[0]);
        memmove(p->kept, p->kept + 1, (EK_FLEET_PLANS - 1) * sizeof *p->kept);
        p->count--;
    }
    p->kept[p->count++] = (struct kept){from_ms, plan, normal};
    p->unsettled = true;
}

/* Replace the findings of the previous record. */
static int change_fleet_findings(struct ek_instance_plans *p)
{
    struct ek_fleet_claim_item *before = p->claim;
    int count = p->claims, rc = ek_detector_set_fleet_findings(p->detector, p->taken, p->takes);
    p->claim = p->taken;
    p->claims = p->takes;
    p->taken = before;
    release_fleet_findings(p, before, count);
    return rc;
}

/* If a segment with a separate mode has no cell here, observe all findings of the feature only. */
static void leave_alone(struct ek_instance_plans *p, struct ek_plan *plan, const bool *apart)
{
    int kept = 0;
    for (int i = 0; i < plan->count; i++)
        if (apart[plan->entry[i].feature] && plan->entry[i].by == EK_BY_FINDING) {
            plan->entry[i].mode = EK_MODE_OBSERVE;
            p->missed++;
        }
    for (int i = 0; i < plan->modes; i++)
        if (apart[plan->mode[i].feature])
            ek_detector_release(p->detector, plan->mode[i].cell);
        else
            plan->mode[kept++] = plan->mode[i];
    plan->modes = kept;
}

static int read_plan(struct ek_instance_plans *p, const struct ek_fleet_plan *record,
                     struct ek_plan *plan)
{
    struct ek_controller_record_reader by = {.manifest = p->manifest,
                                             .cell_of = retain_cell,
                                             .context = p,
                                             .decides = false,
                                             .profile = p->profile};
    int rc = ek_controller_record_read(record, &by, plan, p->spare);
    p->missed += (uint64_t)by.missed;
    leave_alone(p, plan, by.apart);
    return rc;
}

static int read_findings(struct ek_instance_plans *p, const struct ek_fleet_plan *record)
{
    const struct ek_fleet_plan_visitor callbacks = {
        .context = p, .finding = add_finding, .request = add_request};
    p->takes = p->requests = 0;
    int rc = ek_fleet_plan_visit(record, &callbacks);
    if (rc)
        release_fleet_findings(p, p->taken, p->takes);
    return rc ? rc : change_fleet_findings(p);
}

static int read_record(struct ek_instance_plans *p, const struct ek_fleet_plan *record,
                       struct ek_plan *plan, struct ek_error *e)
{
    int rc = read_plan(p, record, plan);
    if (!rc)
        rc = read_findings(p, record);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

static void change_controller(struct ek_instance_plans *p)
{
    struct ek_controller_record *before = p->standing;
    p->standing = p->spare;
    p->spare = before;
}

/* Start times of plans must not decrease. */
static int64_t from_of(const struct ek_instance_plans *p, int64_t from_ms)
{
    int64_t before = p->count ? p->kept[p->count - 1].from_ms : from_ms;
    return from_ms > before ? from_ms : before;
}

int ek_instance_plans_receive(struct ek_instance_plans *p, const void *bytes, size_t length,
                              int64_t clock_ms, int64_t stream_ms, struct ek_error *e)
{
    struct ek_fleet_plan record;
    int rc = ek_fleet_plan_open(&record, bytes, length, p->manifest, e);
    if (rc)
        return rc;
    struct ek_plan *plan = ek_calloc(1, sizeof *plan);
    struct ek_fleet_accepted_set *normal = ek_calloc(1, sizeof *normal);
    if (!plan || !normal) {
        ek_free(plan);
        ek_free(normal);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    enum ek_record_arrival turn = ek_record_order_check(&p->order, &record.head);
    bool is_new = turn == EK_FLEET_NEWER || (turn == EK_FLEET_SAME && !p->stored);
    if (turn != EK_FLEET_VOID) {
        p->counted++;
        p->received_ms = clock_ms;
        rc = read_record(p, &record, plan, e);
    }
    if (is_new)
        p->stored = !rc;
    if (is_new && !rc) {
        change_controller(p);
        p->late += record.head.from_ms < stream_ms;
        store_plan(p, plan, normal, from_of(p, record.head.from_ms));
    } else {
        release_plan(p, plan);
        ek_free(normal);
    }
    clear_controller(p, p->spare);
    return rc;
}

const struct ek_plan *ek_instance_plans_get(const struct ek_instance_plans *p, int64_t time_ms,
                                            int64_t stream_ms)
{
    int near = time_ms >= stream_ms - EK_FLEET_SAME_MS && time_ms <= stream_ms + EK_FLEET_SAME_MS;
    int64_t at = near ? time_ms : stream_ms;
    int i = p->count - 1;
    while (i >= 0 && p->kept[i].from_ms > at)
        i--;
    if (i >= 0)
        return p->kept[i].plan;
    return p->count && p->kept[0].plan->version > 1 ? p->kept[0].plan : p->none;
}

const struct ek_level_offsets *ek_instance_plans_levels(const struct ek_instance_plans *p,
                                                        const struct ek_plan *plan)
{
    for (int i = p->count - 1; i >= 0; i--)
        if (p->kept[i].plan->version == plan->version &&
            p->kept[i].normal->levels.version == plan->normal)
            return &p->kept[i].normal->levels;
    for (int i = p->count - 1; i >= 0; i--) /* its plan was evicted */
        if (p->kept[i].normal->levels.version == plan->normal)
            return &p->kept[i].normal->levels;
    return ek_detector_offsets(p->detector);
}

bool ek_instance_plans_apply_accepted(struct ek_instance_plans *p)
{
    if (!p->unsettled || !p->count)
        return false;
    const struct ek_fleet_accepted_set *now = p->kept[p->count - 1].normal;
    ek_detector_set_normal(p->detector, &now->levels, now->since_ms);
    p->normal = now->levels.version;
    p->unsettled = false;
    return true;
}

void ek_instance_plans_clear_accepted(struct ek_instance_plans *p)
{
    p->unsettled = true;
}

uint64_t ek_instance_plans_normal(const struct ek_instance_plans *p)
{
    return p->normal;
}

struct ek_controller_memory ek_instance_plans_memory(const struct ek_instance_plans *p,
                                                     const struct ek_plan *plan)
{
    return ek_controller_record_memory(p->standing, plan);
}

uint64_t ek_instance_plans_has_version(const struct ek_instance_plans *p)
{
    return p->counted;
}

int64_t ek_instance_plans_age_ms(const struct ek_instance_plans *p, int64_t clock_ms)
{
    return p->counted ? clock_ms - p->received_ms : -1;
}

uint64_t ek_instance_plans_late_count(const struct ek_instance_plans *p)
{
    return p->late;
}

uint64_t ek_instance_plans_unresolved_count(const struct ek_instance_plans *p)
{
    return p->missed;
}

int ek_instance_plans_row_requests(const struct ek_instance_plans *p,
                                   struct ek_row_request request[EK_ROW_REQUESTS_MAX])
{
    memcpy(request, p->request, (size_t)p->requests * sizeof *request);
    return p->requests;
}

static bool is_found(const struct ek_instance_plans *p, struct ek_text feature)
{
    for (int i = 0; i < p->claims; i++)
        if (!ek_text_compare(feature, p->manifest->item[p->claim[i].feature]->name))
            return true;
    return false;
}

bool ek_instance_plans_needs_rows(const struct ek_instance_plans *p)
{
    for (int i = 0; i < p->requests; i++)
        if (!is_found(p, p->request[i].feature))
            return true;
    return false;
}

const struct ek_record_order *ek_instance_plans_order(const struct ek_instance_plans *p)
{
    return &p->order;
}
