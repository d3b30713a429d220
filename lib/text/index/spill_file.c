#include "text/index/spill_file.h"

#include "base/alloc.h"
#include "base/file_error.h"
#include "base/tmpfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 64 << 10 };

struct ek_spill_file {
    int fd;
    char *name;
    uint64_t length; /* including buffered bytes */
    size_t held;
    uint8_t buffer[BUFFER];
};

int ek_spill_file_open(struct ek_spill_file **out, const char *path, struct ek_error *e)
{
    struct ek_spill_file *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->fd = -1;
    s->name = ek_strdup(path);
    if (!s->name) {
        ek_spill_file_close(s);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    s->fd = ek_tmpfile_spool(s->name);
    if (s->fd < 0) {
        int rc = ek_file_fail(e, path, "cannot create a temporary file next to it");
        ek_spill_file_close(s);
        return rc;
    }
    *out = s;
    return EK_OK;
}

void ek_spill_file_close(struct ek_spill_file *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    ek_free(s->name);
    ek_free(s);
}

static int send(struct ek_spill_file *s, const void *bytes, size_t length, struct ek_error *e)
{
    if (!ek_file_write_all(s->fd, bytes, length))
        return EK_OK;
    return ek_file_fail(e, s->name, "cannot write the temporary file next to it");
}

static int flush(struct ek_spill_file *s, struct ek_error *e)
{
    int rc = send(s, s->buffer, s->held, e);
    s->held = 0;
    return rc;
}

int ek_spill_file_add(struct ek_spill_file *s, const void *bytes, size_t length, struct ek_error *e)
{
    int rc = EK_OK;
    if (length > BUFFER - s->held)
        rc = flush(s, e);
    if (rc)
        return rc;
    s->length += length;
    if (length > BUFFER)
        return send(s, bytes, length, e);
    memcpy(s->buffer + s->held, bytes, length);
    s->held += length;
    return EK_OK;
}

uint64_t ek_spill_file_length(const struct ek_spill_file *s)
{
    return s->length;
}

int ek_spill_file_read(struct ek_spill_file *s, uint64_t at, void *bytes, size_t length,
                       struct ek_error *e)
{
    int rc = s->held ? flush(s, e) : EK_OK;
    uint8_t *out = bytes;
    while (!rc && length) {
        ssize_t n = pread(s->fd, out, length, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : EIO;
            return ek_file_fail(e, s->name, "cannot read the temporary file next to it");
        }
        out += n;
        at += (uint64_t)n;
        length -= (size_t)n;
    }
    return rc;
}
