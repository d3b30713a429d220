#include "fleet/evidence_report.h"

#include "base/alloc.h"
#include "detect/evidence_export.h"
#include "fleet/fleet_plan_fields.h"

#include <math.h>
#include <string.h>

/* NaN: unknown. */
static bool is_factor(double v)
{
    return isnan(v) || (v > 0 && isfinite(v));
}

static bool is_share(double v)
{
    return v >= 0 && v <= 1;
}

void ek_fleet_finding_walk(struct ek_serialize *w, const struct ek_manifest *m,
                           struct ek_finding *f)
{
    double *const number[] = {&f->factor,   &f->factor_low,  &f->factor_high,
                              &f->error_ln, &f->share,       &f->spread_ratio,
                              &f->exponent, &f->value_share, &f->trained_share};
    struct ek_text feature = {0}, query = {"", 0};
    if (ek_serialize_is_reading(w))
        *f = (struct ek_finding){.state = EK_CONFIRMED};
    else {
        feature = ek_text_from(m->item[f->feature]->name);
        if (f->query_feature >= 0)
            query = ek_text_from(m->query[f->query_feature]->name);
    }
    int flags = ek_finding_get_flags(f);
    ek_wire_text(w, &feature, EK_FLEET_NAME_MAX);
    ek_wire_u32(w, &f->episode);
    ek_wire_time(w, &f->since_ms);
    f->class = ek_fleet_class_walk(w, f->class);
    ek_wire_int(w, &flags, EK_FINDING_FLAGS_ALL);
    ek_wire_text(w, &query, EK_FLEET_NAME_MAX);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        ek_serialize_f64(w, number[i]);
    ek_wire_u32(w, &f->cause);
    if (!ek_serialize_is_reading(w))
        return;
    f->feature = ek_manifest_find_watched(m, feature);
    f->query_feature = ek_manifest_find_query(m, query);
    ek_finding_set_flags(f, flags);
    ek_record_reader_require(w, is_factor(f->factor) && is_factor(f->factor_low) &&
                                    is_factor(f->factor_high) && is_share(f->share) &&
                                    isfinite(f->spread_ratio) && f->class != EK_CLASS_NONE &&
                                    is_share(f->value_share) && is_share(f->trained_share));
}

void ek_fleet_finding_match_units(struct ek_finding *f, const struct ek_rules *rules,
                                  const struct ek_manifest *m)
{
    f->unit_count = 0;
    if (f->class == EK_SCALE && f->query_feature < 0)
        f->unit_count = ek_units_match(rules, m, f->feature, log(f->factor), log(f->factor_low),
                                       log(f->factor_high), f->unit);
}

static const char WHAT[] = "evidence report of an instance";

/* Limit of one list: a bet fits in a float, so ln e < 89. */
static const int64_t LIST_UNITS_MAX = 1 << 17;

void ek_fleet_head_walk(struct ek_serialize *w, struct ek_fleet_head *h)
{
    ek_wire_text(w, &h->instance, EK_FLEET_NAME_MAX);
    ek_wire_number(w, &h->start, UINT64_MAX);
    ek_wire_number(w, &h->number, UINT64_MAX);
    ek_serialize_u64(w, &h->manifest);
    ek_serialize_u64(w, &h->profile);
    ek_wire_time(w, &h->time_ms);
    ek_wire_dimensions(w, &h->dimensions);
    ek_record_reader_require(w, h->instance.length && h->number);
}

int ek_fleet_head_open(struct ek_serialize *w, const void *bytes, size_t length,
                       enum ek_fleet_kind kind, const struct ek_manifest *m,
                       struct ek_fleet_head *h, const char *what, struct ek_error *e)
{
    int rc = ek_record_reader_open(w, bytes, length, kind, e);
    if (rc)
        return rc;
    ek_fleet_head_walk(w, h);
    return !w->rc && h->manifest != m->hash
               ? ek_fail(e, EK_ESTATE, "%s with another manifest", what)
               : EK_OK;
}

void ek_fleet_dimensions_get(struct ek_fleet_dimensions *out, const struct ek_cells *cells)
{
    out->count = ek_cells_dimensions(cells);
    for (int i = 0; i < out->count; i++)
        out->name[i] = ek_text_from(ek_cells_get_share(cells, i).dimension);
}

struct ek_fleet_cell ek_fleet_cell_get(const struct ek_cells *cells, int cell)
{
    return (struct ek_fleet_cell){ek_text_from(ek_cells_dimension_name(cells, cell)),
                                  ek_text_from(ek_cells_value(cells, cell))};
}

