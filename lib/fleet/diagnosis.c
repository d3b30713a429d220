#include "fleet/diagnosis.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/portable.h"
#include "detect/list_stats_builder.h"

#include <stdlib.h>
#include <string.h>

enum { SUSPICIONS_MAX = 16, LIMIT = 2 * EK_FLEET_ROWS_MAX /* rows until the next report */ };

struct row {
    int64_t time_ms;
    uint64_t key; /* hash of instance and number */
    int stratum;
    struct ek_list_stats record;
    int place[EK_DIMENSIONS_MAX]; /* of the pool */
    int places;
};

/* Progress of one instance. */
struct reporter {
    uint64_t start, next; /* start of its run; next expected row */
    bool answered;
};

struct suspicion {
    int place, bet;
    int64_t time_ms;
};

struct ek_fleet_diagnosis {
    int feature;
    uint32_t number;
    struct ek_manifest
        manifest; /* of one feature, as an item feature: views into the full manifest */
    struct ek_profile profile;
    struct ek_category_table no_category;
    struct ek_detector *detector;
    struct ek_list query;
    struct row *row; /* [LIMIT] pending */
    float *queries;  /* [LIMIT, query features] */
    int *order;      /* [LIMIT] */
    int rows;
    struct reporter reporters[EK_FLEET_INSTANCES_MAX];
    int answered; /* number of instances that have answered */
    struct suspicion suspicion[SUSPICIONS_MAX];
    int suspicions, waited;
    bool begun;
};

/* Restrict manifest and profile to one feature. */
static void narrow(struct ek_fleet_diagnosis *c, const struct ek_manifest *m,
                   const struct ek_profile *p)
{
    int f = c->feature, strata = p->strata;
    c->manifest = *m;
    c->manifest.item_count = c->manifest.watched_count = 1;
    c->manifest.item = m->item + f;
    c->profile = *p;
    c->profile.features = 1;
    c->profile.name = p->name + f;
    c->profile.baseline = p->baseline + f;
    c->profile.level = p->level + (size_t)f * (size_t)strata;
    c->profile.calibration = p->calibration + (size_t)f * (size_t)strata * EK_CALIBRATED;
    c->profile.density = p->density + (size_t)f * EK_DENSITY_BINS;
    c->profile.sketch = p->sketch + f;
    c->profile.category = &c->no_category;
}

int ek_fleet_diagnosis_new(struct ek_fleet_diagnosis **out, const struct ek_manifest *m,
                           const struct ek_profile *p, const struct ek_rules *rules, int feature,
                           uint32_t number, struct ek_error *e)
{
    if (m->item[feature]->type == EK_TYPE_CATEGORY)
        return ek_fail(e, EK_ESTATE, "'%s' is a category", m->item[feature]->name);
    struct ek_fleet_diagnosis *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->feature = feature;
    c->number = number;
    ek_list_init(&c->query);
    narrow(c, m, p);
    c->row = ek_calloc(LIMIT, sizeof *c->row);
    c->order = ek_calloc(LIMIT, sizeof *c->order);
    c->queries = ek_calloc((size_t)LIMIT * (size_t)m->query_count, sizeof *c->queries);
    int rc = c->row && c->order && c->queries && !ek_list_resize(&c->query, 1, 1, m->query_count)
                 ? ek_detector_new(&c->detector, &c->manifest, &c->profile, rules, e)
                 : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc) {
        ek_fleet_diagnosis_free(c);
        return rc;
    }
    ek_detector_set_trusted(c->detector, 0,
                            EK_FLEET_ROWS_MAX); /* rows are relative to a tracked level */
    *out = c;
    return EK_OK;
}

void ek_fleet_diagnosis_free(struct ek_fleet_diagnosis *c)
{
    if (!c)
        return;
    ek_detector_free(c->detector);
    ek_list_release(&c->query);
    ek_free(c->row);
    ek_free(c->order);
    ek_free(c->queries);
    ek_free(c);
}

int ek_fleet_diagnosis_feature(const struct ek_fleet_diagnosis *c)
{
    return c->feature;
}

uint32_t ek_fleet_diagnosis_number(const struct ek_fleet_diagnosis *c)
{
    return c->number;
}

void ek_fleet_diagnosis_suspect(struct ek_fleet_diagnosis *c, const struct ek_fleet_alarm *a,
                                int64_t time_ms)
{
    if (c->suspicions < SUSPICIONS_MAX)
        c->suspicion[c->suspicions++] = (struct suspicion){a->place, a->bet, time_ms};
}

void ek_fleet_diagnosis_mark_complete(struct ek_fleet_diagnosis *c, int instance)
{
    c->answered += !c->reporters[instance].answered;
    c->reporters[instance].answered = true;
}

