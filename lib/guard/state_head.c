#include "guard/state_head.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "num/windows.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 1 };

static const uint8_t magic[] = {'E', 'K', 'S', 'T', 'A', 'T', '\r', '\n'};

void ek_record_begin(const struct ek_record_frame *frame, struct ek_snap *s)
{
    struct ek_record_frame f = *frame;
    uint32_t version = VERSION;
    ek_snap_raw(s, (uint8_t *)magic, sizeof magic);
    ek_snap_u32(s, &version);
    ek_snap_u64(s, &f.manifest);
    ek_snap_u64(s, &f.base);
}

int ek_record_open(const void *bytes, size_t length, struct ek_record_frame *frame,
                   struct ek_snap *s, struct ek_error *e)
{
    uint8_t found[sizeof magic];
    uint32_t version;
    *s = (struct ek_snap){.at = bytes, .end = (const uint8_t *)bytes + length};
    ek_snap_raw(s, found, sizeof found);
    ek_snap_require(s, !memcmp(found, magic, sizeof magic));
    if (s->rc)
        return ek_fail(e, EK_EFORMAT, "no record of a state: it does not begin with 'EKSTAT'");
    ek_snap_u32(s, &version);
    if (!s->rc && version != VERSION)
        return ek_fail(e, EK_ESTATE,
                       "record of a state has version %" PRIu32 ", this program reads %d", version,
                       VERSION);
    ek_snap_u64(s, &frame->manifest);
    ek_snap_u64(s, &frame->base);
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

static void kind_snap(struct ek_detector_kind *k, struct ek_snap *s)
{
    ek_detector_kind_snap(k, s);
    ek_snap_require(s, k->cells <= INT16_MAX && /* what numbers of cells are kept as */
                           k->dimensions <= EK_DIMENSIONS_MAX);
}

static void dimensions_snap(struct ek_state_head *h, struct ek_snap *s)
{
    if (ek_snap_reads(s) && !s->rc) {
        h->dimension = ek_calloc((size_t)h->kind.dimensions, sizeof *h->dimension);
        s->rc = h->dimension ? EK_OK : EK_ENOMEM;
    }
    for (int i = 0; i < h->kind.dimensions && !s->rc; i++)
        ek_snap_text(s, &h->dimension[i]);
}

static void times_snap(struct ek_state_head *h, struct ek_snap *s)
{
    ek_snap_i64(s, &h->windows.length_ms);
    ek_snap_int(s, &h->windows.kept, 1, EK_WINDOWS_KEPT_MAX);
    ek_snap_int(s, &h->windows.cells, 0, INT32_MAX);
    ek_snap_require(s, h->windows.length_ms > 0);
    ek_snap_i64(s, &h->stream_clock.now_ms);
    ek_snap_int(s, &h->stream_clock.seen, 0, EK_STREAM_CLOCK_LISTS);
    ek_snap_int(s, &h->stream_clock.started, 0, 1);
    if (ek_snap_reads(s))
        ek_stream_clock_restored(&h->stream_clock);
    ek_snap_i64(s, &h->time_ms);
    ek_snap_i64(s, &h->clock_ms);
    ek_snap_require(s, h->stream_clock.now_ms >= 0 && h->time_ms >= 0 && h->clock_ms >= 0);
    ek_snap_u64(s, &h->queries);
    ek_snap_u64(s, &h->plan_version);
}

static void note_snap(struct ek_state_head *h, struct ek_snap *s)
{
    int length = (int)h->note.length;
    ek_snap_int(s, &length, 0, EK_NOTE_MAX);
    if (ek_snap_reads(s) && !s->rc)
        s->rc = ek_buf_reserve(&h->note, (size_t)length);
    if (!s->rc && length)
        ek_snap_raw(s, h->note.data, (size_t)length);
    h->note.length = s->rc ? 0 : (size_t)length;
}

static void index_snap(struct ek_state_head *h, struct ek_snap *s)
{
    struct ek_ledger_part *index = &h->index;
    int records = index->records;
    ek_snap_int(s, &records, 1, EK_PART_RECORDS_MAX);
    if (ek_snap_reads(s) && !s->rc)
        s->rc = ek_ledger_part_room(index, records);
    if (!s->rc)
        ek_snap_raw(s, index->hash, (size_t)records * sizeof *index->hash);
}

static void head_snap(struct ek_state_head *h, struct ek_snap *s)
{
    kind_snap(&h->kind, s);
    dimensions_snap(h, s);
    times_snap(h, s);
    note_snap(h, s);
    index_snap(h, s);
}

int ek_state_head_write(struct ek_state_head *h, struct ek_buf *out)
{
    struct ek_snap s = {.out = out};
    size_t start = out->length;
    ek_record_begin(&h->frame, &s);
    head_snap(h, &s);
    uint64_t hash = s.rc ? 0 : ek_hash(out->data + start, out->length - start, 0);
    ek_snap_u64(&s, &hash);
    return s.rc;
}

/* Its last 8 bytes are the hash of those before. */
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
    struct ek_snap s;
    int rc = ek_record_open(bytes, length, &h->frame, &s, e);
    if (rc)
        return rc;
    if (!is_whole(bytes, length))
        return ek_fail(e, EK_EFORMAT, "head of a state is damaged: its hash does not fit");
    s.end -= sizeof(uint64_t);
    ek_buf_init(&h->note, EK_NOTE_MAX);
    head_snap(h, &s);
    ek_snap_require(&s, s.at == s.end);
    if (!s.rc)
        return EK_OK;
    ek_state_head_release(h);
    return s.rc == EK_ENOMEM ? ek_fail(e, EK_ENOMEM, "out of memory")
                             : ek_fail(e, EK_EFORMAT, "head of a state is damaged");
}
