#include "guard/save.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "guard/event_json.h"
#include "guard/guard_assets.h"
#include "guard/guard_incidents.h"
#include "guard/guard_internal.h"
#include "guard/incident_log.h"
#include "guard/state.h"
#include "num/windows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- index */

void ek_checkpoint_index_clear(struct ek_checkpoint_index *x)
{
    for (int i = 0; i < x->count; i++)
        ek_free(x->part[i].hash);
    ek_free(x->part);
    ek_free(x->index.hash);
    *x = (struct ek_checkpoint_index){.base = x->base};
}

struct ek_checkpoint_part *ek_checkpoint_index_add(struct ek_checkpoint_index *x, const char *name,
                                                   int records)
{
    struct ek_checkpoint_part *part =
        ek_grow(x->part, (size_t)x->count, &x->capacity, sizeof *part);
    if (!part)
        return NULL;
    x->part = part;
    struct ek_checkpoint_part *p = &x->part[x->count];
    *p = (struct ek_checkpoint_part){.records = 0};
    snprintf(p->name, sizeof p->name, "%s", name);
    if (ek_checkpoint_part_reserve(p, records))
        return NULL;
    x->count++;
    return p;
}

int ek_checkpoint_part_reserve(struct ek_checkpoint_part *part, int records)
{
    part->hash = ek_calloc((size_t)records, sizeof *part->hash);
    part->records = part->hash ? records : 0;
    return part->hash ? EK_OK : EK_ENOMEM;
}

void ek_checkpoint_key(char key[EK_KEY_BYTES], const char *part, int record)
{
    snprintf(key, EK_KEY_BYTES, "%s.%03d", part, record);
}

static void index_part_serialize(struct ek_checkpoint_index *x, int number, struct ek_serialize *s)
{
    char *name = ek_serialize_is_reading(s) ? NULL : x->part[number].name;
    int records = ek_serialize_is_reading(s) ? 0 : x->part[number].records;
    ek_serialize_text(s, &name);
    ek_serialize_int(s, &records, 0, EK_PART_RECORDS_MAX);
    if (ek_serialize_is_reading(s)) {
        ek_serialize_require(s, name && strlen(name) < EK_PART_NAME);
        if (!s->rc && !ek_checkpoint_index_add(x, name, records))
            s->rc = EK_ENOMEM;
        ek_free(name);
    }
    if (!s->rc)
        ek_serialize_raw(s, x->part[number].hash, (size_t)records * sizeof *x->part[number].hash);
}

void ek_checkpoint_index_serialize(struct ek_checkpoint_index *x, struct ek_serialize *s)
{
    int count = x->count;
    ek_serialize_int(s, &count, 0, INT_MAX);
    for (int i = 0; i < count && !s->rc; i++)
        index_part_serialize(x, i, s);
}

/* ---- parts */

static int cells_of(const struct ek_guard *g)
{
    return ek_cells_count(ek_detector_registry(g->detector));
}

static int detector_count(const struct ek_part_at *at)
{
    if (at->reading && at->part->flags & EK_PART_OPTIONAL)
        return 1;
    return ek_detector_part_count(at->g->detector, at->part->detector);
}

static int learned_count(const struct ek_part_at *at)
{
    return at->reading ? EK_LEARNED_BLOCKS
                       : ek_detector_part_count(at->g->detector, EK_PART_LEARNED);
}

static uint64_t detector_mark(const struct ek_part_at *at)
{
    return ek_detector_part_mark(at->g->detector, at->part->detector, at->number);
}

static void detector_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_detector_part_serialize(at->g->detector, at->part->detector, at->number, s);
}

static void plan_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    struct ek_guard *g = at->g;
    ek_controller_desired_serialize(g->control, s, g->assets->manifest->watched_count, cells_of(g));
}

static void control_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    struct ek_guard *g = at->g;
    ek_controller_serialize(g->control, s, g->assets->manifest->watched_count, cells_of(g));
    if (ek_serialize_is_reading(s) && !s->rc)
        ek_controller_restored(g->control, at->time_ms);
}

