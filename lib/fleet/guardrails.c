#include "fleet/guardrails.h"

#include "base/alloc.h"
#include "fleet/pool.h"
#include "serve/comparison_sums.h"

#include <string.h>

/* Instance, as of its last record. */
struct instance {
    char name[EK_FLEET_NAME_MAX + 1];
    uint64_t start, number;
    int64_t received_ms;
    struct ek_fleet_comparisons_total all;
};

/* Comparisons of one instance for one route; instance -1: sum of ended runs. */
struct tested {
    int instance;
    struct ek_comparison_sums sums;
};

/* Requested route: start of its recent window, and its evidence. */
struct route {
    int feature, place;
    enum ek_action action;
    int64_t since_ms;
    uint32_t restarts;
    struct ek_recent_values recent;
    uint64_t measured;
    int64_t worse_sum[EK_MEAN_EVALUES];
    struct ek_mean_evalues worse;
};

struct ek_fleet_guardrails {
    const struct ek_manifest *manifest;
    int instances, instances_room;
    struct instance *instance;
    int count, room;
    struct tested *tried;
    int routes;
    struct route route[EK_ROLLOUTS_MAX];
    struct ek_output_counts load; /* sum over instances since each became known */
    struct ek_latency_window latency;
};

int ek_fleet_guardrails_new(struct ek_fleet_guardrails **out, const struct ek_manifest *m)
{
    *out = ek_calloc(1, sizeof **out);
    if (*out)
        (*out)->manifest = m;
    return *out ? EK_OK : EK_ENOMEM;
}

void ek_fleet_guardrails_free(struct ek_fleet_guardrails *r)
{
    if (!r)
        return;
    ek_free(r->instance);
    ek_free(r->tried);
    ek_free(r);
}

/* Return the array with space for one more element; NULL: out of memory, or `most` elements. */
static void *one_more(void *all, int count, int *room, int most, size_t size)
{
    int more = *room ? 2 * *room : 8;
    if (count < *room)
        return all;
    void *grown = count < most ? ek_realloc(all, (size_t)more, size) : NULL;
    *room = grown ? more : *room;
    return grown;
}

static bool is_of(const struct ek_comparison_sums *a, int feature, int place, enum ek_action action,
                  int64_t since_ms, uint32_t restarts)
{
    return a->feature == feature && a->cell == place && a->action == action &&
           a->since_ms == since_ms && a->restarts == restarts;
}

/* ------------------------------------------------------------------- records */

static int add(struct ek_fleet_guardrails *r, int instance, const struct ek_comparison_sums *sums)
{
    void *all = one_more(r->tried, r->count, &r->room, EK_FLEET_COMPARED_MAX, sizeof *r->tried);
    if (!all)
        return r->count < EK_FLEET_COMPARED_MAX ? EK_ENOMEM : EK_OK;
    r->tried = all;
    r->tried[r->count++] = (struct tested){instance, *sums};
    return EK_OK;
}

/* Add to the sum of ended runs. */
static void fold(struct ek_fleet_guardrails *r, struct tested *one)
{
    const struct ek_comparison_sums *s = &one->sums;
    for (int i = 0; i < r->count; i++) {
        struct tested *past = &r->tried[i];
        if (past->instance >= 0 ||
            !is_of(&past->sums, s->feature, s->cell, s->action, s->since_ms, s->restarts))
            continue;
        ek_comparison_sums_add(&past->sums, s);
        one->sums.feature = -1;
        return;
    }
    one->instance = -1;
}

/* Remove the last record of an instance. `over`: its run has ended; keep its comparisons. */
static void remove_instance(struct ek_fleet_guardrails *r, int instance, bool over)
{
    int kept = 0;
    for (int i = 0; i < r->count; i++)
        if (over && r->tried[i].instance == instance)
            fold(r, &r->tried[i]);
    for (int i = 0; i < r->count; i++)
        if (r->tried[i].instance != instance && r->tried[i].sums.feature >= 0)
            r->tried[kept++] = r->tried[i];
    r->count = kept;
}

static struct instance *find(struct ek_fleet_guardrails *r, struct ek_text name)
{
    for (int i = 0; i < r->instances; i++)
        if (!ek_text_compare(name, r->instance[i].name))
            return &r->instance[i];
    return NULL;
}

/* Reuse the entry of the instance with the oldest record if it has expired; its comparisons stay in
 * the sum. Return NULL if none has expired. */
