#include "fleet/comparison_record.h"

#include "plan/plan.h"

#include <string.h>

/* Sums are of at most so many lists each, so that those of all instances are no less exact. */
static const uint64_t LISTS_MAX = (uint64_t)1 << 40;
/* Of a list: the most that a figure of it is away from 0, in units of 2^-20; places are of ranks.
 */
static const int64_t LIST_UNITS_MAX = (int64_t)1 << 22, LIST_PLACES_MAX = (int64_t)1 << 40;

/* ------------------------------------------------------------------ writing */

static void put_ranks(struct ek_wire_out *w, const struct ek_rank_sums *s)
{
    const int64_t sum[] = {s->tau, s->top10, s->places, s->change};
    uint64_t used = 0, next = 0;
    for (int i = 0; i < EK_CHANGE_BINS; i++)
        used += s->bin[i] > 0;
    ek_wire_put(w, s->lists);
    for (int i = 0; i < 4; i++)
        ek_wire_put_signed(w, sum[i]);
    ek_wire_put(w, used);
    for (uint64_t i = 0; i < EK_CHANGE_BINS; i++)
        if (s->bin[i]) {
            ek_wire_put(w, i - next);
            ek_wire_put(w, s->bin[i]);
            next = i + 1;
        }
}

static void put_route(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                      const struct ek_fleet_cell *cell, const char *feature,
                      const struct ek_trial_sums *s)
{
    const uint64_t count[] = {s->tried, s->unscored, s->acts, s->failed, s->measured};
    ek_wire_put_cell(w, d, cell);
    ek_wire_put_word(w, feature);
    ek_wire_put_word(w, ek_action_name(s->action));
    ek_wire_put_signed(w, s->since_ms);
    ek_wire_put(w, s->turns);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        ek_wire_put(w, count[i]);
    put_ranks(w, &s->moved);
    put_ranks(w, &s->acted);
    for (int i = 0; i < EK_MEAN_BETS; i++)
        ek_wire_put_signed(w, s->worse_sum[i]);
}

static void put_all(struct ek_wire_out *w, const struct ek_trials_all *all, bool drifted)
{
    ek_wire_put_flag(w, drifted);
    for (int i = 0; i < 2; i++) {
        ek_wire_put(w, all->load.lists[i]);
        ek_wire_put(w, all->load.dead[i]);
    }
    for (int i = 0; i < EK_LATENCY_BINS; i++)
        ek_wire_put(w, all->latency[i]);
}

/* What a pool of values has is nobody's. */
static bool is_told(const struct ek_cells *cells, int cell)
{
    return cell == 0 || ek_cells_value(cells, cell);
}

int ek_fleet_trials_write(const struct ek_trials *t, bool drifted, const struct ek_manifest *m,
                          const struct ek_cells *cells, const struct ek_fleet_head *head,
                          struct ek_buf *out)
{
    struct ek_fleet_head h = *head;
    struct ek_wire_out w;
    const struct ek_trial_sums *s;
    uint64_t count = 0;
    ek_fleet_dimensions_of(&h.dimensions, cells);
    ek_wire_begin(&w, out, EK_FLEET_TRIALS);
    ek_fleet_head_put(&w, &h);
    put_all(&w, ek_trials_all(t), drifted);
    for (int at = 0; (s = ek_trials_next(t, &at));)
        count += is_told(cells, s->cell);
    ek_wire_put(&w, count);
    for (int at = 0; (s = ek_trials_next(t, &at));)
        if (is_told(cells, s->cell)) {
            struct ek_fleet_cell names = ek_fleet_cell_of(cells, s->cell);
            put_route(&w, &h.dimensions, &names, m->item[s->feature]->name, s);
        }
    return ek_wire_seal(&w);
}

/* ------------------------------------------------------------------ reading */

static int64_t get_sum(struct ek_wire_in *w, uint64_t lists, int64_t most)
{
    bool many = lists > (uint64_t)(INT64_MAX / most);
    return ek_wire_get_signed(w, many ? INT64_MAX : (int64_t)lists * most);
}

