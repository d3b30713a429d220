#include "guard/state.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "num/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- frame and head */

enum { VERSION = 1 };

static const uint8_t magic[] = {'E', 'K', 'S', 'T', 'A', 'T', '\r', '\n'};

void ek_record_begin(const struct ek_record_frame *frame, struct ek_serialize *s)
{
    struct ek_record_frame f = *frame;
    uint32_t version = VERSION;
    ek_serialize_raw(s, (uint8_t *)magic, sizeof magic);
    ek_serialize_u32(s, &version);
    ek_serialize_u64(s, &f.manifest);
    ek_serialize_u64(s, &f.base);
}

int ek_record_open(const void *bytes, size_t length, struct ek_record_frame *frame,
                   struct ek_serialize *s, struct ek_error *e)
{
    uint8_t found[sizeof magic];
    uint32_t version;
    *s = (struct ek_serialize){.at = bytes, .end = (const uint8_t *)bytes + length};
    ek_serialize_raw(s, found, sizeof found);
    ek_serialize_require(s, !memcmp(found, magic, sizeof magic));
    if (s->rc)
        return ek_fail(e, EK_EFORMAT, "no record of a state: it does not begin with 'EKSTAT'");
    ek_serialize_u32(s, &version);
    if (!s->rc && version != VERSION)
        return ek_fail(e, EK_ESTATE,
                       "record of a state has version %" PRIu32 ", this program reads %d", version,
                       VERSION);
    ek_serialize_u64(s, &frame->manifest);
    ek_serialize_u64(s, &frame->base);
    return s->rc ? ek_fail(e, EK_EFORMAT, "record of a state is cut off after %zu bytes", length)
                 : EK_OK;
}

void ek_state_head_release(struct ek_state_head *h)
{
    for (int i = 0; h->dimension && i < h->kind.dimensions; i++)
        ek_free(h->dimension[i]);
    ek_free(h->dimension);
    ek_free(h->index.hash);
    ek_buf_release(&h->note);
    *h = (struct ek_state_head){.dimension = NULL};
}

static void kind_serialize(struct ek_detector_kind *k, struct ek_serialize *s)
{
    ek_detector_kind_serialize(k, s);
    ek_serialize_require(s, k->cells <= INT16_MAX && /* cells are stored as int16_t */
                                k->dimensions <= EK_DIMENSIONS_MAX);
}

static void dimensions_serialize(struct ek_state_head *h, struct ek_serialize *s)
{
    if (ek_serialize_is_reading(s) && !s->rc) {
        h->dimension = ek_calloc((size_t)h->kind.dimensions, sizeof *h->dimension);
        s->rc = h->dimension ? EK_OK : EK_ENOMEM;
    }
    for (int i = 0; i < h->kind.dimensions && !s->rc; i++)
        ek_serialize_text(s, &h->dimension[i]);
}

static void times_serialize(struct ek_state_head *h, struct ek_serialize *s)
{
    ek_serialize_i64(s, &h->windows.length_ms);
    ek_serialize_int(s, &h->windows.retention, 1, EK_WINDOWS_KEPT_MAX);
    ek_serialize_int(s, &h->windows.max_segments, 0, INT32_MAX);
    ek_serialize_require(s, h->windows.length_ms > 0);
    ek_serialize_i64(s, &h->stream_clock.now_ms);
    ek_serialize_int(s, &h->stream_clock.seen, 0, EK_EVENT_CLOCK_LISTS);
    ek_serialize_int(s, &h->stream_clock.started, 0, 1);
    if (ek_serialize_is_reading(s))
        ek_event_clock_restored(&h->stream_clock);
    ek_serialize_i64(s, &h->time_ms);
    ek_serialize_i64(s, &h->clock_ms);
    ek_serialize_require(s, h->stream_clock.now_ms >= 0 && h->time_ms >= 0 && h->clock_ms >= 0);
    ek_serialize_u64(s, &h->queries);
    ek_serialize_u64(s, &h->plan_version);
}

static void note_serialize(struct ek_state_head *h, struct ek_serialize *s)
{
    int length = (int)h->note.length;
    ek_serialize_int(s, &length, 0, EK_NOTE_MAX);
    if (ek_serialize_is_reading(s) && !s->rc)
        s->rc = ek_buf_reserve(&h->note, (size_t)length);
    if (!s->rc && length)
        ek_serialize_raw(s, h->note.data, (size_t)length);
    h->note.length = s->rc ? 0 : (size_t)length;
}

static void index_serialize(struct ek_state_head *h, struct ek_serialize *s)
{
    struct ek_checkpoint_part *index = &h->index;
    int records = index->records;
    ek_serialize_int(s, &records, 1, EK_PART_RECORDS_MAX);
    if (ek_serialize_is_reading(s) && !s->rc)
        s->rc = ek_checkpoint_part_reserve(index, records);
    if (!s->rc)
        ek_serialize_raw(s, index->hash, (size_t)records * sizeof *index->hash);
}

