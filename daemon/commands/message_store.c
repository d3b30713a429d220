#include "daemon/commands/message_store.h"

#include "base/alloc.h"
#include "base/tmpfile.h"

#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

struct ek_message_store {
    FILE *file;
    long bytes;
    struct ek_buf message;
};

/* Head of a stored message. */
struct head {
    int64_t time_ms;
    uint64_t length;
};

static int fault(struct ek_error *e)
{
    return ek_fail(e, EK_EIO, "cannot keep messages in a temporary file; set TMPDIR");
}

int ek_message_store_new(struct ek_message_store **out, const char *folder, struct ek_error *e)
{
    char path[PATH_BYTES];
    struct ek_message_store *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_init(&s->message, 0);
    snprintf(path, sizeof path, "%s/messages", folder);
    int fd = ek_tmpfile_spool(path);
    s->file = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (!s->file && fd >= 0)
        close(fd);
    if (!s->file) {
        ek_message_store_free(s);
        return fault(e);
    }
    *out = s;
    return EK_OK;
}

void ek_message_store_free(struct ek_message_store *s)
{
    if (!s)
        return;
    if (s->file)
        fclose(s->file);
    ek_buf_release(&s->message);
    ek_free(s);
}

int ek_message_store_add(struct ek_message_store *s, const void *bytes, size_t length,
                         int64_t time_ms, struct ek_error *e)
{
    const struct head head = {time_ms, length};
    if (fseek(s->file, s->bytes, SEEK_SET) || fwrite(&head, sizeof head, 1, s->file) != 1 ||
        (length && fwrite(bytes, length, 1, s->file) != 1))
        return fault(e);
    s->bytes += (long)(sizeof head + length);
    return EK_OK;
}

long ek_message_store_bytes(const struct ek_message_store *s)
{
    return s->bytes;
}

void ek_message_store_truncate(struct ek_message_store *s, long bytes)
{
    s->bytes = bytes;
}

int ek_message_store_remove_after(struct ek_message_store *s, long position, uint64_t count,
                                  struct ek_error *e)
{
    struct head head;
    long at = position;
    for (uint64_t i = 0; i < count && at < s->bytes; i++) {
        if (fseek(s->file, at, SEEK_SET) || fread(&head, sizeof head, 1, s->file) != 1)
            return fault(e);
        at += (long)(sizeof head + head.length);
    }
    s->bytes = at;
    return EK_OK;
}

int ek_message_store_each(struct ek_message_store *s, ek_stored_fn *process, void *context,
                          struct ek_error *e)
{
    struct head head;
    int rc = fseek(s->file, 0, SEEK_SET) ? fault(e) : EK_OK;
    for (long at = 0; !rc && at < s->bytes; at += (long)(sizeof head + head.length)) {
        if (fread(&head, sizeof head, 1, s->file) != 1)
            return fault(e);
        ek_buf_clear(&s->message);
        if (ek_buf_reserve(&s->message, head.length))
            return ek_fail(e, EK_ENOMEM, "out of memory");
        if (head.length && fread(s->message.data, head.length, 1, s->file) != 1)
            return fault(e);
        s->message.length = head.length;
        rc = process(context, &s->message, head.time_ms, e);
    }
    return rc;
}
