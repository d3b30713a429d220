#include "fleet/evidence_report.h"

#include "detect/evidence_export.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 7 };

void ek_fleet_finding_put(struct ek_wire_out *w, const struct ek_manifest *m,
                          const struct ek_finding *f)
{
    const double number[NUMBERS] = {f->factor, f->factor_low,   f->factor_high, f->error_ln,
                                    f->share,  f->spread_ratio, f->exponent};
    ek_wire_put_word(w, m->item[f->feature]->name);
    ek_wire_put(w, f->episode);
    ek_wire_put_signed(w, f->since_ms);
    ek_wire_put_word(w, ek_class_name(f->class));
    ek_wire_put(w, (uint64_t)(f->fewer | f->passing << 1));
    ek_wire_put_word(w, f->query_feature >= 0 ? m->query[f->query_feature]->name : "");
    for (int i = 0; i < NUMBERS; i++)
        ek_wire_put_f64(w, number[i]);
}

/* NaN where there is none; a factor is positive. */
static bool is_factor(double v)
{
    return isnan(v) || (v > 0 && isfinite(v));
}

void ek_fleet_finding_get(struct ek_wire_in *w, const struct ek_manifest *m, struct ek_finding *f)
{
    double *const number[NUMBERS] = {&f->factor, &f->factor_low,   &f->factor_high, &f->error_ln,
                                     &f->share,  &f->spread_ratio, &f->exponent};
    memset(f, 0, sizeof *f);
    f->state = EK_CONFIRMED;
    f->feature = ek_manifest_find_item(m, ek_wire_get_text(w, EK_FLEET_NAME_MAX));
    f->episode = (uint32_t)ek_wire_get(w, UINT32_MAX);
    f->since_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    f->class = (enum ek_class)ek_wire_get_word(w, ek_class_parse);
    int flags = (int)ek_wire_get(w, 3);
    f->fewer = flags & 1;
    f->passing = flags >> 1;
    f->query_feature = ek_manifest_find_query(m, ek_wire_get_text(w, EK_FLEET_NAME_MAX));
    for (int i = 0; i < NUMBERS; i++)
        *number[i] = ek_wire_get_f64(w);
    ek_wire_require(w, is_factor(f->factor) && is_factor(f->factor_low) &&
                           is_factor(f->factor_high) && f->share >= 0 && f->share <= 1 &&
                           isfinite(f->spread_ratio) && f->class != EK_CLASS_NONE);
}

void ek_fleet_finding_match_units(struct ek_finding *f, const struct ek_rules *rules,
                                  const struct ek_manifest *m)
{
    f->unit_count = 0;
    if (f->class == EK_SCALE && f->query_feature < 0)
        f->unit_count = ek_units_match(rules, m, f->feature, log(f->factor), log(f->factor_low),
                                       log(f->factor_high), f->unit);
}

/* A bet is at most what a float holds: ln e < 89. */
static const int64_t LIST_UNITS_MAX = 1 << 17;

void ek_fleet_head_put(struct ek_wire_out *w, const struct ek_fleet_head *h)
{
    ek_wire_put_text(w, h->instance);
    ek_wire_put(w, h->start);
    ek_wire_put(w, h->number);
    ek_wire_put_u64(w, h->manifest);
    ek_wire_put_u64(w, h->profile);
    ek_wire_put_signed(w, h->time_ms);
    ek_wire_put_dimensions(w, &h->dimensions);
}

void ek_fleet_head_get(struct ek_wire_in *w, struct ek_fleet_head *h)
{
    h->instance = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
    h->start = ek_wire_get(w, UINT64_MAX);
    h->number = ek_wire_get(w, UINT64_MAX);
    h->manifest = ek_wire_get_u64(w);
    h->profile = ek_wire_get_u64(w);
    h->time_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    ek_wire_get_dimensions(w, &h->dimensions);
    ek_wire_require(w, h->instance.length && h->number);
}

void ek_fleet_dimensions_of(struct ek_fleet_dimensions *out, const struct ek_cells *cells)
{
    out->count = ek_cells_dimensions(cells);
    for (int i = 0; i < out->count; i++)
        out->name[i] = ek_text_of(ek_cells_share_of(cells, i).dimension);
}

struct ek_fleet_cell ek_fleet_cell_of(const struct ek_cells *cells, int cell)
{
    return (struct ek_fleet_cell){ek_text_of(ek_cells_dimension_name(cells, cell)),
                                  ek_text_of(ek_cells_value(cells, cell))};
}

static int features_of(const struct ek_tick *t, int cell)
{
    int count = 0;
    for (int f = 0; f < ek_tick_features(t); f++)
        count += ek_tick_lists(t, cell, f) > 0;
    return count;
}

static void put_sums(struct ek_wire_out *w, const struct ek_tick *t, int cell)
{
    int next = 0;
    ek_wire_put(w, (uint64_t)features_of(t, cell));
    for (int f = 0; f < ek_tick_features(t); f++) {
        struct ek_tick_sums s;
        if (!ek_tick_lists(t, cell, f))
            continue;
        ek_tick_sums(t, cell, f, &s);
        ek_wire_put(w, (uint64_t)(f - next));
        ek_wire_put(w, s.lists);
        for (int i = 0; i < EK_BETS; i++)
            ek_wire_put_signed(w, s.ln[i]);
        next = f + 1;
    }
}

/* A pool is no value: what is in it differs from instance to instance. */
static bool is_told(const struct ek_detector *d, int cell)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    return (cell == 0 || ek_cells_value(cells, cell)) && features_of(ek_detector_tick(d), cell);
}