static void head_serialize(struct ek_state_head *h, struct ek_serialize *s)
{
    kind_serialize(&h->kind, s);
    dimensions_serialize(h, s);
    times_serialize(h, s);
    note_serialize(h, s);
    index_serialize(h, s);
}

int ek_state_head_write(struct ek_state_head *h, struct ek_buf *out)
{
    struct ek_serialize s = {.out = out};
    size_t start = out->length;
    ek_record_begin(&h->frame, &s);
    head_serialize(h, &s);
    uint64_t hash = s.rc ? 0 : ek_hash(out->data + start, out->length - start, 0);
    ek_serialize_u64(&s, &hash);
    return s.rc;
}

/* The last 8 bytes are the hash of all bytes before. */
static bool is_whole(const void *bytes, size_t length)
{
    uint64_t hash;
    if (length < sizeof hash)
        return false;
    memcpy(&hash, (const uint8_t *)bytes + length - sizeof hash, sizeof hash);
    return hash == ek_hash(bytes, length - sizeof hash, 0);
}

int ek_state_head_read(struct ek_state_head *h, const void *bytes, size_t length,
                       struct ek_error *e)
{
    struct ek_serialize s;
    int rc = ek_record_open(bytes, length, &h->frame, &s, e);
    if (rc)
        return rc;
    if (!is_whole(bytes, length))
        return ek_fail(e, EK_EFORMAT, "head of a state is damaged: its hash does not fit");
    s.end -= sizeof(uint64_t);
    ek_buf_init(&h->note, EK_NOTE_MAX);
    head_serialize(h, &s);
    ek_serialize_require(&s, s.at == s.end);
    if (!s.rc)
        return EK_OK;
    ek_state_head_release(h);
    return s.rc == EK_ENOMEM ? ek_fail(e, EK_ENOMEM, "out of memory")
                             : ek_fail(e, EK_EFORMAT, "head of a state is damaged");
}

/* ---- set of records */

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_state_new(struct ek_state **out, struct ek_error *e)
{
    struct ek_state *s = ek_calloc(1, sizeof *s);
    if (!s)
        return out_of_memory(e);
    *out = s;
    return EK_OK;
}

static void remove_checkpoint(struct ek_state *s)
{
    ek_state_head_release(&s->head);
    ek_checkpoint_index_clear(&s->index);
    s->has_base = false;
}

static void drop_records(struct ek_state *s, bool needed_too)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->record[i].needed && !needed_too)
            s->record[kept++] = s->record[i];
        else
            ek_free(s->record[i].bytes);
    }
    s->count = kept;
    s->sorted = kept < s->sorted ? kept : s->sorted;
}

void ek_state_free(struct ek_state *s)
{
    if (!s)
        return;
    remove_checkpoint(s);
    drop_records(s, true);
    ek_free(s->record);
    ek_free(s);
}

static int compare(const void *a, const void *b)
{
    const struct ek_state_record *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->hash > y->hash) - (x->hash < y->hash);
}

/* Search the sorted records; return NULL if not found. */
static const struct ek_state_record *find(const struct ek_state *s, const char *key, uint64_t hash)
{
    struct ek_state_record desired = {.hash = hash};
    snprintf(desired.key, sizeof desired.key, "%s", key);
    return s->sorted ? bsearch(&desired, s->record, (size_t)s->sorted, sizeof desired, compare)
                     : NULL;
}

static void sort(struct ek_state *s)
{
    if (s->sorted < s->count)
        qsort(s->record, (size_t)s->count, sizeof *s->record, compare);
    s->sorted = s->count;
}

/* Return whether all records of a part exist, and mark them as needed. */
static bool has_part(struct ek_state *s, const struct ek_checkpoint_part *part)
{
    char key[EK_KEY_BYTES];
    for (int i = 0; i < part->records; i++) {
        ek_checkpoint_key(key, part->name, i);
        const struct ek_state_record *r = find(s, key, part->hash[i]);
        if (!r)
            return false;
        s->record[r - s->record].needed = true;
    }
    return true;
}

/* Concatenate the records of a part. */
static struct ek_serialize bytes_of(const struct ek_state *s, const struct ek_checkpoint_part *part,
                                    struct ek_buf *joined)
{
    char key[EK_KEY_BYTES];
    struct ek_serialize out = {.rc = EK_OK};
    ek_buf_clear(joined);
    for (int i = 0; i < part->records && !out.rc; i++) {
        ek_checkpoint_key(key, part->name, i);
        const struct ek_state_record *r = find(s, key, part->hash[i]);
        out.rc = r ? ek_buf_add(joined, r->bytes, r->length) : EK_EFORMAT;
    }
    out.at = joined->data;
    out.end = joined->data ? joined->data + joined->length : NULL;
    return out;
}

