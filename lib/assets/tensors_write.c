#include "assets/tensors_internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, ALIGNMENT = 8 };

static size_t bytes_of(const struct ek_tensor *a)
{
    return a->count * ek_dtype_row(a->dtype)->size;
}

/* Wide types first, so that every array is aligned to its type; then by name. */
static int canonical(const void *a, const void *b)
{
    const struct ek_tensor *x = *(const struct ek_tensor *const *)a;
    const struct ek_tensor *y = *(const struct ek_tensor *const *)b;
    size_t wide = ek_dtype_row(x->dtype)->size, other = ek_dtype_row(y->dtype)->size;
    if (wide != other)
        return wide > other ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int add_texts(const struct ek_tensors *t, struct ek_buf *out)
{
    int code = ek_buf_text(out, "\"__metadata__\":{");
    for (size_t i = 0; i < t->text_count && !code; i++) {
        const struct ek_tensors_text *row = &t->texts[i];
        if ((i && (code = ek_buf_text(out, ","))) ||
            (code = ek_buf_json(out, row->key, strlen(row->key))) ||
            (code = ek_buf_text(out, ":")) ||
            (code = ek_buf_json(out, row->text, strlen(row->text))))
            break;
    }
    return code ? code : ek_buf_text(out, "}");
}

static int add_entry(const struct ek_tensor *a, uint64_t begin, struct ek_buf *out)
{
    int code = ek_buf_json(out, a->name, strlen(a->name));
    if (!code)
        code = ek_buf_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", ek_dtype_row(a->dtype)->name);
    for (int i = 0; i < a->dims && !code; i++)
        code = ek_buf_printf(out, "%s%zu", i ? "," : "", a->shape[i]);
    if (code)
        return code;
    return ek_buf_printf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
                         (unsigned long long)(begin + bytes_of(a)));
}

static int add_header(const struct ek_tensors *t, struct ek_tensor *const *sorted,
                      struct ek_buf *out)
{
    uint64_t at = 0;
    bool first = !t->text_count;
    int code = ek_buf_text(out, "{");
    if (!code && t->text_count)
        code = add_texts(t, out);
    for (size_t i = 0; i < t->count && !code; i++) {
        if (!first)
            code = ek_buf_text(out, ",");
        if (!code)
            code = add_entry(sorted[i], at, out);
        at += bytes_of(sorted[i]);
        first = false;
    }
    if (!code)
        code = ek_buf_text(out, "}");
    while (!code && out->length % ALIGNMENT)
        code = ek_buf_text(out, " ");
    return code;
}

static int add_all(const struct ek_tensors *t, struct ek_tensor **sorted, struct ek_buf *header,
                   struct ek_buf *out)
{
    for (size_t i = 0; i < t->count; i++)
        sorted[i] = t->arrays[i];
    qsort(sorted, t->count, sizeof *sorted, canonical);
    int code = add_header(t, sorted, header);
    uint64_t length = header->length;
    if (code || (code = ek_buf_add(out, &length, LENGTH_BYTES)) ||
        (code = ek_buf_add(out, header->data, header->length)))
        return code;
    for (size_t i = 0; i < t->count && !code; i++)
        code = ek_buf_add(out, sorted[i]->data, bytes_of(sorted[i]));
    return code;
}

int ek_tensors_format(const struct ek_tensors *t, struct ek_buf *out, struct ek_error *e)
{
    struct ek_buf header;
    size_t before = out->length;
    struct ek_tensor **sorted = ek_calloc(t->count, sizeof *sorted);
    ek_buf_init(&header, EK_TENSORS_HEADER_MAX);
    int code = sorted ? add_all(t, sorted, &header, out) : EK_ENOMEM;
    ek_buf_release(&header);
    ek_free(sorted);
    if (code) {
        ek_buf_truncate(out, before);
        return ek_fail(e, code, "no room for %zu tensors", t->count);
    }
    return EK_OK;
}