static void get_ranks(struct ek_wire_in *w, struct ek_rank_sums *s)
{
    memset(s, 0, sizeof *s);
    s->lists = ek_wire_get(w, LISTS_MAX);
    s->tau = get_sum(w, s->lists, LIST_UNITS_MAX);
    s->top10 = get_sum(w, s->lists, LIST_UNITS_MAX);
    s->places = get_sum(w, s->lists, LIST_PLACES_MAX);
    s->change = get_sum(w, s->lists, LIST_UNITS_MAX);
    uint64_t used = ek_wire_get(w, EK_CHANGE_BINS), next = 0, lists = 0;
    for (uint64_t i = 0; i < used && !w->bad; i++) {
        uint64_t bin = next + ek_wire_get(w, EK_CHANGE_BINS), count = ek_wire_get(w, LISTS_MAX);
        ek_wire_require(w, bin < EK_CHANGE_BINS && count);
        if (!w->bad)
            s->bin[bin] = count;
        lists += count;
        next = bin + 1;
    }
    ek_wire_require(w, lists == s->lists);
}

static void get_route(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      struct ek_fleet_trial *t)
{
    struct ek_trial_sums *s = &t->is;
    uint64_t *const count[] = {&s->tried, &s->unscored, &s->acts, &s->failed, &s->measured};
    memset(t, 0, sizeof *t);
    s->feature = s->cell = -1;
    ek_wire_get_cell(w, d, &t->place.cell);
    t->place.feature = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
    s->action = (enum ek_action)ek_wire_get_word(w, ek_action_parse);
    s->since_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    s->turns = (uint32_t)ek_wire_get(w, UINT32_MAX);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        *count[i] = ek_wire_get(w, LISTS_MAX);
    get_ranks(w, &s->moved);
    get_ranks(w, &s->acted);
    for (int i = 0; i < EK_MEAN_BETS; i++)
        s->worse_sum[i] = get_sum(w, s->measured, LIST_UNITS_MAX);
    ek_wire_require(w, s->unscored <= s->tried && s->failed <= s->acts && s->measured <= s->tried &&
                           s->moved.lists <= s->tried && s->acted.lists <= s->tried);
}

static void get_all(struct ek_wire_in *w, struct ek_fleet_trials_all *all)
{
    all->drifted = ek_wire_get_flag(w);
    for (int i = 0; i < 2; i++) {
        all->is.load.lists[i] = ek_wire_get(w, LISTS_MAX);
        all->is.load.dead[i] = ek_wire_get(w, LISTS_MAX);
    }
    for (int i = 0; i < EK_LATENCY_BINS; i++)
        all->is.latency[i] = ek_wire_get(w, LISTS_MAX);
}

/* route NULL: it is only checked. */
static int get_routes(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      int (*route)(void *context, const struct ek_fleet_trial *trial),
                      void *context)
{
    int rc = EK_OK;
    uint64_t count = ek_wire_get(w, EK_PLAN_MAX);
    for (uint64_t i = 0; i < count && !w->bad && !rc; i++) {
        struct ek_fleet_trial t;
        get_route(w, d, &t);
        if (!w->bad && route)
            rc = route(context, &t);
    }
    return rc;
}

int ek_fleet_trials_open(struct ek_fleet_trials *t, const void *bytes, size_t length,
                         const struct ek_manifest *m, struct ek_error *e)
{
    int rc = ek_wire_open(&t->content, bytes, length, EK_FLEET_TRIALS, e);
    if (rc)
        return rc;
    ek_fleet_head_get(&t->content, &t->head);
    if (!t->content.bad && t->head.manifest != m->hash)
        return ek_fail(e, EK_ESTATE, "trials of an instance with another manifest");
    get_all(&t->content, &t->all);
    struct ek_wire_in check = t->content;
    get_routes(&check, &t->head.dimensions, NULL, NULL);
    return ek_wire_done(&check, "trials of an instance", e);
}

int ek_fleet_trials_tell(const struct ek_fleet_trials *t,
                         int (*route)(void *context, const struct ek_fleet_trial *trial),
                         void *context)
{
    struct ek_wire_in w = t->content;
    return get_routes(&w, &t->head.dimensions, route, context);
}
