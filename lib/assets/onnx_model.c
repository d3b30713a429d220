#include "assets/onnx_model.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "yaml/json_parse.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------- runtime */

/* Positions in the table of functions of ONNX Runtime's C API. They never change. */
enum {
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION_FROM_ARRAY = 8,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_INTRA_OP_THREADS = 24,
    SET_INTER_OP_THREADS = 25,
    SESSION_INPUTS = 30,
    SESSION_OUTPUTS = 31,
    SESSION_INPUT_TYPE = 33,
    SESSION_OUTPUT_TYPE = 34,
    SESSION_INPUT_NAME = 36,
    SESSION_OUTPUT_NAME = 37,
    CREATE_TENSOR = 49,
    TENSOR_DATA = 51,
    CAST_TYPE_TO_TENSOR = 55,
    ELEMENT_TYPE = 60,
    DIMENSIONS_COUNT = 61,
    DIMENSIONS = 62,
    ELEMENT_COUNT = 64,
    TENSOR_SHAPE = 65,
    CREATE_CPU_MEMORY = 69,
    ALLOCATOR_FREE = 76,
    DEFAULT_ALLOCATOR = 78,
    RELEASE_STATUS = 93,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_TYPE = 98,
    RELEASE_SHAPE = 99,
    RELEASE_OPTIONS = 100,
    SESSION_METADATA = 111,
    METADATA_LOOKUP = 116,
    RELEASE_METADATA = 118,
    API_VERSION = 8, /* with all of these; later runtimes have it */
    LOG_FATAL = 4,   /* errors come as a status */
    ARENA_ALLOCATOR = 1
};
enum { TYPE_FLOAT = 1, TYPE_DOUBLE = 11 };

typedef void any_fn(void);
typedef void *status; /* NULL: success */

struct api {
    any_fn *fn[RELEASE_METADATA + 1];
};

struct api_base {
    const struct api *(*get)(uint32_t version);
    const char *(*version)(void);
};

struct runtime {
    const struct api *api;
    const char *version;
    void *env, *memory, *allocator;
};

static _Atomic(struct runtime *) loaded;

/* Call a function of the API by its position. */
#define CALL(r, position, arguments, ...) ((status(*) arguments)(r)->api->fn[position])(__VA_ARGS__)

static void release(const struct runtime *r, int position, void *object)
{
    if (object)
        ((void (*)(void *))r->api->fn[position])(object);
}

/* Fail with the message of a status, and release it. Return 0 for NULL. */
static int check(const struct runtime *r, status s, enum ek_code code, struct ek_error *e)
{
    if (!s)
        return EK_OK;
    const char *text = ((const char *(*)(const void *))r->api->fn[GET_ERROR_MESSAGE])(s);
    ek_fail(e, code, "ONNX Runtime %s: %.400s", r->version, text);
    release(r, RELEASE_STATUS, s);
    return code;
}

static void *open_library(struct ek_error *e)
{
    void *library = dlopen("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        ek_fail(e, EK_ESTATE,
                "an ONNX model needs ONNX Runtime; install libonnxruntime.so.1, or name "
                "its folder in LD_LIBRARY_PATH (%.200s)",
                dlerror());
    return library;
}

static int start(struct runtime *r, struct ek_error *e)
{
    void *library = open_library(e);
    if (!library)
        return EK_ESTATE;
    const struct api_base *(*get_base)(void);
    void *symbol = dlsym(library, "OrtGetApiBase");
    memcpy(&get_base, &symbol, sizeof get_base);
    const struct api_base *base = symbol ? get_base() : NULL;
    r->api = base ? base->get(API_VERSION) : NULL;
    if (!r->api)
        return ek_fail(e, EK_ESTATE, "the ONNX Runtime library is no version from 1.8 on");
    r->version = base->version();
    int rc = check(r, CALL(r, CREATE_ENV, (int, const char *, void **), LOG_FATAL, "", &r->env),
                   EK_ESTATE, e);
    if (!rc)
        rc = check(r,
                   CALL(r, CREATE_CPU_MEMORY, (int, int, void **), ARENA_ALLOCATOR, 0, &r->memory),
                   EK_ESTATE, e);
    return rc ? rc : check(r, CALL(r, DEFAULT_ALLOCATOR, (void **), &r->allocator), EK_ESTATE, e);
}

/* Set *out to the runtime, which is never unloaded. Two threads may load it at once; one copy of
 * the small state is lost then. */
