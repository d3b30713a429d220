#include "detect/snapshot_frame.h"

#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 1, TAG_BYTES = 4, CRC_BYTES = 4 };

static const uint8_t magic[] = {'E', 'K', 'S', 'N', 'A', 'P', '\r', '\n'};
enum { BYTES_AT = sizeof magic + sizeof(uint32_t) };

bool ek_snapshot_begins(const void *bytes, size_t length)
{
    return length >= sizeof magic && !memcmp(bytes, magic, sizeof magic);
}

int ek_snapshot_open(const void *bytes, size_t length, struct ek_snap *s, struct ek_error *e)
{
    const uint8_t *at = bytes;
    uint64_t told;
    uint32_t version, crc;
    if (!ek_snapshot_begins(bytes, length))
        return ek_fail(e, EK_EFORMAT, "no snapshot: it does not begin with 'EKSNAP'");
    if (length < BYTES_AT + sizeof told + CRC_BYTES)
        return ek_fail(e, EK_EFORMAT, "snapshot is cut off after %zu bytes", length);
    memcpy(&version, at + sizeof magic, sizeof version);
    memcpy(&told, at + BYTES_AT, sizeof told);
    if (version != VERSION)
        return ek_fail(e, EK_ESTATE, "snapshot has version %" PRIu32 ", this program reads %d",
                       version, VERSION);
    if (told != length)
        return ek_fail(e, EK_EFORMAT, "snapshot has %zu of %" PRIu64 " bytes", length, told);
    memcpy(&crc, at + length - CRC_BYTES, CRC_BYTES);
    if (crc != ek_crc32(bytes, length - CRC_BYTES))
        return ek_fail(e, EK_EFORMAT, "snapshot is damaged: the checksum does not fit");
    *s = (struct ek_snap){.at = at + BYTES_AT, .end = at + length - CRC_BYTES};
    return EK_OK;
}

void ek_snapshot_head_snap(struct ek_snapshot_head *h, struct ek_snap *s)
{
    ek_snap_u64(s, &h->bytes);
    ek_snap_u64(s, &h->manifest);
    ek_detector_kind_snap(&h->kind, s);
}

void ek_snapshot_begin(struct ek_snapshot_head *h, struct ek_snap *s)
{
    uint32_t version = VERSION;
    ek_snap_raw(s, (uint8_t *)magic, sizeof magic);
    ek_snap_u32(s, &version);
    ek_snapshot_head_snap(h, s);
}

void ek_snapshot_seal(struct ek_snap *s, size_t start)
{
    struct ek_buf *out = s->out;
    uint64_t bytes = out->length - start + CRC_BYTES;
    if (s->rc)
        return;
    memcpy(out->data + start + BYTES_AT, &bytes, sizeof bytes);
    uint32_t crc = ek_crc32(out->data + start, out->length - start);
    ek_snap_u32(s, &crc);
}

size_t ek_snapshot_section(struct ek_snap *s, const char *tag)
{
    uint64_t length = 0;
    ek_snap_raw(s, (char *)tag, TAG_BYTES);
    ek_snap_u64(s, &length);
    return s->out->length;
}

void ek_snapshot_section_end(struct ek_snap *s, size_t start)
{
    uint64_t length = s->out->length - start;
    if (!s->rc)
        memcpy(s->out->data + start - sizeof length, &length, sizeof length);
}

struct ek_snap ek_snapshot_take(struct ek_snap *all, const char *tag)
{
    char found[TAG_BYTES];
    uint64_t length;
    ek_snap_raw(all, found, sizeof found);
    ek_snap_u64(all, &length);
    ek_snap_require(all,
                    !memcmp(found, tag, sizeof found) && length <= (uint64_t)(all->end - all->at));
    struct ek_snap s = {.at = all->at, .end = all->rc ? all->at : all->at + length, .rc = all->rc};
    all->at = s.end;
    return s;
}

int ek_snapshot_damaged(int rc, const char *part, struct ek_error *e)
{
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return ek_fail(e, EK_EFORMAT, "snapshot is damaged: %s", part);
}
