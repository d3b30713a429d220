#include "assets/tensors.h"

#include "base/buf.h"
#include "base/file.h"

int ek_tensors_read(struct ek_tensors **out, const char *path, struct ek_error *e)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    int code = ek_file_read(path, &bytes, e);
    if (!code)
        code = ek_tensors_parse(out, path, bytes.data, bytes.length, e);
    ek_buf_release(&bytes);
    return code;
}

int ek_tensors_write(const struct ek_tensors *t, const char *path, struct ek_error *e)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    int code = ek_tensors_format(t, &bytes, e);
    if (!code)
        code = ek_file_write_bytes(path, bytes.data, bytes.length, e);
    ek_buf_release(&bytes);
    return code;
}