static int find_runtime(const struct runtime **out, struct ek_error *e)
{
    struct runtime *r = atomic_load(&loaded);
    if (!r) {
        r = ek_calloc(1, sizeof *r);
        int rc = r ? start(r, e) : ek_fail(e, EK_ENOMEM, "out of memory");
        if (rc) {
            ek_free(r);
            return rc;
        }
        struct runtime *none = NULL;
        if (!atomic_compare_exchange_strong(&loaded, &none, r)) {
            ek_free(r);
            r = none;
        }
    }
    *out = r;
    return EK_OK;
}

/* ----------------------------------------------------------------- session */

enum { RANK_MAX = 3 };

struct tensor {
    char *name;
    int type; /* 0: no tensor of float or double */
    size_t rank;
    int64_t size[RANK_MAX]; /* -1: any */
};

struct ek_onnx_session {
    const struct runtime *runtime;
    void *session;
    struct tensor *input; /* [inputs] */
    size_t inputs;
    struct tensor output;
    bool is_split;   /* one input for each column */
    bool is_by_item; /* one item at a time */
};

const char *ek_onnx_version(const struct ek_onnx_model *m)
{
    return m->session->runtime->version;
}

bool ek_onnx_begins(const void *bytes, size_t length)
{
    /* The field ir_version of one byte, and the next field: a text or message of number 2 to 20. A
     * file of tensors is JSON from byte 8 on. */
    const uint8_t *b = bytes;
    return length >= EK_ONNX_HEAD && b[0] == 0x08 && b[1] > 0 && b[1] < 0x80 && b[2] > 0x08 &&
           b[8] != '{';
}

static int read_shape(const struct runtime *r, const void *shape, struct tensor *t,
                      struct ek_error *e)
{
    int type = 0;
    int rc = check(r, CALL(r, ELEMENT_TYPE, (const void *, int *), shape, &type), EK_EFORMAT, e);
    if (!rc)
        rc = check(r, CALL(r, DIMENSIONS_COUNT, (const void *, size_t *), shape, &t->rank),
                   EK_EFORMAT, e);
    if (!rc && t->rank <= RANK_MAX)
        rc = check(r,
                   CALL(r, DIMENSIONS, (const void *, int64_t *, size_t), shape, t->size, t->rank),
                   EK_EFORMAT, e);
    t->type = (type == TYPE_FLOAT || type == TYPE_DOUBLE) && t->rank <= RANK_MAX ? type : 0;
    return rc;
}

/* Read the name, type and shape of an input or output. */
static int read_tensor(const struct ek_onnx_session *s, size_t number, bool is_input,
                       struct tensor *t, struct ek_error *e)
{
    const struct runtime *r = s->runtime;
    void *type = NULL;
    const void *shape = NULL;
    char *name = NULL;
    int rc = check(r,
                   CALL(r, is_input ? SESSION_INPUT_NAME : SESSION_OUTPUT_NAME,
                        (const void *, size_t, void *, char **), s->session, number, r->allocator,
                        &name),
                   EK_EFORMAT, e);
    if (rc)
        return rc;
    t->name = ek_strdup(name);
    check(r, CALL(r, ALLOCATOR_FREE, (void *, void *), r->allocator, name), EK_EFORMAT, e);
    if (!t->name)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    rc = check(r,
               CALL(r, is_input ? SESSION_INPUT_TYPE : SESSION_OUTPUT_TYPE,
                    (const void *, size_t, void **), s->session, number, &type),
               EK_EFORMAT, e);
    if (!rc)
        rc = check(r, CALL(r, CAST_TYPE_TO_TENSOR, (const void *, const void **), type, &shape),
                   EK_EFORMAT, e);
    if (!rc && shape)
        rc = read_shape(r, shape, t, e);
    release(r, RELEASE_TYPE, type);
    return rc;
}

/* Choose the last output with numbers. */
static int find_output(struct ek_onnx_session *s, struct ek_error *e)
{
    const struct runtime *r = s->runtime;
    size_t count = 0;
    int rc = check(r, CALL(r, SESSION_OUTPUTS, (const void *, size_t *), s->session, &count),
                   EK_EFORMAT, e);
    while (!rc && count-- && !s->output.type) {
        ek_free(s->output.name);
        s->output = (struct tensor){0};
        rc = read_tensor(s, count, false, &s->output, e);
    }
    if (!rc && !s->output.type)
        rc = ek_fail(e, EK_EFORMAT,
                     "no output of the model is a tensor of float or double; export it with scores "
                     "or probabilities (skl2onnx: 'zipmap': False)");
    return rc;
}

