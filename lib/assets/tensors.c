#include "assets/tensors_internal.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are kept as the file has them");

static const struct ek_dtype_row DTYPES[] = {
    {"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"U8", 1}, {"U16", 2}, {"U32", 4}, {"U64", 8},
};
enum { DTYPE_COUNT = sizeof DTYPES / sizeof *DTYPES };

const struct ek_dtype_row *ek_dtype_row(enum ek_dtype d)
{
    return &DTYPES[d];
}

int ek_dtype_parse(const char *name)
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

/* Product of the sizes; false when it or its bytes overflow. */
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
    if (t->count < t->capacity)
        return EK_OK;
    size_t want = 2 * t->capacity + 16;
    struct ek_tensor **larger = ek_realloc(t->arrays, want, sizeof *larger);
    if (!larger)
        return EK_ENOMEM;
    t->arrays = larger;
    t->capacity = want;
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

/* "F32 [4, 10]" */
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
