#include "fleet/row_samples.h"

#include "base/alloc.h"
#include "fleet/evidence_report.h"

static const char WHAT[] = "rows of an instance";

static void walk_record(struct ek_serialize *w, struct ek_list_stats *record)
{
    int usable = record->usable;
    ek_wire_f32(w, &record->r);
    ek_wire_f32(w, &record->spread);
    for (int i = 0; i < EK_SHARES; i++) {
        int share = record->share[i];
        ek_wire_int(w, &share, UINT8_MAX);
        record->share[i] = (uint8_t)share;
    }
    ek_wire_int(w, &usable, UINT16_MAX);
    record->usable = (uint16_t)usable;
    ek_record_reader_require(w, !record->usable || (record->r >= -1e6f && record->r <= 1e6f));
}

/* All fields except the query features. */
static void walk_row(struct ek_serialize *w, const struct ek_fleet_dimensions *d, int strata,
                     struct ek_fleet_row *row)
{
    ek_wire_number(w, &row->number, UINT64_MAX);
    ek_wire_time(w, &row->time_ms);
    ek_wire_int(w, &row->stratum, strata - 1);
    walk_record(w, &row->record);
    ek_wire_int(w, &row->cells, d->count);
    for (int i = 0; i < row->cells; i++) {
        ek_wire_cell(w, d, &row->cell[i]);
        ek_record_reader_require(w, row->cell[i].value.text != NULL);
    }
}

/* Pooled values are not reported: their lists differ by instance. */
static void write_row(struct ek_serialize *w, const struct ek_detector *d,
                      const struct ek_fleet_dimensions *dimensions,
                      const struct ek_fleet_row_reply *answer, uint64_t number)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    struct ek_pooled_row row;
    ek_detector_row(d, number, answer->feature, &row);
    struct ek_fleet_row out = {number, row.time_ms, row.stratum, .record = row.record};
    out.record.r -= answer->level;
    for (int i = 1; i <= dimensions->count; i++)
        if (row.cell[i] >= 0 && ek_cells_value(cells, row.cell[i]))
            out.cell[out.cells++] = ek_fleet_cell_get(cells, row.cell[i]);
    walk_row(w, dimensions, 0, &out);
    for (int i = 0; i < ek_detector_manifest(d)->query_count; i++) {
        float value = row.query[i];
        ek_wire_f32(w, &value);
    }
}

/* Return whether all cells observed a row: only these are a sample of each of them. */
static bool is_complete(const struct ek_detector *d, int feature, uint64_t number)
{
    struct ek_pooled_row row;
    ek_detector_row(d, number, feature, &row);
    return row.cell[0] >= 0;
}

bool ek_fleet_rows_due(const struct ek_detector *d, const struct ek_fleet_row_reply *answer)
{
    uint64_t first;
    return !answer->begun || ek_detector_rows(d, &first) > answer->next;
}

int ek_fleet_rows_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                        struct ek_fleet_row_reply *answer, struct ek_buf *out)
{
    struct ek_fleet_head h = *head;
    uint64_t first, end = ek_detector_rows(d, &first), rows = (uint64_t)answer->rows, count = 0;
    struct ek_serialize w;
    first = answer->next > first ? answer->next : first;
    if (end - first > rows)
        first = end - rows;
    ek_fleet_dimensions_get(&h.dimensions, ek_detector_registry(d));
    ek_record_writer_start(&w, out, EK_FLEET_ROWS);
    ek_fleet_head_walk(&w, &h);
    struct ek_text feature = ek_text_from(ek_detector_manifest(d)->item[answer->feature]->name);
    ek_wire_text(&w, &feature, EK_FLEET_NAME_MAX);
    ek_wire_u32(&w, &answer->number);
    for (uint64_t i = first; i < end; i++)
        count += is_complete(d, answer->feature, i);
    ek_record_write(&w, count);
    for (uint64_t i = first; i < end; i++)
        if (is_complete(d, answer->feature, i))
            write_row(&w, d, &h.dimensions, answer, i);
    int rc = ek_record_writer_finish(&w);
    if (!rc) {
        answer->next = end;
        answer->begun = true;
    }
    return rc;
}

/* `query` [query features]; NULL: check only. */
static void get_row(struct ek_serialize *w, const struct ek_fleet_rows *r, float *query,
                    struct ek_fleet_row *row)
{
    *row = (struct ek_fleet_row){.query = query};
    walk_row(w, &r->head.dimensions, r->strata, row);
    for (int i = 0; i < r->manifest->query_count; i++) {
        float value;
        ek_wire_f32(w, &value);
        if (query)
            query[i] = value;
    }
}

/* `callbacks` NULL: check only. */
static int get_rows(struct ek_serialize *w, const struct ek_fleet_rows *r, float *query,
                    const struct ek_fleet_rows_visitor *callbacks)
{
    uint64_t count = ek_record_get(w, EK_FLEET_ROWS_MAX);
    int rc = EK_OK;
    for (uint64_t i = 0; i < count && !w->rc && !rc; i++) {
        struct ek_fleet_row row;
        get_row(w, r, query, &row);
        if (!w->rc && callbacks)
            rc = callbacks->row(callbacks->context, &row);
    }
    return rc;
}

int ek_fleet_rows_open(struct ek_fleet_rows *r, const void *bytes, size_t length,
                       const struct ek_manifest *m, int strata, struct ek_error *e)
{
    struct ek_serialize *w = &r->content;
    struct ek_text feature;
    int rc = ek_fleet_head_open(w, bytes, length, EK_FLEET_ROWS, m, &r->head, WHAT, e);
    if (rc)
        return rc;
    ek_wire_text(w, &feature, EK_FLEET_NAME_MAX);
    ek_wire_u32(w, &r->request);
    r->feature = ek_manifest_find_watched(m, feature);
    ek_record_reader_require(w, r->feature >= 0);
    r->manifest = m;
    r->strata = strata;
    struct ek_serialize check = *w;
    get_rows(&check, r, NULL, NULL);
    return ek_record_reader_is_done(&check, WHAT, e);
}

int ek_fleet_rows_visit(const struct ek_fleet_rows *r,
                        const struct ek_fleet_rows_visitor *callbacks)
{
    struct ek_serialize w = r->content;
    float *query = ek_calloc((size_t)r->manifest->query_count, sizeof *query);
    int rc = query ? get_rows(&w, r, query, callbacks) : EK_ENOMEM;
    ek_free(query);
    return rc;
}