static int features_of(const struct ek_evidence_sum *t, int cell)
{
    int count = 0;
    for (int f = 0; f < ek_evidence_sum_features(t); f++)
        count += ek_evidence_sum_lists(t, cell, f) > 0;
    return count;
}

/* `gap`: number of features without lists before this one. */
static void walk_sums(struct ek_serialize *w, uint64_t *gap, uint64_t features,
                      struct ek_evidence_sum_values *s)
{
    ek_wire_number(w, gap, features);
    ek_wire_number(w, &s->lists, EK_FLEET_LISTS_MAX);
    for (int b = 0; b < EK_BETS; b++)
        ek_wire_signed(w, &s->ln[b], (int64_t)s->lists * LIST_UNITS_MAX);
}

static void write_sums(struct ek_serialize *w, const struct ek_evidence_sum *t, int cell)
{
    int next = 0, features = ek_evidence_sum_features(t);
    ek_record_write(w, (uint64_t)features_of(t, cell));
    for (int f = 0; f < features; f++) {
        struct ek_evidence_sum_values s;
        uint64_t gap = (uint64_t)(f - next);
        if (!ek_evidence_sum_lists(t, cell, f))
            continue;
        ek_evidence_sum_values(t, cell, f, &s);
        walk_sums(w, &gap, (uint64_t)features, &s);
        next = f + 1;
    }
}

/* A pooled cell is not reported: its values differ by instance. */
static bool is_reported(const struct ek_detector *d, int cell)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    return (cell == 0 || ek_cells_value(cells, cell)) &&
           features_of(ek_detector_evidence_sum(d), cell);
}

static void write_cells(struct ek_serialize *w, const struct ek_detector *d,
                        const struct ek_fleet_dimensions *dimensions, int most)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    int count = 0, known = ek_cells_count(cells);
    for (int cell = 0; cell < known && count < most; cell++)
        count += is_reported(d, cell);
    ek_record_write(w, (uint64_t)count);
    for (int cell = 0; count; cell++)
        if (is_reported(d, cell)) {
            struct ek_fleet_cell names = ek_fleet_cell_get(cells, cell);
            ek_wire_cell(w, dimensions, &names);
            write_sums(w, ek_detector_evidence_sum(d), cell);
            count--;
        }
}

static void write_findings(struct ek_serialize *w, const struct ek_detector *d,
                           const struct ek_fleet_dimensions *dimensions)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    struct ek_finding f;
    uint64_t count = 0;
    for (int place = 0; (place = ek_detector_confirmed(d, place, &f)) > 0;)
        count += !f.dimension || f.value;
    ek_record_write(w, count);
    for (int place = 0; (place = ek_detector_confirmed(d, place, &f)) > 0;)
        if (!f.dimension || f.value) {
            struct ek_fleet_cell names = ek_fleet_cell_get(cells, f.cell);
            ek_wire_cell(w, dimensions, &names);
            ek_fleet_finding_walk(w, ek_detector_manifest(d), &f);
        }
}

/* Write the number of lists since the last report by named cell, as far as they are retained. */
static void write_traffic(struct ek_serialize *w, const struct ek_detector *d,
                          struct ek_fleet_head *h, int most)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    uint64_t first, count = 0, end = ek_detector_rows(d, &first);
    int known = ek_cells_count(cells);
    uint32_t *lists = ek_calloc((size_t)known, sizeof *lists);
    if (!lists) {
        w->rc = w->rc ? w->rc : EK_ENOMEM;
        return;
    }
    for (uint64_t row = h->row > first ? h->row : first; row < end; row++) {
        struct ek_pooled_row r;
        ek_detector_row(d, row, 0, &r);
        for (int i = 0; i <= h->dimensions.count && r.cell[0] >= 0; i++)
            if (r.cell[i] >= 0)
                lists[r.cell[i]]++;
    }
    for (int cell = 1; cell < known; cell++) {
        bool put = lists[cell] && ek_cells_value(cells, cell) && count < (uint64_t)most;
        lists[cell] = put ? lists[cell] : 0;
        count += put;
    }
    ek_record_write(w, lists[0]);
    ek_record_write(w, count);
    for (int cell = 1; cell < known; cell++)
        if (lists[cell]) {
            struct ek_fleet_cell names = ek_fleet_cell_get(cells, cell);
            ek_wire_cell(w, &h->dimensions, &names);
            ek_record_write(w, lists[cell]);
        }
    ek_free(lists);
}

