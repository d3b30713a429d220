#include "text/index/index_writer.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"

#include <stdbool.h>
#include <string.h>

static bool ends_in(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && !strcmp(text + n - m, ending);
}

static int send(struct ek_index_writer *o, const void *bytes, size_t length, struct ek_error *e)
{
    o->at += length;
    return ek_writer_write(o->writer, bytes, length, e);
}

static int pad(struct ek_index_writer *o, struct ek_error *e)
{
    static const char zeros[EK_INDEX_ALIGN];
    size_t more = (size_t)(-o->at % EK_INDEX_ALIGN);
    return more ? send(o, zeros, more, e) : EK_OK;
}

int ek_index_writer_open(struct ek_index_writer *o, const char *path, struct ek_error *e)
{
    *o = (struct ek_index_writer){0};
    if (!strcmp(path, "-"))
        return ek_fail(e, EK_EUSAGE, "an index is a file of its own, not standard output");
    if (ends_in(path, ".gz") || ends_in(path, ".zst"))
        return ek_fail_at(e, EK_EUSAGE, path, 0, 0, "an index is mapped and cannot be compressed");
    o->hold = ek_calloc(EK_INDEX_HASHED, 1);
    if (!o->hold)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_writer_open(&o->writer, path, e);
    if (!rc)
        rc = send(o, EK_INDEX_MAGIC, strlen(EK_INDEX_MAGIC), e);
    if (rc)
        ek_index_writer_release(o);
    return rc;
}

void ek_index_writer_release(struct ek_index_writer *o)
{
    ek_writer_abandon(o->writer);
    ek_free(o->hold);
    *o = (struct ek_index_writer){0};
}

int ek_index_writer_begin(struct ek_index_writer *o, enum ek_section section, struct ek_error *e)
{
    int rc = pad(o, e);
    o->section = section;
    o->held = 0;
    o->footer.section[section] = (struct ek_index_section){o->at, 0, 0};
    return rc;
}

static void hash_buffered(struct ek_index_writer *o)
{
    struct ek_index_section *s = o->footer.section + o->section;
    s->hash = ek_hash(o->hold, o->held, s->hash);
    o->held = 0;
}

int ek_index_writer_add(struct ek_index_writer *o, const void *bytes, size_t length,
                        struct ek_error *e)
{
    const uint8_t *from = bytes;
    o->footer.section[o->section].length += length;
    for (size_t left = length; left;) {
        size_t n = EK_INDEX_HASHED - o->held < left ? EK_INDEX_HASHED - o->held : left;
        memcpy(o->hold + o->held, from, n);
        o->held += n;
        from += n;
        left -= n;
        if (o->held == EK_INDEX_HASHED)
            hash_buffered(o);
    }
    return send(o, bytes, length, e);
}

uint64_t ek_index_writer_length(const struct ek_index_writer *o)
{
    return o->footer.section[o->section].length;
}

void ek_index_writer_end(struct ek_index_writer *o)
{
    if (o->held)
        hash_buffered(o);
}

int ek_index_writer_close(struct ek_index_writer *o, struct ek_error *e)
{
    struct ek_index_footer *f = &o->footer;
    memcpy(f->magic, EK_INDEX_MAGIC, sizeof f->magic);
    f->version = EK_INDEX_VERSION;
    f->byte_order = EK_INDEX_BYTE_ORDER;
    f->hash = ek_hash(f, offsetof(struct ek_index_footer, hash), 0);
    int rc = pad(o, e);
    if (!rc)
        rc = send(o, f, sizeof *f, e);
    if (rc)
        return rc;
    struct ek_writer *w = o->writer;
    o->writer = NULL;
    return ek_writer_close(w, e);
}
