#include "assets/tensors.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "yaml/json_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ek_tensors_text {
    char *key, *text;
};

struct ek_tensors {
    struct ek_tensor **arrays;
    size_t count, capacity;
    struct ek_tensors_text *texts;
    size_t text_count;
};

struct ek_dtype_row {
    const char *name;
    size_t size; /* bytes */
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are kept as the file has them");

static const struct ek_dtype_row DTYPES[] = {
    {"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"U8", 1}, {"U16", 2}, {"U32", 4}, {"U64", 8},
};
enum { DTYPE_COUNT = sizeof DTYPES / sizeof *DTYPES };

/* Return the name and size of a type, a static row. */
static const struct ek_dtype_row *dtype_row(enum ek_dtype d)
{
    return &DTYPES[d];
}

static int dtype_parse(const char *name)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (!strcmp(DTYPES[i].name, name))
            return i;
    return -1;
}

int ek_tensors_new(struct ek_tensors **out)
{
    struct ek_tensors *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    *out = t;
    return EK_OK;
}

void ek_tensors_free(struct ek_tensors *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        ek_free(t->arrays[i]->data);
        ek_free(t->arrays[i]);
    }
    for (size_t i = 0; i < t->text_count; i++) {
        ek_free(t->texts[i].key);
        ek_free(t->texts[i].text);
    }
    ek_free(t->arrays);
    ek_free(t->texts);
    ek_free(t);
}

/* Set *count to the product of the shape. Return false if it or its bytes overflow. */
static bool count_of(int dims, const size_t *shape, size_t size, size_t *count)
{
    size_t n = 1, bytes;
    for (int i = 0; i < dims; i++)
        if (__builtin_mul_overflow(n, shape[i], &n))
            return false;
    *count = n;
    return !__builtin_mul_overflow(n, size, &bytes);
}

static int grow(struct ek_tensors *t)
{
    struct ek_tensor **larger = ek_grow(t->arrays, t->count, &t->capacity, sizeof *larger);
    if (!larger)
        return EK_ENOMEM;
    t->arrays = larger;
    return EK_OK;
}

struct ek_tensor *ek_tensors_add(struct ek_tensors *t, const char *name, enum ek_dtype dtype,
                                 int dims, const size_t *shape)
{
    size_t count;
    if (dims < 0 || dims > EK_TENSOR_DIMS_MAX || t->count >= EK_TENSORS_MAX || !*name ||
        strlen(name) >= sizeof t->arrays[0]->name || ek_tensors_find(t, name) ||
        !count_of(dims, shape, DTYPES[dtype].size, &count) || grow(t))
        return NULL;
    struct ek_tensor *a = ek_calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->data = ek_calloc_aligned(count, DTYPES[dtype].size);
    if (!a->data) {
        ek_free(a);
        return NULL;
    }
    snprintf(a->name, sizeof a->name, "%s", name);
    a->dtype = dtype;
    a->dims = dims;
    for (int i = 0; i < dims; i++)
        a->shape[i] = shape[i];
    a->count = count;
    t->arrays[t->count++] = a;
    return a;
}

static struct ek_tensors_text *text_at(const struct ek_tensors *t, const char *key)
{
    for (size_t i = 0; i < t->text_count; i++)
        if (!strcmp(t->texts[i].key, key))
            return &t->texts[i];
    return NULL;
}

static int add_text(struct ek_tensors *t, char *key, char *text)
{
    struct ek_tensors_text *larger = ek_realloc(t->texts, t->text_count + 1, sizeof *larger);
    if (!larger)
        return EK_ENOMEM;
    t->texts = larger;
    t->texts[t->text_count++] = (struct ek_tensors_text){key, text};
    return EK_OK;
}

int ek_tensors_set_text(struct ek_tensors *t, const char *key, const char *text)
{
    char *copy = ek_strdup(text);
    if (!copy)
        return EK_ENOMEM;
    struct ek_tensors_text *old = text_at(t, key);
    if (old) {
        ek_free(old->text);
        old->text = copy;
        return EK_OK;
    }
    char *name = ek_strdup(key);
    if (!name || add_text(t, name, copy)) {
        ek_free(name);
        ek_free(copy);
        return EK_ENOMEM;
    }
    return EK_OK;
}

