#include "fleet/row_samples.h"

#include "base/alloc.h"
#include "fleet/evidence_report.h"

#include <string.h>

/* Values without a cell of their own are not told: nobody could say whose they are. */
static void put_cells(struct ek_wire_out *w, const struct ek_cells *cells,
                      const struct ek_fleet_dimensions *d, const int16_t *cell)
{
    int count = 0;
    for (int i = 1; i <= d->count; i++)
        count += cell[i] >= 0 && ek_cells_value(cells, cell[i]);
    ek_wire_put(w, (uint64_t)count);
    for (int i = 1; i <= d->count; i++) {
        if (cell[i] < 0 || !ek_cells_value(cells, cell[i]))
            continue;
        const struct ek_fleet_cell names = ek_fleet_cell_of(cells, cell[i]);
        ek_wire_put_cell(w, d, &names);
    }
}

static void put_record(struct ek_wire_out *w, const struct ek_list_stats *record, float level)
{
    ek_wire_put_f32(w, record->r - level);
    ek_wire_put_f32(w, record->spread);
    for (int i = 0; i < EK_SHARES; i++)
        ek_wire_put(w, record->share[i]);
    ek_wire_put(w, record->usable);
}

static void put_row(struct ek_wire_out *w, const struct ek_detector *d,
                    const struct ek_fleet_dimensions *dimensions,
                    const struct ek_fleet_answer *answer, uint64_t number)
{
    struct ek_pooled_row row;
    ek_detector_row(d, number, answer->feature, &row);
    ek_wire_put(w, number);
    ek_wire_put_signed(w, row.time_ms);
    ek_wire_put(w, (uint64_t)row.stratum);
    put_record(w, &row.record, answer->level);
    put_cells(w, ek_detector_registry(d), dimensions, row.cell);
    for (int i = 0; i < ek_detector_manifest(d)->query_count; i++)
        ek_wire_put_f32(w, row.query[i]);
}

bool ek_fleet_rows_due(const struct ek_detector *d, const struct ek_fleet_answer *answer)
{
    uint64_t first;
    return !answer->begun || ek_detector_rows(d, &first) > answer->next;
}

int ek_fleet_rows_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                        struct ek_fleet_answer *answer, struct ek_buf *out)
{
    struct ek_fleet_head h = *head;
    uint64_t first, end = ek_detector_rows(d, &first), rows = (uint64_t)answer->rows;
    struct ek_wire_out w;
    first = answer->next > first ? answer->next : first;
    if (end - first > rows)
        first = end - rows;
    ek_fleet_dimensions_of(&h.dimensions, ek_detector_registry(d));
    ek_wire_begin(&w, out, EK_FLEET_ROWS);
    ek_fleet_head_put(&w, &h);
    ek_wire_put_word(&w, ek_detector_manifest(d)->item[answer->feature]->name);
    ek_wire_put(&w, answer->number);
    ek_wire_put(&w, end - first);
    for (uint64_t i = first; i < end; i++)
        put_row(&w, d, &h.dimensions, answer, i);
    int rc = ek_wire_seal(&w);
    if (!rc) {
        answer->next = end;
        answer->begun = true;
    }
    return rc;
}

static void get_record(struct ek_wire_in *w, struct ek_list_stats *record)
{
    memset(record, 0, sizeof *record);
    record->r = ek_wire_get_f32(w);
    record->spread = ek_wire_get_f32(w);
    for (int i = 0; i < EK_SHARES; i++)
        record->share[i] = (uint8_t)ek_wire_get(w, UINT8_MAX);
    record->usable = (uint16_t)ek_wire_get(w, UINT16_MAX);
    ek_wire_require(w, !record->usable || (record->r >= -1e6f && record->r <= 1e6f));
}

/* query [query features], NULL while it is only checked. */
static void get_row(struct ek_wire_in *w, const struct ek_fleet_rows *r, float *query,
                    struct ek_fleet_row *row)
{
    const struct ek_fleet_dimensions *d = &r->head.dimensions;
    row->number = ek_wire_get(w, UINT64_MAX);
    row->time_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    row->stratum = (int)ek_wire_get(w, (uint64_t)r->strata - 1);
    get_record(w, &row->record);
    row->cells = (int)ek_wire_get(w, (uint64_t)d->count);
    for (int i = 0; i < row->cells; i++) {
        ek_wire_get_cell(w, d, &row->cell[i]);
        ek_wire_require(w, row->cell[i].value.text != NULL);
    }
    for (int i = 0; i < r->manifest->query_count; i++) {
        float value = ek_wire_get_f32(w);
        if (query)
            query[i] = value;
    }
    row->query = query;
}

/* hears NULL: it is only checked. */
static int get_rows(struct ek_wire_in *w, const struct ek_fleet_rows *r, float *query,
                    const struct ek_fleet_rows_hears *hears)
{
    uint64_t count = ek_wire_get(w, EK_FLEET_ROWS_MAX);
    int rc = EK_OK;
    for (uint64_t i = 0; i < count && !w->bad && !rc; i++) {
        struct ek_fleet_row row;
        get_row(w, r, query, &row);
        if (!w->bad && hears)
            rc = hears->row(hears->context, &row);
    }
    return rc;
}

int ek_fleet_rows_open(struct ek_fleet_rows *r, const void *bytes, size_t length,
                       const struct ek_manifest *m, int strata, struct ek_error *e)
{
    struct ek_wire_in *w = &r->content;
    int rc = ek_wire_open(w, bytes, length, EK_FLEET_ROWS, e);
    if (rc)
        return rc;
    ek_fleet_head_get(w, &r->head);
    if (!w->bad && r->head.manifest != m->hash)
        return ek_fail(e, EK_ESTATE, "rows of an instance with another manifest");
    r->feature = ek_manifest_find_item(m, ek_wire_get_text(w, EK_FLEET_NAME_MAX));
    r->ask = (uint32_t)ek_wire_get(w, UINT32_MAX);
    ek_wire_require(w, r->feature >= 0);
    r->manifest = m;
    r->strata = strata;
    struct ek_wire_in check = *w;
    get_rows(&check, r, NULL, NULL);
    return ek_wire_done(&check, "rows of an instance", e);
}

int ek_fleet_rows_tell(const struct ek_fleet_rows *r, const struct ek_fleet_rows_hears *hears)
{
    struct ek_wire_in w = r->content;
    float *query = ek_calloc((size_t)r->manifest->query_count, sizeof *query);
    int rc = query ? get_rows(&w, r, query, hears) : EK_ENOMEM;
    ek_free(query);
    return rc;
}