int ek_evidence_report_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                             int cells, struct ek_buf *out)
{
    struct ek_fleet_head h = *head;
    struct ek_serialize w;
    ek_fleet_dimensions_get(&h.dimensions, ek_detector_registry(d));
    ek_record_writer_start(&w, out, EK_FLEET_REPORT);
    ek_fleet_head_walk(&w, &h);
    ek_record_write(&w, h.normal);
    write_cells(&w, d, &h.dimensions, cells);
    write_findings(&w, d, &h.dimensions);
    write_traffic(&w, d, &h, cells);
    return ek_record_writer_finish(&w);
}

/* State of a read; callbacks NULL: check only. */
struct reading {
    struct ek_serialize w;
    const struct ek_evidence_report *report;
    const struct ek_evidence_report_visitor *callbacks;
    int rc; /* of the callbacks */
};

static bool is_readable(const struct reading *r)
{
    return !r->w.rc && !r->rc;
}

static void get_sums(struct reading *r)
{
    uint64_t features = (uint64_t)r->report->manifest->watched_count, next = 0;
    uint64_t count = ek_record_get(&r->w, features);
    for (uint64_t i = 0; i < count && is_readable(r); i++) {
        struct ek_evidence_sum_values s = {.lists = 0};
        uint64_t gap = 0;
        walk_sums(&r->w, &gap, features, &s);
        uint64_t f = next + gap;
        ek_record_reader_require(&r->w, f < features && s.lists);
        next = f + 1;
        if (!r->w.rc && r->callbacks)
            r->rc = r->callbacks->sums(r->callbacks->context, (int)f, &s);
    }
}

static void get_cells(struct reading *r)
{
    uint64_t count = ek_record_get(&r->w, EK_FLEET_CELLS_MAX);
    for (uint64_t i = 0; i < count && is_readable(r); i++) {
        struct ek_fleet_cell cell;
        ek_wire_cell(&r->w, &r->report->head.dimensions, &cell);
        if (!r->w.rc && r->callbacks)
            r->rc = r->callbacks->cell(r->callbacks->context, &cell);
        if (is_readable(r))
            get_sums(r);
    }
}

static void get_findings(struct reading *r)
{
    uint64_t count = ek_record_get(&r->w, EK_EPISODES_MAX);
    for (uint64_t i = 0; i < count && is_readable(r); i++) {
        struct ek_fleet_cell cell;
        struct ek_finding f;
        ek_wire_cell(&r->w, &r->report->head.dimensions, &cell);
        ek_fleet_finding_walk(&r->w, r->report->manifest, &f);
        ek_record_reader_require(&r->w, f.feature >= 0);
        if (!r->w.rc && r->callbacks && r->callbacks->finding)
            r->rc = r->callbacks->finding(r->callbacks->context, &cell, &f);
    }
}

static void get_traffic(struct reading *r)
{
    struct ek_fleet_cell cell = {{NULL, 0}, {NULL, 0}};
    uint64_t all = ek_record_get(&r->w, EK_FLEET_LISTS_MAX);
    uint64_t count = ek_record_get(&r->w, EK_FLEET_CELLS_MAX);
    if (!r->w.rc && r->callbacks && r->callbacks->traffic)
        r->rc = r->callbacks->traffic(r->callbacks->context, &cell, all);
    for (uint64_t i = 0; i < count && is_readable(r); i++) {
        ek_wire_cell(&r->w, &r->report->head.dimensions, &cell);
        uint64_t lists = ek_record_get(&r->w, all);
        if (!r->w.rc && r->callbacks && r->callbacks->traffic)
            r->rc = r->callbacks->traffic(r->callbacks->context, &cell, lists);
    }
}

static struct reading get_all(const struct ek_evidence_report *t,
                              const struct ek_evidence_report_visitor *callbacks)
{
    struct reading r = {t->content, t, callbacks, EK_OK};
    get_cells(&r);
    if (!r.rc)
        get_findings(&r);
    if (!r.rc)
        get_traffic(&r);
    return r;
}

int ek_evidence_report_open(struct ek_evidence_report *t, const void *bytes, size_t length,
                            const struct ek_manifest *m, struct ek_error *e)
{
    int rc = ek_fleet_head_open(&t->content, bytes, length, EK_FLEET_REPORT, m, &t->head, WHAT, e);
    if (rc)
        return rc;
    t->head.normal = ek_record_get(&t->content, UINT64_MAX >> 1);
    t->manifest = m;
    struct reading check = get_all(t, NULL);
    return ek_record_reader_is_done(&check.w, WHAT, e);
}

int ek_evidence_report_visit(const struct ek_evidence_report *t,
                             const struct ek_evidence_report_visitor *callbacks)
{
    return get_all(t, callbacks).rc;
}