static struct instance *place_of_removed(struct ek_fleet_guardrails *r, int64_t clock_ms)
{
    int gone = 0;
    for (int i = 1; i < r->instances; i++)
        if (r->instance[i].received_ms < r->instance[gone].received_ms)
            gone = i;
    if (clock_ms - r->instance[gone].received_ms <= EK_FLEET_EXPIRED_MS)
        return NULL;
    remove_instance(r, gone, true);
    return &r->instance[gone];
}

/* Return NULL if out of memory or space. */
static struct instance *new_place(struct ek_fleet_guardrails *r, int64_t clock_ms)
{
    if (r->instances == EK_FLEET_INSTANCES_MAX)
        return place_of_removed(r, clock_ms);
    void *all = one_more(r->instance, r->instances, &r->instances_room, EK_FLEET_INSTANCES_MAX,
                         sizeof *r->instance);
    if (!all)
        return NULL;
    r->instance = all;
    return &r->instance[r->instances++];
}

/* Add an instance; its first totals are the start values. Return NULL if out of memory or space. */
static struct instance *known_from(struct ek_fleet_guardrails *r,
                                   const struct ek_fleet_comparisons *t, int64_t clock_ms)
{
    struct instance *one = new_place(r, clock_ms);
    if (!one)
        return NULL;
    *one = (struct instance){.start = t->head.start, .all = t->all};
    memcpy(one->name, t->head.instance.text, t->head.instance.length);
    return one;
}

