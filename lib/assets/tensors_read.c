#include "assets/tensors_internal.h"

#include "base/alloc.h"
#include "yaml/json_parse.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

/* Where an array's bytes stand in the data part. */
struct range {
    uint64_t begin, end;
    struct ek_tensor *array;
};

struct parsing {
    const uint8_t *data; /* the data part */
    uint64_t size;
    struct ek_tensors *tensors;
    struct range *ranges;
    size_t range_count;
    struct ek_error *error;
};

static int read_unsigned(yyjson_val *value, uint64_t *out)
{
    if (!yyjson_is_int(value) || yyjson_get_sint(value) < 0)
        return EK_EFORMAT;
    *out = (uint64_t)yyjson_get_sint(value);
    return EK_OK;
}

static int read_shape(struct parsing *p, const char *name, yyjson_val *value, size_t *shape,
                      int *dims)
{
    size_t count = yyjson_arr_size(value);
    if (!yyjson_is_arr(value) || count > EK_TENSOR_DIMS_MAX)
        return ek_fail(p->error, EK_EFORMAT, "tensor '%s' has no shape of at most %d sizes", name,
                       EK_TENSOR_DIMS_MAX);
    for (size_t i = 0; i < count; i++) {
        uint64_t size;
        if (read_unsigned(yyjson_arr_get(value, i), &size))
            return ek_fail(p->error, EK_EFORMAT, "shape of tensor '%s' is not made of sizes", name);
        shape[i] = (size_t)size;
    }
    *dims = (int)count;
    return EK_OK;
}

static int read_range(struct parsing *p, const char *name, yyjson_val *value, struct range *out)
{
    if (yyjson_arr_size(value) != 2 || read_unsigned(yyjson_arr_get(value, 0), &out->begin) ||
        read_unsigned(yyjson_arr_get(value, 1), &out->end))
        return ek_fail(p->error, EK_EFORMAT, "'data_offsets' of tensor '%s' are not two offsets",
                       name);
    if (out->begin > out->end || out->end > p->size)
        return ek_fail(p->error, EK_EFORMAT,
                       "tensor '%s' lies outside of the file (bytes %llu to %llu of %llu)", name,
                       (unsigned long long)out->begin, (unsigned long long)out->end,
                       (unsigned long long)p->size);
    return EK_OK;
}

/* Bytes of an array of that shape; false on overflow. */
static bool shape_bytes(int dtype, int dims, const size_t *shape, uint64_t *bytes)
{
    uint64_t n = ek_dtype_row((enum ek_dtype)dtype)->size;
    for (int i = 0; i < dims; i++)
        if (__builtin_mul_overflow(n, shape[i], &n))
            return false;
    *bytes = n;
    return true;
}

static int read_array(struct parsing *p, const char *name, yyjson_val *entry)
{
    size_t shape[EK_TENSOR_DIMS_MAX];
    int dims = 0;
    uint64_t bytes;
    struct range range = {0};
    const char *type = yyjson_get_str(yyjson_obj_get(entry, "dtype"));
    int dtype = type ? ek_dtype_parse(type) : -1;
    if (!*name || strlen(name) >= sizeof range.array->name)
        return ek_fail(p->error, EK_EFORMAT, "tensor name '%.20s' is empty or too long", name);
    if (dtype < 0)
        return ek_fail(p->error, EK_EFORMAT, "type '%s' of tensor '%s' is not supported",
                       type ? type : "", name);
    if (read_shape(p, name, yyjson_obj_get(entry, "shape"), shape, &dims) ||
        read_range(p, name, yyjson_obj_get(entry, "data_offsets"), &range))
        return EK_EFORMAT;
    if (!shape_bytes(dtype, dims, shape, &bytes) || bytes != range.end - range.begin)
        return ek_fail(p->error, EK_EFORMAT, "shape and size of tensor '%s' do not agree", name);
    range.array = ek_tensors_add(p->tensors, name, (enum ek_dtype)dtype, dims, shape);
    if (!range.array)
        return ek_fail(p->error, EK_ENOMEM, "no room for tensor '%.100s'", name);
    if (bytes)
        memcpy(range.array->data, p->data + range.begin, (size_t)bytes);
    p->ranges[p->range_count++] = range;
    return EK_OK;
}

