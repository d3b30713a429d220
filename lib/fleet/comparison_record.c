#include "fleet/comparison_record.h"

#include "plan/plan.h"

static const char WHAT[] = "trials of an instance";

/* Limits of sums per record, so that the sum over all instances does not overflow. */
static const uint64_t LISTS_MAX = (uint64_t)1 << 40;
/* Limits of one list: of a statistic in units of 2^-20, and of a rank displacement. */
static const int64_t LIST_UNITS_MAX = (int64_t)1 << 22, LIST_PLACES_MAX = (int64_t)1 << 40;

static void walk_sum(struct ek_serialize *w, int64_t *sum, uint64_t lists, int64_t most)
{
    bool many = lists > (uint64_t)(INT64_MAX / most);
    ek_wire_signed(w, sum, many ? INT64_MAX : (int64_t)lists * most);
}

/* Write only nonempty bins, each after the number of empty bins before it. */
static void walk_bins(struct ek_serialize *w, struct ek_rank_sums *s)
{
    uint64_t used = 0, lists = 0;
    for (int i = 0; i < EK_CHANGE_BINS; i++)
        used += s->bin[i] > 0;
    ek_wire_number(w, &used, EK_CHANGE_BINS);
    for (uint64_t i = 0, bin = 0; i < used && !w->rc; i++, bin++) {
        uint64_t gap = 0;
        while (!ek_serialize_is_reading(w) && !s->bin[bin + gap])
            gap++;
        ek_wire_number(w, &gap, EK_CHANGE_BINS);
        bin += gap;
        ek_record_reader_require(w, bin < EK_CHANGE_BINS);
        if (w->rc)
            return;
        ek_wire_number(w, &s->bin[bin], LISTS_MAX);
        ek_record_reader_require(w, s->bin[bin] > 0);
        lists += s->bin[bin];
    }
    ek_record_reader_require(w, lists == s->lists);
}

static void walk_ranks(struct ek_serialize *w, struct ek_rank_sums *s)
{
    ek_wire_number(w, &s->lists, LISTS_MAX);
    walk_sum(w, &s->tau, s->lists, LIST_UNITS_MAX);
    walk_sum(w, &s->top10, s->lists, LIST_UNITS_MAX);
    walk_sum(w, &s->places, s->lists, LIST_PLACES_MAX);
    walk_sum(w, &s->change, s->lists, LIST_UNITS_MAX);
    walk_bins(w, s);
}

/* When reading, `t` must start as {0}. */
static void walk_route(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                       struct ek_fleet_comparison *t)
{
    struct ek_comparison_sums *s = &t->is;
    uint64_t *const count[] = {&s->compared, &s->unscored, &s->acts, &s->failed, &s->measured};
    ek_wire_cell(w, d, &t->place.cell);
    ek_wire_text(w, &t->place.feature, EK_FLEET_NAME_MAX);
    s->action = (enum ek_action)ek_wire_word(w, ek_action_name(s->action), ek_action_parse);
    ek_wire_time(w, &s->since_ms);
    ek_wire_u32(w, &s->restarts);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        ek_wire_number(w, count[i], LISTS_MAX);
    walk_ranks(w, &s->moved);
    walk_ranks(w, &s->acted);
    for (int i = 0; i < EK_MEAN_EVALUES; i++)
        walk_sum(w, &s->worse_sum[i], s->measured, LIST_UNITS_MAX);
    ek_record_reader_require(w, s->unscored <= s->compared && s->failed <= s->acts &&
                                    s->measured <= s->compared && s->moved.lists <= s->compared &&
                                    s->acted.lists <= s->compared);
}

static void walk_all(struct ek_serialize *w, struct ek_fleet_comparisons_total *all)
{
    ek_wire_flag(w, &all->drifted);
    for (int i = 0; i < 2; i++) {
        ek_wire_number(w, &all->is.load.lists[i], LISTS_MAX);
        ek_wire_number(w, &all->is.load.dead[i], LISTS_MAX);
    }
    for (int i = 0; i < EK_LATENCY_WINDOW_BINS; i++)
        ek_wire_number(w, &all->is.latency[i], LISTS_MAX);
}

/* The lists of a pooled cell differ by instance, so they are not reported. */
static bool is_reported(const struct ek_cells *cells, int cell)
{
    return cell == 0 || ek_cells_value(cells, cell);
}

int ek_fleet_comparisons_write(const struct ek_comparisons *t, bool drifted,
                               const struct ek_manifest *m, const struct ek_cells *cells,
                               const struct ek_fleet_head *head, struct ek_buf *out)
{
    struct ek_fleet_head h = *head;
    struct ek_fleet_comparisons_total all = {drifted, *ek_comparisons_total(t)};
    struct ek_serialize w;
    const struct ek_comparison_sums *s;
    uint64_t count = 0;
    ek_fleet_dimensions_get(&h.dimensions, cells);
    ek_record_writer_start(&w, out, EK_FLEET_COMPARISONS);
    ek_fleet_head_walk(&w, &h);
    walk_all(&w, &all);
    for (int at = 0; (s = ek_comparisons_next(t, &at));)
        count += is_reported(cells, s->cell);
    ek_record_write(&w, count);
    for (int at = 0; (s = ek_comparisons_next(t, &at));)
        if (is_reported(cells, s->cell)) {
            struct ek_fleet_comparison one = {
                {ek_fleet_cell_get(cells, s->cell), ek_text_from(m->item[s->feature]->name)}, *s};
            walk_route(&w, &h.dimensions, &one);
        }
    return ek_record_writer_finish(&w);
}

/* `route` NULL: check only. */
static int get_routes(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                      int (*route)(void *context, const struct ek_fleet_comparison *trial),
                      void *context)
{
    int rc = EK_OK;
    uint64_t count = ek_record_get(w, EK_PLAN_MAX);
    for (uint64_t i = 0; i < count && !w->rc && !rc; i++) {
        struct ek_fleet_comparison t = {.is = {.feature = -1, .cell = -1}};
        walk_route(w, d, &t);
        if (!w->rc && route)
            rc = route(context, &t);
    }
    return rc;
}

int ek_fleet_comparisons_open(struct ek_fleet_comparisons *t, const void *bytes, size_t length,
                              const struct ek_manifest *m, struct ek_error *e)
{
    int rc =
        ek_fleet_head_open(&t->content, bytes, length, EK_FLEET_COMPARISONS, m, &t->head, WHAT, e);
    if (rc)
        return rc;
    walk_all(&t->content, &t->all);
    struct ek_serialize check = t->content;
    get_routes(&check, &t->head.dimensions, NULL, NULL);
    return ek_record_reader_is_done(&check, WHAT, e);
}

int ek_fleet_comparisons_each(const struct ek_fleet_comparisons *t,
                              int (*route)(void *context, const struct ek_fleet_comparison *trial),
                              void *context)
{
    struct ek_serialize w = t->content;
    return get_routes(&w, &t->head.dimensions, route, context);
}