static int wrong_input(const struct tensor *t, const char *expected, struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "input '%.60s' of the model is not %s", t->name, expected);
}

/* Check the only input, and set the number of columns if its shape has it. */
static int check_whole(struct ek_onnx_model *m, struct ek_error *e)
{
    struct ek_onnx_session *s = m->session;
    const struct tensor *t = s->input;
    if (!t->type || t->rank < 2 || (t->rank == 3 && t->size[0] > 1))
        return wrong_input(t, "a tensor [items, features] of float or double", e);
    int64_t rows = t->size[t->rank - 2], columns = t->size[t->rank - 1];
    if (rows > 1)
        return wrong_input(t, "for any number of items; export it with a dynamic first axis", e);
    if (columns > EK_ONNX_INPUTS_MAX || !columns)
        return ek_fail(e, EK_ELIMIT, "%lld columns, the maximum is %d", (long long)columns,
                       EK_ONNX_INPUTS_MAX);
    s->is_by_item = rows == 1;
    m->columns.count = columns > 0 ? (int)columns : 0;
    return EK_OK;
}

/* Check the inputs that are features, and name the columns. */
static int check_split(struct ek_onnx_model *m, struct ek_error *e)
{
    struct ek_onnx_session *s = m->session;
    s->is_split = true;
    m->columns.count = (int)s->inputs;
    for (size_t i = 0; i < s->inputs; i++) {
        const struct tensor *t = &s->input[i];
        bool is_column = t->rank == 1 || (t->rank == 2 && t->size[1] == 1);
        if (!t->type || !is_column || t->size[0] > 1)
            return wrong_input(t, "a tensor [items, 1] of float or double, for one feature", e);
        s->is_by_item |= t->size[0] == 1;
        if (ek_columns_name(&m->columns, (int)i, t->name, strlen(t->name)))
            return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return EK_OK;
}

static int read_inputs(struct ek_onnx_model *m, struct ek_error *e)
{
    struct ek_onnx_session *s = m->session;
    const struct runtime *r = s->runtime;
    size_t count = 0;
    int rc = check(r, CALL(r, SESSION_INPUTS, (const void *, size_t *), s->session, &count),
                   EK_EFORMAT, e);
    if (!rc && (!count || count > EK_ONNX_INPUTS_MAX))
        rc = ek_fail(e, EK_ELIMIT, "%zu inputs, expected 1 to %d", count, EK_ONNX_INPUTS_MAX);
    if (!rc && !(s->input = ek_calloc(count, sizeof *s->input)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < count; i++) {
        s->inputs = i + 1;
        rc = read_tensor(s, i, true, &s->input[i], e);
    }
    if (rc)
        return rc;
    bool is_whole =
        count == 1 && !(s->input->rank == 1 || (s->input->rank == 2 && s->input->size[1] == 1));
    return is_whole ? check_whole(m, e) : check_split(m, e);
}

/* ----------------------------------------------------------------- names */

static int wrong_names(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT,
                   "metadata 'feature_names' of the model is no list of as many names as columns");
}

static int name_columns(struct ek_columns *c, yyjson_val *names, struct ek_error *e)
{
    size_t count = yyjson_arr_size(names);
    if (!count || count > EK_ONNX_INPUTS_MAX || (c->count && (size_t)c->count != count))
        return wrong_names(e);
    c->count = (int)count;
    for (size_t i = 0; i < count; i++) {
        yyjson_val *name = yyjson_arr_get(names, i);
        if (!yyjson_is_str(name))
            return wrong_names(e);
        if (ek_columns_name(c, (int)i, yyjson_get_str(name), yyjson_get_len(name)))
            return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return EK_OK;
}

/* Name the columns from JSON, or from text with commas, which becomes JSON. */
static int parse_names(struct ek_columns *c, const char *text, struct ek_error *e)
{
    struct ek_json_error why;
    struct ek_buf json;
    yyjson_doc *d = NULL;
    ek_buf_init(&json, 0);
    for (const char *p = text; *text != '['; p += strcspn(p, ",") + 1) {
        size_t length = strcspn(p, ",");
        ek_buf_text(&json, p == text ? "[" : ",");
        ek_buf_json(&json, p, length);
        if (!p[length])
            break;
    }
    if (*text != '[')
        ek_buf_text(&json, "]");
    else
        ek_buf_text(&json, text);
    int rc =
        json.rc ? EK_ENOMEM : ek_json_parse(&d, (const char *)json.data, json.length, false, &why);
    if (!rc)
        rc = name_columns(c, yyjson_doc_get_root(d), e);
    else
        rc = rc == EK_ENOMEM ? ek_fail(e, rc, "out of memory") : wrong_names(e);
    yyjson_doc_free(d);
    ek_buf_release(&json);
    return rc;
}

static int read_names(struct ek_onnx_model *m, struct ek_error *e)
{
    const struct ek_onnx_session *s = m->session;
    const struct runtime *r = s->runtime;
    void *metadata = NULL;
    char *names = NULL;
    int rc = check(r, CALL(r, SESSION_METADATA, (const void *, void **), s->session, &metadata),
                   EK_EFORMAT, e);
    if (!rc)
        rc = check(r,
                   CALL(r, METADATA_LOOKUP, (const void *, void *, const char *, char **), metadata,
                        r->allocator, "feature_names", &names),
                   EK_EFORMAT, e);
    if (!rc && names)
        rc = parse_names(&m->columns, names, e);
    if (names)
        check(r, CALL(r, ALLOCATOR_FREE, (void *, void *), r->allocator, names), EK_EFORMAT, NULL);
    release(r, RELEASE_METADATA, metadata);
    if (!rc && !m->columns.count)
        rc = ek_fail(e, EK_EFORMAT,
                     "the model does not say how many features it has; export it with a fixed "
                     "number of columns, or with the metadata 'feature_names'");
    return rc;
}

/* ----------------------------------------------------------------- files */

static int create_session(struct ek_onnx_session *s, const struct ek_buf *file, struct ek_error *e)
{
    const struct runtime *r = s->runtime;
    void *options = NULL;
    int rc = check(r, CALL(r, CREATE_SESSION_OPTIONS, (void **), &options), EK_ESTATE, e);
    if (!rc)
        rc = check(r, CALL(r, SET_INTRA_OP_THREADS, (void *, int), options, 1), EK_ESTATE, e);
    if (!rc)
        rc = check(r, CALL(r, SET_INTER_OP_THREADS, (void *, int), options, 1), EK_ESTATE, e);
    if (!rc)
        rc = check(r,
                   CALL(r, CREATE_SESSION_FROM_ARRAY,
                        (const void *, const void *, size_t, const void *, void **), r->env,
                        file->data, file->length, options, &s->session),
                   EK_EFORMAT, e);
    release(r, RELEASE_OPTIONS, options);
    return rc;
}

static int fill(struct ek_onnx_model *m, const struct ek_buf *file, struct ek_error *e)
{
    struct ek_onnx_session *s = m->session = ek_calloc(1, sizeof *s);
    m->bytes = file->length;
    int rc = s ? find_runtime(&s->runtime, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = create_session(s, file, e);
    if (!rc)
        rc = find_output(s, e);
    if (!rc)
        rc = read_inputs(m, e);
    return rc || s->is_split ? rc : read_names(m, e);
}

int ek_onnx_load(struct ek_onnx_model **out, const char *path, struct ek_error *e)
{
    struct ek_buf file;
    ek_buf_init(&file, EK_ONNX_BYTES_MAX);
    int rc = ek_file_read(path, &file, e);
    if (rc) {
        ek_buf_release(&file);
        return rc;
    }
    struct ek_onnx_model *m = ek_calloc(1, sizeof *m);
    rc = m ? fill(m, &file, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_release(&file);
    if (rc) {
        if (e)
            ek_error_place(e, path, 0, 0);
        ek_onnx_free(m);
        return rc;
    }
    *out = m;
    return EK_OK;
}

static void free_session(struct ek_onnx_session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->inputs; i++)
        ek_free(s->input[i].name);
    ek_free(s->input);
    ek_free(s->output.name);
    if (s->runtime)
        release(s->runtime, RELEASE_SESSION, s->session);
    ek_free(s);
}

void ek_onnx_free(struct ek_onnx_model *m)
{
    if (!m)
        return;
    free_session(m->session);
    ek_columns_release(&m->columns);
    ek_free(m);
}

/* ----------------------------------------------------------------- scores */

/* Rows of a run. */
struct batch {
    const double *values; /* [items, columns] */
    int items, columns;
};

/* Copy columns [first, first + count) of all items to the input at `to`, in its type. Return the
 * bytes. */
static size_t copy_input(const struct batch *b, int first, int count, int type, void *to)
{
    size_t n = 0;
    float *narrow = to;
    double *wide = to;
    for (int i = 0; i < b->items; i++) {
        const double *row = b->values + (size_t)i * (size_t)b->columns + first;
        for (int c = 0; c < count; c++, n++) {
            if (type == TYPE_DOUBLE)
                wide[n] = row[c];
            else
                narrow[n] = (float)row[c];
        }
    }
    return n * (type == TYPE_DOUBLE ? sizeof *wide : sizeof *narrow);
}

/* Create the tensor of an input over `to`. */
static int make_input(const struct ek_onnx_session *s, const struct batch *b, size_t number,
                      void *to, void **value, struct ek_error *e)
{
    const struct runtime *r = s->runtime;
    const struct tensor *t = &s->input[number];
    int count = s->is_split ? 1 : b->columns;
    int64_t size[RANK_MAX] = {b->items, count, count};
    if (t->rank == 3) {
        size[0] = 1;
        size[1] = b->items;
    }
    size_t bytes = copy_input(b, s->is_split ? (int)number : 0, count, t->type, to);
    return check(r,
                 CALL(r, CREATE_TENSOR,
                      (const void *, void *, size_t, const int64_t *, size_t, int, void **),
                      r->memory, to, bytes, size, t->rank, t->type, value),
                 EK_ESTATE, e);
}

static int read_scores(const struct ek_onnx_session *s, void *value, int items, double *scores,
                       struct ek_error *e)
{
    const struct runtime *r = s->runtime;
    void *shape = NULL, *data = NULL;
    size_t count = 0, n = (size_t)items;
    int type = 0;
    int rc = check(r, CALL(r, TENSOR_SHAPE, (const void *, void **), value, &shape), EK_ESTATE, e);
    if (!rc)
        rc =
            check(r, CALL(r, ELEMENT_COUNT, (const void *, size_t *), shape, &count), EK_ESTATE, e);
    if (!rc)
        rc = check(r, CALL(r, ELEMENT_TYPE, (const void *, int *), shape, &type), EK_ESTATE, e);
    if (!rc)
        rc = check(r, CALL(r, TENSOR_DATA, (void *, void **), value, &data), EK_ESTATE, e);
    release(r, RELEASE_SHAPE, shape);
    if (rc)
        return rc;
    if (count != n && count != 2 * n)
        return ek_fail(e, EK_ESTATE, "output '%.60s' of the model has %zu values for %d items",
                       s->output.name, count, items);
    size_t step = count / n, at = step - 1;
    for (size_t i = 0; i < n; i++, at += step)
        scores[i] =
            type == TYPE_DOUBLE ? ((const double *)data)[at] : (double)((const float *)data)[at];
    return EK_OK;
}

static int run(const struct ek_onnx_session *s, const struct batch *b, double *scratch,
               double *scores, struct ek_error *e)
{
    const struct runtime *r = s->runtime;
    void *value[EK_ONNX_INPUTS_MAX];
    const char *name[EK_ONNX_INPUTS_MAX], *output = s->output.name;
    void *result = NULL;
    size_t made = 0;
    int rc = EK_OK;
    for (; !rc && made < s->inputs; made += !rc) {
        value[made] = NULL;
        name[made] = s->input[made].name;
        rc = make_input(s, b, made, scratch + made * (size_t)b->items, &value[made], e);
    }
    if (!rc)
        rc = check(r,
                   CALL(r, RUN,
                        (void *, const void *, const char *const *, const void *const *, size_t,
                         const char *const *, size_t, void **),
                        s->session, NULL, name, (const void *const *)value, made, &output, 1,
                        &result),
                   EK_ESTATE, e);
    if (!rc)
        rc = read_scores(s, result, b->items, scores, e);
    release(r, RELEASE_VALUE, result);
    while (made--)
        release(r, RELEASE_VALUE, value[made]);
    return rc;
}

int ek_onnx_run(const struct ek_onnx_model *m, const double *values, int items, double *scratch,
                double *scores, struct ek_error *e)
{
    int at_once = m->session->is_by_item ? 1 : items, columns = m->columns.count, rc = EK_OK;
    for (int i = 0; !rc && i < items; i += at_once) {
        const struct batch b = {values + (size_t)i * (size_t)columns, at_once, columns};
        rc = run(m->session, &b, scratch, scores + i, e);
    }
    return rc;
}