static int by_name(const void *a, const void *b)
{
    const struct ek_checkpoint_part *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The index is sorted by name. */
static const struct ek_checkpoint_part *find_part(const struct ek_state *s, const char *name)
{
    struct ek_checkpoint_part desired = {.records = 0};
    snprintf(desired.name, sizeof desired.name, "%s", name);
    return s->index.count
               ? bsearch(&desired, s->index.part, (size_t)s->index.count, sizeof desired, by_name)
               : NULL;
}

bool ek_state_has(const struct ek_state *s, const char *name)
{
    return find_part(s, name) != NULL;
}

struct ek_serialize ek_state_part(const struct ek_state *s, const char *name, struct ek_buf *joined)
{
    const struct ek_checkpoint_part *part = find_part(s, name);
    if (part)
        return bytes_of(s, part, joined);
    return (struct ek_serialize){.rc = EK_EFORMAT};
}

/* Read the index of a header. Return 0, EK_ESTATE if a record is missing, EK_EFORMAT or
 * EK_ENOMEM. */
static int find_base(struct ek_state *s, struct ek_state_head *head,
                     struct ek_checkpoint_index *index)
{
    struct ek_buf joined;
    snprintf(head->index.name, sizeof head->index.name, EK_PART_INDEX);
    for (int i = 0; i < s->count; i++)
        s->record[i].needed = false;
    sort(s);
    if (!has_part(s, &head->index))
        return EK_ESTATE;
    ek_buf_init(&joined, 0);
    struct ek_serialize bytes = bytes_of(s, &head->index, &joined);
    ek_checkpoint_index_serialize(index, &bytes);
    ek_serialize_require(&bytes, bytes.at == bytes.end);
    ek_buf_release(&joined);
    for (int i = 0; i < index->count && !bytes.rc; i++)
        if (!has_part(s, &index->part[i]))
            bytes.rc = EK_ESTATE;
    return bytes.rc;
}

/* Add a header. A complete checkpoint replaces the previous one. */
static int add_head(struct ek_state *s, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_state_head head = {.dimension = NULL};
    struct ek_checkpoint_index index = {0};
    int rc = ek_state_head_read(&head, bytes, length, e);
    s->other_version = rc == EK_ESTATE;
    s->damaged = rc == EK_EFORMAT;
    s->incomplete = false;
    if (rc)
        return rc == EK_ENOMEM ? rc : EK_OK;
    rc = find_base(s, &head, &index);
    if (rc) {
        ek_state_head_release(&head);
        ek_checkpoint_index_clear(&index);
        s->damaged = rc == EK_EFORMAT;
        s->incomplete = rc == EK_ESTATE;
        return rc == EK_ENOMEM ? out_of_memory(e) : EK_OK;
    }
    remove_checkpoint(s);
    s->head = head;
    s->index = index;
    s->has_base = true;
    drop_records(s, false);
    return EK_OK;
}

static int add_record(struct ek_state *s, const char *key, const struct ek_serialize *body,
                      struct ek_error *e)
{
    struct ek_state_record *record =
        ek_grow(s->record, (size_t)s->count, &s->capacity, sizeof *record);
    if (!record)
        return out_of_memory(e);
    s->record = record;
    size_t length = (size_t)(body->end - body->at);
    struct ek_state_record *r = &s->record[s->count];
    *r = (struct ek_state_record){.length = length, .hash = ek_hash(body->at, length, 0)};
    snprintf(r->key, sizeof r->key, "%s", key);
    r->bytes = ek_calloc(length, 1);
    if (!r->bytes)
        return out_of_memory(e);
    memcpy(r->bytes, body->at, length);
    s->count++;
    return EK_OK;
}

int ek_state_add(struct ek_state *s, const char *key, const void *bytes, size_t length,
                 struct ek_error *e)
{
    struct ek_record_frame frame;
    struct ek_serialize body;
    bool head = !strcmp(key, EK_STATE_HEAD);
    if (!bytes && head) {
        remove_checkpoint(s);
        drop_records(s, true);
        s->incomplete = s->other_version = s->damaged = false;
    }
    if (!bytes)
        return EK_OK;
    if (head)
        return add_head(s, bytes, length, e);
    if (strlen(key) >= EK_KEY_BYTES)
        return ek_fail(e, EK_EFORMAT, "'%.40s...' is no key of a state", key);
    int rc = ek_record_open(bytes, length, &frame, &body, e);
    if (rc == EK_ESTATE) /* another version: reported by the header that needs the record */
        return EK_OK;
    return rc ? rc : add_record(s, key, &body, e);
}

uint64_t ek_checkpoint_number(const struct ek_state *s)
{
    return s->has_base ? s->head.frame.base : 0;
}

uint64_t ek_state_list_count(const struct ek_state *s)
{
    return s->has_base ? s->head.queries : 0;
}

const void *ek_state_note(const struct ek_state *s, size_t *length)
{
    *length = s->has_base ? s->head.note.length : 0;
    return s->has_base ? s->head.note.data : NULL;
}
