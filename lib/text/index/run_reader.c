#include "text/index/run_reader.h"

#include "base/alloc.h"
#include "text/index/postings_writer.h"
#include "text/index/run_writer.h"
#include "text/index/spill_file.h"

static int fill(struct ek_run_reader *r, struct ek_error *e)
{
    uint64_t left = r->end - r->at;
    size_t n = left < r->room ? (size_t)left : r->room;
    int rc = ek_spill_file_read(r->spool, r->at, r->buffer, n, e);
    r->at += n;
    r->next = 0;
    r->held = n;
    return rc;
}

static int get_byte(struct ek_run_reader *r, uint8_t *byte, struct ek_error *e)
{
    if (r->next == r->held) {
        int rc = r->at < r->end ? fill(r, e) : ek_fail(e, EK_EIO, "a temporary file is cut short");
        if (rc)
            return rc;
    }
    *byte = r->buffer[r->next++];
    r->left--;
    return EK_OK;
}

static int get(struct ek_run_reader *r, uint64_t *value, struct ek_error *e)
{
    uint8_t byte = 0x80;
    *value = 0;
    for (unsigned shift = 0; byte & 0x80 && shift < 64; shift += 7) {
        int rc = get_byte(r, &byte, e);
        if (rc)
            return rc;
        *value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return EK_OK;
}

static int next_term(struct ek_run_reader *r, struct ek_error *e)
{
    uint64_t gap = 0, left = 0;
    r->more = r->next < r->held || r->at < r->end;
    if (!r->more)
        return EK_OK;
    int rc = get(r, &gap, e);
    if (!rc)
        rc = get(r, &left, e);
    r->term += (uint32_t)gap + 1;
    r->left = left;
    return rc;
}

int ek_run_reader_begin(struct ek_run_reader *r, struct ek_spill_file *spool, uint64_t at,
                        uint64_t end, size_t room, struct ek_error *e)
{
    *r = (struct ek_run_reader){
        .spool = spool, .at = at, .end = end, .room = room, .term = UINT32_MAX};
    r->buffer = ek_realloc(NULL, room, 1);
    return r->buffer ? next_term(r, e) : ek_fail(e, EK_ENOMEM, "out of memory");
}

void ek_run_reader_release(struct ek_run_reader *r)
{
    ek_free(r->buffer);
    r->buffer = NULL;
}

int ek_run_reader_copy_postings(struct ek_run_reader *r, struct ek_postings_writer *out,
                                struct ek_error *e)
{
    uint32_t document = UINT32_MAX, position = UINT32_MAX;
    uint8_t field = EK_FIELD_BODY;
    int rc = EK_OK;
    while (r->left && !rc) {
        uint64_t gap, skip = 0;
        rc = get(r, &gap, e);
        if (!rc && gap & EK_PLACE_DOCUMENT) {
            rc = get(r, &skip, e);
            document += (uint32_t)skip + 1;
            position = UINT32_MAX;
            if (!rc && ek_postings_writer_document(out, document))
                rc = ek_fail(e, EK_ENOMEM, "out of memory");
        }
        if (!rc && gap & EK_PLACE_FIELD)
            rc = get_byte(r, &field, e);
        position += (uint32_t)(gap >> EK_PLACE_BITS) + 1;
        if (!rc && ek_postings_writer_position(out, (enum ek_field)field, position))
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return rc ? rc : next_term(r, e);
}