static void open_serialize(struct ek_guard *g, struct ek_serialize *s)
{
    int cells = ek_cells_count(ek_detector_registry(g->detector));
    int count = g->open.count;
    ek_serialize_int(s, &count, 0, EK_EPISODES_MAX);
    for (int i = 0; i < count && !s->rc; i++) {
        struct ek_finding f = {.feature = 0};
        if (i < g->open.count)
            f = g->open.item[i].f;
        ek_serialize_int(s, &f.feature, 0, g->assets->manifest->watched_count - 1);
        ek_serialize_int(s, &f.cell, 0, cells - 1);
        if (ek_serialize_is_reading(s))
            ek_open_findings_add(&g->open, &f);
    }
}

static void event_serialize(struct ek_guard *g, uint64_t number, struct ek_serialize *s)
{
    struct ek_buf json;
    char *text = NULL;
    ek_buf_init(&json, 0);
    if (!ek_serialize_is_reading(s)) {
        int rc = ek_event_json(g->events[number % EK_EVENTS_MAX], &json);
        text = rc || !ek_buf_string(&json) ? NULL : (char *)json.data;
        s->rc = s->rc ? s->rc : text ? EK_OK : EK_ENOMEM;
    }
    if (!s->rc)
        ek_serialize_text(s, &text);
    ek_buf_release(&json);
    if (!ek_serialize_is_reading(s))
        return;
    const struct ek_event v = {.kind = EK_EVENT_TEXT, .text = text};
    if (!s->rc)
        s->rc = ek_guard_emit(g, ek_event_copy(&v));
    ek_free(text);
}

/* Reported limits, open findings, pending events. */
static void guard_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    struct ek_guard *g = at->g;
    uint32_t limits = g->reported_limits;
    int waiting = (int)(g->emitted - g->fetched);
    ek_serialize_u64(s, &g->adopted);
    ek_serialize_u32(s, &limits);
    g->reported_limits = limits;
    ek_serialize_raw(s, g->limits.count, EK_BOUNDS * sizeof *g->limits.count);
    open_serialize(g, s);
    ek_serialize_int(s, &waiting, 0, EK_EVENTS_MAX);
    for (int i = 0; i < waiting && !s->rc; i++)
        event_serialize(g, g->fetched + (uint64_t)i, s);
}

/* Read by ek_guard_load_into, after all other parts. */
static int decided_count(const struct ek_part_at *at)
{
    return !at->reading && ek_open_decisions_exist(at->g);
}

static void decided_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_open_decisions_write(at->g, s);
}

static int history_count(const struct ek_part_at *at)
{
    (void)at;
    return EK_DECISIONS_PARTS;
}

static uint64_t history_mark(const struct ek_part_at *at)
{
    return ek_decisions_mark(at->g->decisions, at->number);
}

static void history_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_decisions_serialize(at->g->decisions, s, at->number);
}

static int incidents_count(const struct ek_part_at *at)
{
    (void)at;
    return EK_INCIDENTS_PARTS;
}

static uint64_t incidents_mark(const struct ek_part_at *at)
{
    return ek_incident_log_mark(at->g->incidents, at->number);
}

static void incidents_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_incident_log_serialize(at->g->incidents, s, at->number);
}

static int drift_count(const struct ek_part_at *at)
{
    return at->g->agreement != NULL;
}

static void drift_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_agreement_watch_serialize(at->g->agreement, s);
}

static int queries_count(const struct ek_part_at *at)
{
    return at->g->assembly != NULL;
}

static void queries_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    struct ek_guard *g = at->g;
    ek_assembly_serialize(g->assembly, s);
    ek_plan_history_serialize(&g->plan_history, s, g->assets->manifest->watched_count,
                              at->cells ? at->cells : cells_of(g));
}

static int clock_count(const struct ek_part_at *at)
{
    return at->reading || at->g->stream_clock.seen;
}

static void clock_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_event_clock_serialize(&at->g->stream_clock, s);
}

static int windows_count(const struct ek_part_at *at)
{
    return ek_live_sketches_cells(at->g->sketches);
}

/* A cell with another segment value has new windows. */
static uint64_t windows_mark(const struct ek_part_at *at, uint64_t windows)
{
    uint64_t mark[] = {windows, ek_cells_reuse_count(ek_detector_registry(at->g->detector))};
    return ek_hash(mark, sizeof mark, 0) | 1;
}

static uint64_t life_mark(const struct ek_part_at *at)
{
    return windows_mark(at, ek_windows_life_mark(at->windows));
}

static void life_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_windows_life_serialize(at->windows, s);
}

static uint64_t now_mark(const struct ek_part_at *at)
{
    return windows_mark(at, ek_windows_now_mark(at->windows));
}

