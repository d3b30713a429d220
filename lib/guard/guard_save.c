#include "base/hash.h"
#include "guard/guard_parts.h"
#include "guard/state_head.h"
#include "num/windows_snap.h"

#include <string.h>

struct saving {
    struct ek_guard *g;
    bool whole; /* everything is written, changed or not */
    ek_guard_record put;
    void *to;
    struct ek_ledger next; /* what this base has */
    int passed;            /* parts of the last base that come before the present one */
    struct ek_buf part, record;
    int rc, refused; /* of `put`, which is among rc */
};

static void hand_over(struct saving *v, const char *key, const void *bytes, size_t length)
{
    if (!v->rc)
        v->rc = v->refused = v->put(v->to, key, bytes, length);
}

static void put_record(struct saving *v, const char *part, int number, const uint8_t *bytes,
                       size_t length)
{
    struct ek_snap s = {.out = &v->record, .rc = v->rc};
    struct ek_record_frame frame = {v->g->assets->manifest->hash, v->next.base};
    char key[EK_KEY_BYTES];
    ek_ledger_key(key, part, number);
    ek_buf_clear(&v->record);
    ek_record_begin(&frame, &s);
    if (length)
        ek_snap_raw(&s, (uint8_t *)bytes, length);
    v->rc = s.rc;
    hand_over(v, key, v->record.data, v->record.length);
}

static void delete_records(struct saving *v, const struct ek_ledger_part *part, int first)
{
    char key[EK_KEY_BYTES];
    for (int i = first; i < part->records && !v->rc; i++) {
        ek_ledger_key(key, part->name, i);
        hand_over(v, key, NULL, 0);
    }
}

/* The part as the last base had it, NULL when it did not; parts before it are gone. */
static const struct ek_ledger_part *last_of(struct saving *v, const char *name)
{
    struct ek_ledger *l = &v->g->saved;
    while (v->passed < l->count) {
        struct ek_ledger_part *part = &l->part[v->passed];
        int order = name ? strcmp(part->name, name) : -1;
        if (order > 0)
            return NULL;
        v->passed++;
        if (!order)
            return part;
        delete_records(v, part, 0);
    }
    return NULL;
}

/* Begins a part. Whether it has to be walked, with *s: not when it is as the last base has it. */
static bool begin(struct saving *v, struct ek_snap *s, const char *name, uint64_t mark)
{
    const struct ek_ledger_part *last = last_of(v, name);
    if (v->rc)
        return false;
    ek_buf_clear(&v->part);
    *s = (struct ek_snap){.out = &v->part};
    if (v->whole || !last || !mark || last->mark != mark)
        return true;
    struct ek_ledger_part *part = ek_ledger_add(&v->next, name, last->records);
    if (!part) {
        v->rc = EK_ENOMEM;
        return false;
    }
    part->mark = mark;
    memcpy(part->hash, last->hash, (size_t)last->records * sizeof *part->hash);
    return false;
}

/* Cuts what was walked into records, and puts those that `last`, the same part in the last base or
 * NULL, did not have. */
static void cut(struct saving *v, const struct ek_ledger_part *last, struct ek_ledger_part *part)
{
    for (int i = 0; i < part->records && !v->rc; i++) {
        size_t from = (size_t)i * EK_RECORD_MOST, left = v->part.length - from;
        size_t length = left < EK_RECORD_MOST ? left : EK_RECORD_MOST;
        const uint8_t *at = v->part.data ? v->part.data + from : NULL;
        part->hash[i] = ek_hash(at, length, 0);
        if (v->whole || !last || i >= last->records || last->hash[i] != part->hash[i])
            put_record(v, part->name, i, at, length);
    }
    if (last)
        delete_records(v, last, part->records);
}

/* Records that a part takes; at least one. */
static int records_of(struct saving *v)
{
    size_t records = (v->part.length + EK_RECORD_MOST - 1) / EK_RECORD_MOST;
    if (!v->rc && records > EK_PART_RECORDS_MAX)
        v->rc = EK_ELIMIT;
    return v->rc || !records ? 1 : (int)records;
}

/* Ends the part that was walked. */
static void end(struct saving *v, const struct ek_snap *s, const char *name, uint64_t mark)
{
    v->rc = s->rc;
    int records = records_of(v);
    const struct ek_ledger_part *last = v->passed ? &v->g->saved.part[v->passed - 1] : NULL;
    struct ek_ledger_part *part = v->rc ? NULL : ek_ledger_add(&v->next, name, records);
    if (!part) {
        v->rc = v->rc ? v->rc : EK_ENOMEM;
        return;
    }
    part->mark = mark;
    cut(v, last && !strcmp(last->name, name) ? last : NULL, part);
}