static void put_cells(struct ek_wire_out *w, const struct ek_detector *d,
                      const struct ek_fleet_dimensions *dimensions, int most)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    int count = 0, known = ek_cells_count(cells);
    for (int cell = 0; cell < known && count < most; cell++)
        count += is_told(d, cell);
    ek_wire_put(w, (uint64_t)count);
    for (int cell = 0; count; cell++)
        if (is_told(d, cell)) {
            struct ek_fleet_cell names = ek_fleet_cell_of(cells, cell);
            ek_wire_put_cell(w, dimensions, &names);
            put_sums(w, ek_detector_tick(d), cell);
            count--;
        }
}

static void put_findings(struct ek_wire_out *w, const struct ek_detector *d,
                         const struct ek_fleet_dimensions *dimensions)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    struct ek_finding f;
    uint64_t count = 0;
    for (int place = 0; (place = ek_detector_confirmed(d, place, &f)) > 0;)
        count += !f.dimension || f.value;
    ek_wire_put(w, count);
    for (int place = 0; (place = ek_detector_confirmed(d, place, &f)) > 0;)
        if (!f.dimension || f.value) {
            struct ek_fleet_cell names = ek_fleet_cell_of(cells, f.cell);
            ek_wire_put_cell(w, dimensions, &names);
            ek_fleet_finding_put(w, ek_detector_manifest(d), &f);
        }
}

int ek_fleet_tick_write(const struct ek_detector *d, const struct ek_fleet_head *head, int cells,
                        struct ek_buf *out)
{
    struct ek_fleet_head h = *head;
    struct ek_wire_out w;
    ek_fleet_dimensions_of(&h.dimensions, ek_detector_registry(d));
    ek_wire_begin(&w, out, EK_FLEET_TICK);
    ek_fleet_head_put(&w, &h);
    ek_wire_put(&w, h.normal);
    put_cells(&w, d, &h.dimensions, cells);
    put_findings(&w, d, &h.dimensions);
    return ek_wire_seal(&w);
}

/* What is read, and who hears of it: NULL while it is only checked. */
struct reading {
    struct ek_wire_in w;
    const struct ek_fleet_tick *tick;
    const struct ek_fleet_tick_hears *hears;
    int rc; /* of who hears */
};

static bool goes_on(const struct reading *r)
{
    return !r->w.bad && !r->rc;
}

static void get_sums(struct reading *r)
{
    uint64_t features = (uint64_t)r->tick->manifest->item_count, next = 0;
    uint64_t count = ek_wire_get(&r->w, features);
    for (uint64_t i = 0; i < count && goes_on(r); i++) {
        struct ek_tick_sums s;
        uint64_t f = next + ek_wire_get(&r->w, features);
        s.lists = ek_wire_get(&r->w, EK_FLEET_LISTS_MAX);
        ek_wire_require(&r->w, f < features && s.lists);
        for (int b = 0; b < EK_BETS; b++)
            s.ln[b] = ek_wire_get_signed(&r->w, (int64_t)s.lists * LIST_UNITS_MAX);
        next = f + 1;
        if (!r->w.bad && r->hears)
            r->rc = r->hears->sums(r->hears->context, (int)f, &s);
    }
}

static void get_cells(struct reading *r)
{
    uint64_t count = ek_wire_get(&r->w, EK_FLEET_CELLS_MAX);
    for (uint64_t i = 0; i < count && goes_on(r); i++) {
        struct ek_fleet_cell cell;
        ek_wire_get_cell(&r->w, &r->tick->head.dimensions, &cell);
        if (!r->w.bad && r->hears)
            r->rc = r->hears->cell(r->hears->context, &cell);
        if (goes_on(r))
            get_sums(r);
    }
}

static void get_findings(struct reading *r)
{
    uint64_t count = ek_wire_get(&r->w, EK_EPISODES_MAX);
    for (uint64_t i = 0; i < count && goes_on(r); i++) {
        struct ek_fleet_cell cell;
        struct ek_finding f;
        ek_wire_get_cell(&r->w, &r->tick->head.dimensions, &cell);
        ek_fleet_finding_get(&r->w, r->tick->manifest, &f);
        ek_wire_require(&r->w, f.feature >= 0);
        if (!r->w.bad && r->hears && r->hears->finding)
            r->rc = r->hears->finding(r->hears->context, &cell, &f);
    }
}

static struct reading get_all(const struct ek_fleet_tick *t,
                              const struct ek_fleet_tick_hears *hears)
{
    struct reading r = {t->content, t, hears, EK_OK};
    get_cells(&r);
    if (!r.rc)
        get_findings(&r);
    return r;
}

int ek_fleet_tick_open(struct ek_fleet_tick *t, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e)
{
    int rc = ek_wire_open(&t->content, bytes, length, EK_FLEET_TICK, e);
    if (rc)
        return rc;
    ek_fleet_head_get(&t->content, &t->head);
    t->head.normal = t->content.elder ? 0 : ek_wire_get(&t->content, UINT64_MAX >> 1);
    if (!t->content.bad && t->head.manifest != m->hash)
        return ek_fail(e, EK_ESTATE, "tick of an instance with another manifest");
    t->manifest = m;
    struct reading check = get_all(t, NULL);
    return ek_wire_done(&check.w, "tick of an instance", e);
}

int ek_fleet_tick_tell(const struct ek_fleet_tick *t, const struct ek_fleet_tick_hears *hears)
{
    return get_all(t, hears).rc;
}
