#include "daemon/commands/inspect.h"

#include "lists/capture.h"
#include "lists/codec_shape.h"

enum { MESSAGES = 10000 };

static int add(struct ek_shape *shape, const struct ek_record *record, const char *path, int number,
               struct ek_error *e)
{
    int rc = ek_shape_add(shape, record->bytes, record->length, e);
    return rc ? ek_error_place(e, path, number, 0) : EK_OK;
}

int ek_inspect_shape(const char *path, const struct ek_dialect *dialect, FILE *to,
                     struct ek_error *e)
{
    struct ek_capture_reader *in = NULL;
    struct ek_shape *shape = NULL;
    struct ek_record record;
    struct ek_buf out;
    int more = 1, rc = ek_shape_new(&shape, &dialect->mapping, e);
    ek_buf_init(&out, 0);
    if (!rc)
        rc = ek_capture_open(&in, path, 0, e);
    for (int i = 0; i < MESSAGES && more && !rc; i++) {
        rc = ek_capture_next(in, &record, &more, e);
        if (!rc && more)
            rc = add(shape, &record, path, i + 1, e);
    }
    if (!rc)
        rc = ek_shape_manifest(shape, &out, e);
    if (rc)
        ek_dialect_hint(dialect, e);
    else
        fwrite(out.data, 1, out.length, to);
    ek_capture_close(in);
    ek_shape_free(shape);
    ek_buf_release(&out);
    return rc;
}