static void now_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_windows_now_serialize(at->windows, s);
}

static uint64_t closed_mark(const struct ek_part_at *at)
{
    return windows_mark(at, ek_windows_place_mark(at->windows, at->place));
}

static void closed_walk(const struct ek_part_at *at, struct ek_serialize *s)
{
    ek_windows_place_serialize(at->windows, s, at->place);
}

#define ANY      EK_PART_ANY_PROFILE
#define NUMBERED EK_PART_NUMBERED
#define OPTIONAL EK_PART_OPTIONAL
#define WINDOWS  (EK_PART_PER_WINDOW | NUMBERED | ANY)

const struct ek_state_part ek_state_parts[EK_STATE_PARTS] = {
    {EK_PART_PER_CELL, 0, detector_count, NULL, detector_walk, EK_PART_CELLS},
    {"lists", 0, detector_count, NULL, detector_walk, EK_PART_LISTS},
    {"rows", NUMBERED, detector_count, detector_mark, detector_walk, EK_PART_ROWS},
    {"evidence", NUMBERED, detector_count, NULL, detector_walk, EK_PART_EVIDENCE},
    {"changes", 0, detector_count, NULL, detector_walk, EK_PART_CHANGES},
    {"accepts", OPTIONAL, detector_count, NULL, detector_walk, EK_PART_ACCEPTS},
    {"learned", NUMBERED | OPTIONAL, learned_count, detector_mark, detector_walk, EK_PART_LEARNED},
    {"plan", 0, NULL, NULL, plan_walk, 0},
    {EK_PART_CONTROLLER, 0, NULL, NULL, control_walk, 0},
    {"guard", 0, NULL, NULL, guard_walk, 0},
    {EK_PART_DECIDED, OPTIONAL, decided_count, NULL, decided_walk, 0},
    {"history", NUMBERED | OPTIONAL | ANY, history_count, history_mark, history_walk, 0},
    {"incidents", NUMBERED | OPTIONAL | ANY, incidents_count, incidents_mark, incidents_walk, 0},
    {"drift", OPTIONAL, drift_count, NULL, drift_walk, 0},
    {"queries", OPTIONAL | ANY, queries_count, NULL, queries_walk, 0},
    {"clock", OPTIONAL | ANY, clock_count, NULL, clock_walk, 0},
    {"life", WINDOWS, windows_count, life_mark, life_walk, 0},
    {EK_PART_CURRENT, WINDOWS, windows_count, now_mark, now_walk, 0},
    {"window", WINDOWS | EK_PART_EACH_WINDOW, windows_count, closed_mark, closed_walk, 0},
};

void ek_state_part_name(char name[EK_PART_NAME], const struct ek_part_at *at)
{
    if (at->part->flags & EK_PART_EACH_WINDOW)
        snprintf(name, EK_PART_NAME, "%s/%05d/%04d", at->part->name, at->number, at->place);
    else if (at->part->flags & EK_PART_NUMBERED)
        snprintf(name, EK_PART_NAME, "%s/%05d", at->part->name, at->number);
    else
        snprintf(name, EK_PART_NAME, "%s", at->part->name);
}

int ek_state_part_count(const struct ek_part_at *at)
{
    return at->part->count ? at->part->count(at) : 1;
}

int ek_state_part_places(const struct ek_part_at *at)
{
    return at->part->flags & EK_PART_EACH_WINDOW ? ek_windows_places(at->windows) : 1;
}

/* ---- writer */

struct saving {
    struct ek_guard *g;
    bool whole; /* full: write unchanged parts too */
    ek_write_fn put;
    void *to;
    struct ek_checkpoint_index next; /* parts of this checkpoint */
    int passed;                      /* parts of the last checkpoint before the current part */
    struct ek_buf part, record;
    int rc, refused; /* `refused`: error of `put`, also in rc */
};

static void hand_over(struct saving *v, const char *key, const void *bytes, size_t length)
{
    if (!v->rc)
        v->rc = v->refused = v->put(v->to, key, bytes, length);
}