static uint64_t risen(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Add the output counts and latencies since the last record. */
static void add_all(struct ek_fleet_guardrails *r, const struct ek_comparisons_total *from,
                    const struct ek_comparisons_total *to)
{
    uint64_t times[EK_LATENCY_WINDOW_BINS];
    for (int i = 0; i < 2; i++) {
        r->load.lists[i] += risen(from->load.lists[i], to->load.lists[i]);
        r->load.dead[i] += risen(from->load.dead[i], to->load.dead[i]);
    }
    for (int i = 0; i < EK_LATENCY_WINDOW_BINS; i++)
        times[i] = risen(from->latency[i], to->latency[i]);
    ek_latency_window_add(&r->latency, times);
}

/* Reporting instance, and its cell numbers. */
struct update {
    struct ek_fleet_guardrails *rails;
    int instance;
    int (*place_of)(void *context, const struct ek_fleet_cell *cell, int *place);
    void *context;
};

/* Guardrails use only the distribution of rank changes. Clamping sums avoids overflow and does not
 * change clear evidence. */
static void cut(struct ek_comparison_sums *s)
{
    static const int64_t MOST = (int64_t)1 << 48;
    struct ek_rank_sums *const ranks[] = {&s->moved, &s->acted};
    for (int i = 0; i < 2; i++)
        ranks[i]->tau = ranks[i]->top10 = ranks[i]->places = ranks[i]->change = 0;
    for (int i = 0; i < EK_MEAN_EVALUES; i++) {
        int64_t sum = s->worse_sum[i];
        s->worse_sum[i] = sum > MOST ? MOST : sum < -MOST ? -MOST : sum;
    }
}

static int add_route(void *context, const struct ek_fleet_comparison *t)
{
    struct update *o = context;
    struct ek_comparison_sums sums = t->is;
    cut(&sums);
    sums.feature = ek_manifest_find_watched(o->rails->manifest, t->place.feature);
    int rc = o->place_of(o->context, &t->place.cell, &sums.cell);
    return rc || sums.feature < 0 || sums.cell < 0 ? rc : add(o->rails, o->instance, &sums);
}

static int add_comparisons(struct update *o, const struct ek_fleet_comparisons *t, int64_t clock_ms,
                           struct ek_error *e)
{
    static const struct ek_comparisons_total none;
    struct ek_fleet_guardrails *r = o->rails;
    struct instance *one = find(r, t->head.instance);
    if (!one)
        one = known_from(r, t, clock_ms);
    if (!one)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    bool over = t->head.start > one->start;
    if (t->head.start < one->start || (!over && t->head.number <= one->number))
        return EK_OK;
    o->instance = (int)(one - r->instance);
    remove_instance(r, o->instance, over);
    add_all(r, over ? &none : &one->all.is, &t->all.is);
    one->start = t->head.start;
    one->number = t->head.number;
    one->received_ms = clock_ms;
    one->all = t->all;
    return ek_fleet_comparisons_each(t, add_route, o) ? ek_fail(e, EK_ENOMEM, "out of memory")
                                                      : EK_OK;
}

int ek_fleet_guardrails_receive(struct ek_fleet_guardrails *r, const void *bytes, size_t length,
                                uint64_t profile, int64_t clock_ms,
                                int (*place_of)(void *context, const struct ek_fleet_cell *cell,
                                                int *place),
                                void *context, struct ek_error *e)
{
    struct ek_fleet_comparisons t;
    struct update o = {r, -1, place_of, context};
    int rc = ek_fleet_comparisons_open(&t, bytes, length, r->manifest, e);
    if (rc)
        return rc;
    if (t.head.profile != profile)
        return ek_fail(e, EK_ESTATE, "trials of an instance with another profile");
    return add_comparisons(&o, &t, clock_ms, e);
}

/* ------------------------------------------------------------------- statistics */

static bool is_route(const struct route *o, const struct ek_plan_entry *e)
{
    return o->action == e->treatment.action && o->since_ms == e->since_ms &&
           o->restarts == e->restarts;
}

/* Return the entry of a route, restarted if the route was. NULL: no space. */
static struct route *route_of(struct ek_fleet_guardrails *r, const struct ek_plan_entry *e)
{
    int i = 0;
    while (i < r->routes && (r->route[i].feature != e->feature || r->route[i].place != e->cell))
        i++;
    if (i < r->routes && is_route(&r->route[i], e))
        return &r->route[i];
    if (i == EK_ROLLOUTS_MAX)
        return NULL;
    r->routes = i < r->routes ? r->routes : i + 1;
    r->route[i] = (struct route){.feature = e->feature,
                                 .place = e->cell,
                                 .action = e->treatment.action,
                                 .since_ms = e->since_ms,
                                 .restarts = e->restarts};
    ek_recent_values_start(&r->route[i].recent, &r->load);
    ek_mean_evalues_start(&r->route[i].worse, EK_HARM_BOUND);
    return &r->route[i];
}

static bool sum_up(const struct ek_fleet_guardrails *r, const struct ek_plan_entry *e,
                   struct ek_comparison_sums *out)
{
    bool some = false;
    for (int i = 0; i < r->count; i++) {
        const struct ek_comparison_sums *s = &r->tried[i].sums;
        if (!is_of(s, e->feature, e->cell, e->treatment.action, e->since_ms, e->restarts))
            continue;
        ek_comparison_sums_add(out, s);
        some = true;
    }
    return some;
}

/* Update the test by the sums since the last call. */
static void bet(struct route *o, const struct ek_comparison_sums *all)
{
    int64_t sum[EK_MEAN_EVALUES];
    uint64_t lists = risen(o->measured, all->measured);
    for (int i = 0; i < EK_MEAN_EVALUES; i++)
        sum[i] = all->worse_sum[i] - o->worse_sum[i];
    if (!lists)
        return;
    ek_mean_evalues_add_sums(&o->worse, sum, lists);
    o->measured = all->measured;
    memcpy(o->worse_sum, all->worse_sum, sizeof sum);
}

static bool has_drifted(const struct ek_fleet_guardrails *r, int64_t clock_ms)
{
    for (int i = 0; i < r->instances; i++)
        if (r->instance[i].all.drifted &&
            clock_ms - r->instance[i].received_ms <= EK_FLEET_EXPIRED_MS)
            return true;
    return false;
}

bool ek_fleet_guardrails_stats(struct ek_fleet_guardrails *r, const struct ek_plan_entry *entry,
                               int64_t clock_ms, struct ek_rollout_stats *out)
{
    struct ek_comparison_sums all;
    struct route *o = route_of(r, entry);
    memset(&all, 0, sizeof all);
    if (!o || !sum_up(r, entry, &all))
        return false;
    bet(o, &all);
    all.worse = o->worse;
    ek_recent_values_roll(&o->recent, &all, &r->load);
    *out = ek_recent_values_stats(&o->recent, &all, &r->load, &r->latency);
    out->drifted = has_drifted(r, clock_ms);
    return true;
}

void ek_fleet_guardrails_begin(struct ek_fleet_guardrails *r)
{
    memset(&r->latency, 0, sizeof r->latency);
}