int ek_fleet_diagnosis_row(struct ek_fleet_diagnosis *c, struct ek_fleet_pool *pool, int instance,
                           uint64_t start, const struct ek_fleet_row *row)
{
    size_t queries = (size_t)c->manifest.query_count;
    struct reporter *reporter = &c->reporters[instance];
    if (start < reporter->start || c->rows == LIMIT)
        return EK_OK;
    if (start == reporter->start && row->number < reporter->next)
        return EK_OK;
    reporter->start = start;
    reporter->next = row->number + 1;
    struct row *to = &c->row[c->rows];
    *to = (struct row){.time_ms = row->time_ms,
                       .key = ek_hash(&row->number, sizeof row->number, (uint64_t)instance),
                       .stratum = row->stratum,
                       .record = row->record};
    for (int i = 0; i < row->cells; i++) {
        int place, rc = ek_fleet_pool_place(pool, &row->cell[i], &place);
        if (rc)
            return rc;
        if (place > 0)
            to->place[to->places++] = place;
    }
    memcpy(c->queries + (size_t)c->rows * queries, row->query, queries * sizeof *row->query);
    c->rows++;
    return EK_OK;
}

/* Return the detector's cell for a cell of the pool, -1: none. */
static int cell_of(const struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool, int place)
{
    struct ek_fleet_cell names = ek_fleet_pool_cell(pool, place);
    int cell;
    if (ek_detector_retain_cell(c->detector, names.dimension, names.value, &cell))
        return -1;
    if (cell >= 0)
        ek_detector_release(c->detector, cell);
    return cell;
}

/* Open the suspicions of lists before `time_ms`. */
static void open_until(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                       int64_t time_ms)
{
    int kept = 0;
    for (int i = 0; i < c->suspicions; i++) {
        const struct suspicion *s = &c->suspicion[i];
        int cell = s->time_ms < time_ms ? cell_of(c, pool, s->place) : -1;
        if (cell >= 0)
            ek_detector_suspect(c->detector, 0, cell, s->bet);
        else if (s->time_ms >= time_ms)
            c->suspicion[kept++] = *s;
    }
    c->suspicions = kept;
}

static int add_row(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool, int i)
{
    const struct row *row = &c->row[i];
    size_t queries = (size_t)c->manifest.query_count;
    struct ek_list_stats_builder *read = ek_detector_reader(c->detector);
    struct ek_list *q = &c->query;
    struct ek_finding found;
    q->segment_count = row->places;
    for (int p = 0; p < row->places; p++) {
        struct ek_fleet_cell names = ek_fleet_pool_cell(pool, row->place[p]);
        q->segments[p] = (struct ek_segment){names.dimension, names.value};
    }
    memcpy(q->query, c->queries + (size_t)i * queries, queries * sizeof *q->query);
    q->time_ms = row->time_ms;
    read->record[0] = row->record;
    read->stratum = row->stratum;
    read->repeat_key = row->key; /* the instance has removed duplicates */
    ek_bet_list_update(read->list_bets, read->record);
    int rc = ek_detector_update(c->detector, q, read, row->time_ms, EK_CELLS_ALL, NULL);
    while (ek_detector_next(c->detector, &found))
        ;
    return rc;
}

/* Order rows by time, and rows of the same time by arrival. */
static int earlier(const void *a, const void *b, void *context)
{
    const struct row *row = context;
    int i = *(const int *)a, j = *(const int *)b;
    if (row[i].time_ms != row[j].time_ms)
        return row[i].time_ms < row[j].time_ms ? -1 : 1;
    return (i > j) - (i < j);
}

static int add_rows(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool)
{
    int rc = EK_OK;
    for (int i = 0; i < c->rows; i++)
        c->order[i] = i;
    ek_sort_with(c->order, (size_t)c->rows, sizeof *c->order, earlier, c->row);
    for (int i = 0; i < c->rows && !rc; i++) {
        open_until(c, pool, c->row[c->order[i]].time_ms);
        rc = add_row(c, pool, c->order[i]);
    }
    c->rows = 0;
    return rc;
}

int ek_fleet_diagnosis_advance(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                               int instances)
{
    c->waited++;
    if (!c->begun && c->answered < instances && c->waited < EK_FLEET_WAIT_REPORTS)
        return 1;
    c->begun = true;
    if (add_rows(c, pool))
        return -EK_ENOMEM;
    if (c->waited > EK_FLEET_WAIT_REPORTS)
        open_until(c, pool, INT64_MAX); /* no later list arrived */
    return c->suspicions || ek_detector_changes(c->detector) || c->waited <= EK_FLEET_WAIT_REPORTS;
}

int ek_fleet_diagnosis_check(struct ek_fleet_diagnosis *c, const struct ek_fleet_pool *pool,
                             int instances)
{
    struct ek_finding found;
    if (!c->begun && c->answered < instances)
        return EK_OK;
    c->begun = true;
    return ek_detector_confirmed(c->detector, 0, &found) ? EK_OK : add_rows(c, pool);
}

int ek_fleet_diagnosis_finding(const struct ek_fleet_diagnosis *c, struct ek_fleet_pool *pool,
                               int at, struct ek_finding *out)
{
    while ((at = ek_detector_confirmed(c->detector, at, out)) > 0) {
        const struct ek_fleet_cell names = {ek_text_from(out->dimension), ek_text_from(out->value)};
        int rc = ek_fleet_pool_place(pool, &names, &out->cell);
        out->feature = c->feature;
        if (!rc && out->cell >= 0 && (!out->dimension || out->value))
            return at;
    }
    return 0;
}