static void write_record(struct saving *v, const char *part, int number, const uint8_t *bytes,
                         size_t length)
{
    struct ek_serialize s = {.out = &v->record, .rc = v->rc};
    struct ek_record_frame frame = {v->g->assets->manifest->hash, v->next.base};
    char key[EK_KEY_BYTES];
    ek_checkpoint_key(key, part, number);
    ek_buf_clear(&v->record);
    ek_record_begin(&frame, &s);
    if (length)
        ek_serialize_raw(&s, (uint8_t *)bytes, length);
    v->rc = s.rc;
    hand_over(v, key, v->record.data, v->record.length);
}

static void delete_records(struct saving *v, const struct ek_checkpoint_part *part, int first)
{
    char key[EK_KEY_BYTES];
    for (int i = first; i < part->records && !v->rc; i++) {
        ek_checkpoint_key(key, part->name, i);
        hand_over(v, key, NULL, 0);
    }
}

/* Return the part of the last checkpoint, or NULL. Delete the parts before it, which no longer
 * exist. */
static const struct ek_checkpoint_part *last_of(struct saving *v, const char *name)
{
    struct ek_checkpoint_index *l = &v->g->saved;
    while (v->passed < l->count) {
        struct ek_checkpoint_part *part = &l->part[v->passed];
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

/* Start a part. Return whether to write it with *s; an unchanged part is only added to the
 * index. */
static bool begin(struct saving *v, struct ek_serialize *s, const char *name, uint64_t mark)
{
    const struct ek_checkpoint_part *last = last_of(v, name);
    if (v->rc)
        return false;
    ek_buf_clear(&v->part);
    *s = (struct ek_serialize){.out = &v->part};
    if (v->whole || !last || !mark || last->mark != mark)
        return true;
    struct ek_checkpoint_part *part = ek_checkpoint_index_add(&v->next, name, last->records);
    if (!part) {
        v->rc = EK_ENOMEM;
        return false;
    }
    part->mark = mark;
    memcpy(part->hash, last->hash, (size_t)last->records * sizeof *part->hash);
    return false;
}

/* Split the part into records. Write the records that differ from `last`, the same part in the last
 * checkpoint or NULL. */
static void cut(struct saving *v, const struct ek_checkpoint_part *last,
                struct ek_checkpoint_part *part)
{
    for (int i = 0; i < part->records && !v->rc; i++) {
        size_t from = (size_t)i * EK_RECORD_BYTES_MAX, left = v->part.length - from;
        size_t length = left < EK_RECORD_BYTES_MAX ? left : EK_RECORD_BYTES_MAX;
        const uint8_t *at = v->part.data ? v->part.data + from : NULL;
        part->hash[i] = ek_hash(at, length, 0);
        if (v->whole || !last || i >= last->records || last->hash[i] != part->hash[i])
            write_record(v, part->name, i, at, length);
    }
    if (last)
        delete_records(v, last, part->records);
}

/* Return the number of records of the part, at least one. */
static int records_of(struct saving *v)
{
    size_t records = (v->part.length + EK_RECORD_BYTES_MAX - 1) / EK_RECORD_BYTES_MAX;
    if (!v->rc && records > EK_PART_RECORDS_MAX)
        v->rc = EK_ELIMIT;
    return v->rc || !records ? 1 : (int)records;
}

/* Finish a part. */
static void end(struct saving *v, const struct ek_serialize *s, const char *name, uint64_t mark)
{
    v->rc = s->rc;
    int records = records_of(v);
    const struct ek_checkpoint_part *last = v->passed ? &v->g->saved.part[v->passed - 1] : NULL;
    struct ek_checkpoint_part *part =
        v->rc ? NULL : ek_checkpoint_index_add(&v->next, name, records);
    if (!part) {
        v->rc = v->rc ? v->rc : EK_ENOMEM;
        return;
    }
    part->mark = mark;
    cut(v, last && !strcmp(last->name, name) ? last : NULL, part);
}

static void save_one(struct saving *v, const struct ek_part_at *at)
{
    const struct ek_state_part *part = at->part;
    char name[EK_PART_NAME];
    struct ek_serialize s;
    uint64_t mark = part->mark ? part->mark(at) : 0;
    bool empty = part->mark && part->flags & EK_PART_OPTIONAL && !mark;
    ek_state_part_name(name, at);
    if (empty || !begin(v, &s, name, mark))
        return;
    part->walk(at, &s);
    end(v, &s, name, mark);
}

static void save_part(struct saving *v, const struct ek_state_part *part)
{
    struct ek_part_at at = {.part = part, .g = v->g};
    for (; at.number < ek_state_part_count(&at) && !v->rc; at.number++) {
        at.windows = NULL;
        if (part->flags & EK_PART_PER_WINDOW) {
            at.windows = ek_live_sketches_windows(v->g->sketches, at.number);
            if (!at.windows)
                continue;
        }
        for (at.place = 0; at.place < ek_state_part_places(&at) && !v->rc; at.place++)
            save_one(v, &at);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct ek_state_part *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void all_parts(struct saving *v)
{
    const struct ek_state_part *part[EK_STATE_PARTS];
    for (int i = 0; i < EK_STATE_PARTS; i++)
        part[i] = &ek_state_parts[i];
    qsort(part, EK_STATE_PARTS, sizeof *part, by_name);
    for (int i = 0; i < EK_STATE_PARTS; i++)
        save_part(v, part[i]);
    last_of(v, NULL);
}

static void index_part(struct saving *v)
{
    struct ek_serialize s = {.out = &v->part};
    ek_buf_clear(&v->part);
    if (!v->rc) {
        ek_checkpoint_index_serialize(&v->next, &s);
        v->rc = s.rc;
    }
    int records = records_of(v);
    struct ek_checkpoint_part *index = &v->next.index;
    *index = (struct ek_checkpoint_part){.name = EK_PART_INDEX};
    if (!v->rc)
        v->rc = ek_checkpoint_part_reserve(index, records);
    if (!v->rc)
        cut(v, v->g->saved.index.records ? &v->g->saved.index : NULL, index);
}

static void write_head(struct saving *v, const void *note, size_t length)
{
    const struct ek_guard *g = v->g;
    struct ek_state_head h = {
        .frame = {g->assets->manifest->hash, v->next.base},
        .kind = ek_detector_get_kind(g->detector),
        .dimension = g->assets->rules->segment,
        .windows = g->assets->rules->windows,
        .stream_clock = g->stream_clock,
        .time_ms = g->time_ms,
        .clock_ms = g->clock_ms,
        .queries = ek_guard_list_count(g),
        .plan_version = ek_controller_plan(g->control)->version,
        .note = {.data = (uint8_t *)note, .length = length},
        .index = v->next.index,
    };
    ek_buf_clear(&v->record);
    if (!v->rc)
        v->rc = ek_state_head_write(&h, &v->record);
    hand_over(v, EK_STATE_HEAD, v->record.data, v->record.length);
}

static int pack_windows(struct ek_guard *g)
{
    int rc = EK_OK;
    for (int cell = 0; cell < ek_live_sketches_cells(g->sketches) && !rc; cell++)
        if (ek_live_sketches_windows(g->sketches, cell))
            rc = ek_windows_pack_newest(ek_live_sketches_windows(g->sketches, cell));
    return rc;
}

static int why(const struct saving *v, struct ek_error *e)
{
    if (v->refused)
        return ek_fail(e, EK_ESTATE, "a record of the state was not taken");
    if (v->rc == EK_ELIMIT)
        return ek_fail(e, EK_ELIMIT, "a part of the state has more than %d records of %d KiB",
                       EK_PART_RECORDS_MAX, EK_RECORD_BYTES_MAX / 1024);
    return v->rc ? ek_fail(e, v->rc, "out of memory") : EK_OK;
}

int ek_guard_save(struct ek_guard *g, int whole, const void *note, size_t length, ek_write_fn put,
                  void *to, struct ek_error *e)
{
    struct saving v = {.g = g, .whole = whole || !g->saved.count, .put = put, .to = to};
    if (length > EK_NOTE_MAX)
        return ek_fail(e, EK_ELIMIT, "a note of %zu bytes, at most %d", length, EK_NOTE_MAX);
    ek_buf_init(&v.part, 0);
    ek_buf_init(&v.record, 0);
    v.next.base = g->saved.base + 1;
    ek_guard_update_incidents(g);
    v.rc = pack_windows(g);
    if (!v.rc)
        all_parts(&v);
    index_part(&v);
    write_head(&v, note, length);
    ek_buf_release(&v.part);
    ek_buf_release(&v.record);
    ek_checkpoint_index_clear(v.rc ? &v.next : &g->saved);
    if (v.rc)
        ek_checkpoint_index_clear(
            &g->saved); /* unknown which records were written: the next checkpoint is full */
    else
        g->saved = v.next;
    return why(&v, e);
}