static void detector_part(struct saving *v, enum ek_detector_part part)
{
    char name[EK_PART_NAME];
    struct ek_snap s;
    const struct ek_detector *d = v->g->detector;
    for (int i = 0; i < ek_detector_part_count(d, part) && !v->rc; i++) {
        uint64_t mark = ek_detector_part_mark(d, part, i);
        ek_part_of_detector(name, part, i);
        if (!begin(v, &s, name, mark))
            continue;
        ek_detector_part_snap(v->g->detector, part, i, &s);
        end(v, &s, name, mark);
    }
}

enum span { LIFE, NOW };

/* What the windows counted, and whose: a cell that changed hands begins anew. */
static uint64_t mark_of(const struct saving *v, uint64_t windows)
{
    uint64_t mark[] = {windows, ek_cells_taken_ever(ek_detector_registry(v->g->detector))};
    return ek_hash(mark, sizeof mark, 0) | 1;
}

static void windows_part(struct saving *v, enum span span)
{
    char name[EK_PART_NAME];
    struct ek_snap s;
    for (int cell = 0; cell < ek_traffic_cells(v->g->traffic) && !v->rc; cell++) {
        struct ek_windows *w = ek_traffic_windows(v->g->traffic, cell);
        if (!w)
            continue;
        uint64_t mark = mark_of(v, span == LIFE ? ek_windows_life_mark(w) : ek_windows_now_mark(w));
        ek_part_numbered(name, span == LIFE ? EK_PART_OF_LIFE : EK_PART_OF_NOW, cell);
        if (!begin(v, &s, name, mark))
            continue;
        if (span == LIFE)
            ek_windows_life_snap(w, &s);
        else
            ek_windows_now_snap(w, &s);
        end(v, &s, name, mark);
    }
}

static void closed_windows_part(struct saving *v, int cell, struct ek_windows *w)
{
    char name[EK_PART_NAME];
    struct ek_snap s;
    for (int place = 0; place < ek_windows_places(w) && !v->rc; place++) {
        uint64_t mark = mark_of(v, ek_windows_place_mark(w, place));
        ek_part_of_window(name, cell, place);
        if (!begin(v, &s, name, mark))
            continue;
        ek_windows_place_snap(w, &s, place);
        end(v, &s, name, mark);
    }
}

static void drift_part(struct saving *v)
{
    struct ek_snap s;
    if (!v->g->agreement || !begin(v, &s, EK_PART_OF_DRIFT, 0))
        return;
    ek_agreement_watch_snap(v->g->agreement, &s);
    end(v, &s, EK_PART_OF_DRIFT, 0);
}

static void guard_part(struct saving *v)
{
    struct ek_snap s;
    if (!begin(v, &s, EK_PART_OF_GUARD, 0))
        return;
    ek_guard_part_snap(v->g, &s);
    end(v, &s, EK_PART_OF_GUARD, 0);
}

/* Of decisions, as far as there are some. */
static void history_part(struct saving *v)
{
    char name[EK_PART_NAME];
    struct ek_snap s;
    for (int i = 0; i < EK_DECISIONS_PARTS && !v->rc; i++) {
        uint64_t mark = ek_decisions_mark(v->g->decisions, i);
        ek_part_numbered(name, EK_PART_OF_HISTORY, i);
        if (!mark || !begin(v, &s, name, mark))
            continue;
        ek_decisions_snap(v->g->decisions, &s, i);
        end(v, &s, name, mark);
    }
}

static void plan_part(struct saving *v)
{
    struct ek_snap s;
    if (!begin(v, &s, EK_PART_OF_PLAN, 0))
        return;
    ek_guard_plan_snap(v->g, &s);
    end(v, &s, EK_PART_OF_PLAN, 0);
}

static void clock_part(struct saving *v)
{
    struct ek_snap s;
    if (!v->g->stream_clock.seen || !begin(v, &s, EK_PART_OF_CLOCK, 0))
        return;
    ek_stream_clock_snap(&v->g->stream_clock, &s);
    end(v, &s, EK_PART_OF_CLOCK, 0);
}

static void control_part(struct saving *v)
{
    struct ek_snap s;
    if (!begin(v, &s, EK_PART_OF_CONTROL, 0))
        return;
    ek_guard_control_snap(v->g, &s);
    end(v, &s, EK_PART_OF_CONTROL, 0);
}