static int read_texts(struct parsing *p, yyjson_val *metadata)
{
    size_t i, max;
    yyjson_val *name, *value;
    yyjson_obj_foreach(metadata, i, max, name, value)
    {
        const char *key = yyjson_get_str(name);
        if (!yyjson_is_str(value))
            return ek_fail(p->error, EK_EFORMAT, "metadata '%s' is not a text", key);
        if (ek_tensors_set_text(p->tensors, key, yyjson_get_str(value)))
            return ek_fail(p->error, EK_ENOMEM, "no memory for metadata '%s'", key);
    }
    return EK_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The arrays must fill the data part, each starting where the one before ends. */
static int check_ranges(struct parsing *p)
{
    uint64_t at = 0;
    qsort(p->ranges, p->range_count, sizeof *p->ranges, by_begin);
    for (size_t i = 0; i < p->range_count; i++) {
        if (p->ranges[i].begin != at)
            return ek_fail(p->error, EK_EFORMAT, "tensor '%s' %s", p->ranges[i].array->name,
                           p->ranges[i].begin < at ? "overlaps another" : "leaves a gap before it");
        at = p->ranges[i].end;
    }
    if (at != p->size)
        return ek_fail(p->error, EK_EFORMAT, "%llu bytes after the last tensor",
                       (unsigned long long)(p->size - at));
    return EK_OK;
}

static int read_entries(struct parsing *p, yyjson_val *header)
{
    size_t i, max;
    yyjson_val *key, *entry;
    yyjson_obj_foreach(header, i, max, key, entry)
    {
        const char *name = yyjson_get_str(key);
        int code = strcmp(name, "__metadata__") ? read_array(p, name, entry) : read_texts(p, entry);
        if (code)
            return code;
    }
    return check_ranges(p);
}

static int parse_header(struct parsing *p, const char *text, size_t length)
{
    struct ek_json_fault why;
    yyjson_doc *doc;
    int code = ek_json_parse(&doc, text, length, false, &why);
    if (code == EK_ENOMEM)
        return ek_fail(p->error, code, "no memory for the header");
    if (code)
        return ek_fail(p->error, code, "header is not JSON: %s", why.text);
    yyjson_val *header = yyjson_doc_get_root(doc);
    size_t count = yyjson_obj_size(header);
    if (!yyjson_is_obj(header))
        code = ek_fail(p->error, EK_EFORMAT, "header is not a JSON object");
    else if (count > EK_TENSORS_MAX)
        code = ek_fail(p->error, EK_ELIMIT, "more than %d tensors", EK_TENSORS_MAX);
    else if (!(p->ranges = ek_calloc(count, sizeof *p->ranges)))
        code = ek_fail(p->error, EK_ENOMEM, "no memory for %zu tensors", count);
    if (!code)
        code = read_entries(p, header);
    yyjson_doc_free(doc);
    return code;
}

static int parse(struct parsing *p, const uint8_t *bytes, size_t length)
{
    uint64_t header;
    if (length < LENGTH_BYTES)
        return ek_fail(p->error, EK_EFORMAT, "too short for a safetensors file");
    memcpy(&header, bytes, LENGTH_BYTES);
    if (header > EK_TENSORS_HEADER_MAX || header > length - LENGTH_BYTES)
        return ek_fail(p->error, EK_EFORMAT, "not a safetensors file, or cut short");
    p->data = bytes + LENGTH_BYTES + header;
    p->size = length - LENGTH_BYTES - header;
    return parse_header(p, (const char *)bytes + LENGTH_BYTES, (size_t)header);
}

/* A length of eight bytes that is no text, then JSON. */
bool ek_tensors_begins(const void *bytes, size_t length)
{
    const uint8_t *b = bytes;
    return length >= EK_TENSORS_HEAD && b[8] == '{' && !b[7] && !b[6];
}

int ek_tensors_parse(struct ek_tensors **out, const char *name, const void *bytes, size_t length,
                     struct ek_error *e)
{
    struct parsing p = {.error = e};
    if (ek_tensors_new(&p.tensors))
        return ek_fail(e, EK_ENOMEM, "no memory for tensors");
    int code = parse(&p, bytes, length);
    ek_free(p.ranges);
    if (code) {
        ek_tensors_free(p.tensors);
        ek_error_place(e, name, 0, 0);
        return code;
    }
    *out = p.tensors;
    return EK_OK;
}