const char *ek_tensors_text(const struct ek_tensors *t, const char *key)
{
    const struct ek_tensors_text *found = text_at(t, key);
    return found ? found->text : NULL;
}

size_t ek_tensors_count(const struct ek_tensors *t)
{
    return t->count;
}

const struct ek_tensor *ek_tensors_at(const struct ek_tensors *t, size_t i)
{
    return t->arrays[i];
}

const struct ek_tensor *ek_tensors_find(const struct ek_tensors *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->arrays[i]->name, name))
            return t->arrays[i];
    return NULL;
}

/* Format a type and shape: "F32 [4, 10]". */
static const char *describe(char *text, size_t size, enum ek_dtype dtype, int dims,
                            const size_t *shape)
{
    size_t at = (size_t)snprintf(text, size, "%s [", DTYPES[dtype].name);
    for (int i = 0; i < dims && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%zu", i ? ", " : "", shape[i]);
    if (at < size)
        snprintf(text + at, size - at, "]");
    return text;
}

int ek_tensors_expect(const struct ek_tensors *t, const char *name, enum ek_dtype dtype, int dims,
                      const size_t *shape, const struct ek_tensor **out, struct ek_error *e)
{
    char want[128], is[128];
    const struct ek_tensor *a = ek_tensors_find(t, name);
    describe(want, sizeof want, dtype, dims, shape);
    if (!a)
        return ek_fail(e, EK_EFORMAT, "no tensor '%s', expected %s", name, want);
    if (a->dtype != dtype || a->dims != dims ||
        memcmp(a->shape, shape, (size_t)dims * sizeof *shape) != 0)
        return ek_fail(e, EK_EFORMAT, "tensor '%s' is %s, expected %s", name,
                       describe(is, sizeof is, a->dtype, a->dims, a->shape), want);
    *out = a;
    return EK_OK;
}

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

enum { LENGTH_BYTES = 8 };

struct range {
    uint64_t begin, end;
    struct ek_tensor *array;
};

struct parsing {
    const uint8_t *data;
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

/* Set *bytes to the size of an array. Return false on overflow. */
static bool shape_bytes(int dtype, int dims, const size_t *shape, uint64_t *bytes)
{
    uint64_t n = dtype_row((enum ek_dtype)dtype)->size;
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
    int dtype = type ? dtype_parse(type) : -1;
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
        return ek_fail(p->error, EK_ENOMEM, "out of memory");
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
            return ek_fail(p->error, EK_ENOMEM, "out of memory");
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

/* The arrays must cover the data part without gap or overlap. */
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
    struct ek_json_error why;
    yyjson_doc *doc;
    int code = ek_json_parse(&doc, text, length, false, &why);
    if (code == EK_ENOMEM)
        return ek_fail(p->error, code, "out of memory");
    if (code)
        return ek_fail(p->error, code, "header is not JSON: %s", why.text);
    yyjson_val *header = yyjson_doc_get_root(doc);
    size_t count = yyjson_obj_size(header);
    if (!yyjson_is_obj(header))
        code = ek_fail(p->error, EK_EFORMAT, "header is not a JSON object");
    else if (count > EK_TENSORS_MAX)
        code = ek_fail(p->error, EK_ELIMIT, "more than %d tensors", EK_TENSORS_MAX);
    else if (!(p->ranges = ek_calloc(count, sizeof *p->ranges)))
        code = ek_fail(p->error, EK_ENOMEM, "out of memory");
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

/* The header length is at most 64 MiB, so its upper bytes are 0; JSON follows. */
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
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

enum { ALIGNMENT = 8 };

static size_t bytes_of(const struct ek_tensor *a)
{
    return a->count * dtype_row(a->dtype)->size;
}

/* Order by descending type size, which aligns every array, then by name. */
static int canonical(const void *a, const void *b)
{
    const struct ek_tensor *x = *(const struct ek_tensor *const *)a;
    const struct ek_tensor *y = *(const struct ek_tensor *const *)b;
    size_t wide = dtype_row(x->dtype)->size, other = dtype_row(y->dtype)->size;
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
        code = ek_buf_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", dtype_row(a->dtype)->name);
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
        return ek_fail(e, code, "out of memory");
    }
    return EK_OK;
}