static void queries_part(struct saving *v)
{
    const struct ek_guard *g = v->g;
    struct ek_snap s;
    if (!g->assembly || !begin(v, &s, EK_PART_OF_QUERIES, 0))
        return;
    ek_guard_queries_snap(v->g, &s, ek_cells_count(ek_detector_registry(g->detector)));
    end(v, &s, EK_PART_OF_QUERIES, 0);
}

/* By rising names. */
static void all_parts(struct saving *v)
{
    detector_part(v, EK_PART_ACCEPTS);
    detector_part(v, EK_PART_CELLS);
    detector_part(v, EK_PART_CHANGES);
    clock_part(v);
    control_part(v);
    drift_part(v);
    detector_part(v, EK_PART_EVIDENCE);
    guard_part(v);
    history_part(v);
    windows_part(v, LIFE);
    detector_part(v, EK_PART_LISTS);
    windows_part(v, NOW);
    plan_part(v);
    queries_part(v);
    detector_part(v, EK_PART_ROWS);
    for (int cell = 0; cell < ek_traffic_cells(v->g->traffic) && !v->rc; cell++)
        if (ek_traffic_windows(v->g->traffic, cell))
            closed_windows_part(v, cell, ek_traffic_windows(v->g->traffic, cell));
    last_of(v, NULL);
}

static void index_part(struct saving *v)
{
    struct ek_snap s = {.out = &v->part};
    ek_buf_clear(&v->part);
    if (!v->rc) {
        ek_ledger_snap(&v->next, &s);
        v->rc = s.rc;
    }
    int records = records_of(v);
    struct ek_ledger_part *index = &v->next.index;
    *index = (struct ek_ledger_part){.name = EK_PART_OF_INDEX};
    if (!v->rc)
        v->rc = ek_ledger_part_room(index, records);
    if (!v->rc)
        cut(v, v->g->saved.index.records ? &v->g->saved.index : NULL, index);
}

static void put_head(struct saving *v, const void *note, size_t length)
{
    const struct ek_guard *g = v->g;
    struct ek_state_head h = {
        .frame = {g->assets->manifest->hash, v->next.base},
        .kind = ek_detector_kind_of(g->detector),
        .dimension = g->assets->rules->segment,
        .windows = g->assets->rules->windows,
        .stream_clock = g->stream_clock,
        .time_ms = g->time_ms,
        .clock_ms = g->clock_ms,
        .queries = ek_guard_queries(g),
        .plan_version = ek_control_plan(g->control)->version,
        .note = {.data = (uint8_t *)note, .length = length},
        .index = v->next.index,
    };
    ek_buf_clear(&v->record);
    if (!v->rc)
        v->rc = ek_state_head_write(&h, &v->record);
    hand_over(v, EK_STATE_HEAD, v->record.data, v->record.length);
}

static int settle_windows(struct ek_guard *g)
{
    int rc = EK_OK;
    for (int cell = 0; cell < ek_traffic_cells(g->traffic) && !rc; cell++)
        if (ek_traffic_windows(g->traffic, cell))
            rc = ek_windows_settle(ek_traffic_windows(g->traffic, cell));
    return rc;
}

static int why(const struct saving *v, struct ek_error *e)
{
    if (v->refused)
        return ek_fail(e, EK_ESTATE, "a record of the state was not taken");
    if (v->rc == EK_ELIMIT)
        return ek_fail(e, EK_ELIMIT, "a part of the state has more than %d records of %d KiB",
                       EK_PART_RECORDS_MAX, EK_RECORD_MOST / 1024);
    return v->rc ? ek_fail(e, v->rc, "out of memory") : EK_OK;
}

int ek_guard_save(struct ek_guard *g, int whole, const void *note, size_t length,
                  ek_guard_record put, void *to, struct ek_error *e)
{
    struct saving v = {.g = g, .whole = whole || !g->saved.count, .put = put, .to = to};
    if (length > EK_NOTE_MAX)
        return ek_fail(e, EK_ELIMIT, "a note of %zu bytes, at most %d", length, EK_NOTE_MAX);
    ek_buf_init(&v.part, 0);
    ek_buf_init(&v.record, 0);
    v.next.base = g->saved.base + 1;
    v.rc = settle_windows(g);
    if (!v.rc)
        all_parts(&v);
    index_part(&v);
    put_head(&v, note, length);
    ek_buf_release(&v.part);
    ek_buf_release(&v.record);
    ek_ledger_clear(v.rc ? &v.next : &g->saved);
    if (v.rc)
        ek_ledger_clear(&g->saved); /* who knows what of it was written: all of it the next time */
    else
        g->saved = v.next;
    return why(&v, e);
}
