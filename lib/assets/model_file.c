#include "assets/model.h"
#include "assets/model_internal.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/parse.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int missing(struct ek_error *e, const char *key)
{
    return ek_fail(e, EK_EFORMAT, "description has no usable '%s'", key);
}

static int read_int(yyjson_val *d, const char *key, int *out, struct ek_error *e)
{
    yyjson_val *v = yyjson_obj_get(d, key);
    if (!yyjson_is_int(v) || yyjson_get_sint(v) < 0 || yyjson_get_sint(v) > INT32_MAX)
        return missing(e, key);
    *out = (int)yyjson_get_sint(v);
    return EK_OK;
}

static int read_bool(yyjson_val *d, const char *key, bool *out, struct ek_error *e)
{
    yyjson_val *v = yyjson_obj_get(d, key);
    if (!yyjson_is_bool(v))
        return missing(e, key);
    *out = yyjson_is_true(v);
    return EK_OK;
}

static int read_names(yyjson_val *d, const char *key, char ***out, int *count, struct ek_error *e)
{
    yyjson_val *v = yyjson_obj_get(d, key);
    size_t n = yyjson_arr_size(v);
    if (!yyjson_is_arr(v) || n > EK_FEATURES_MAX)
        return missing(e, key);
    if (!(*out = ek_calloc(n, sizeof **out)))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    *count = (int)n;
    for (size_t i = 0; i < n; i++) {
        const char *name = yyjson_get_str(yyjson_arr_get(v, i));
        if (!name)
            return missing(e, key);
        if (!((*out)[i] = ek_strdup(name)))
            return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return EK_OK;
}

/* Positions must be ascending item features with the names in `routable`. */
static int read_routable(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    yyjson_val *positions = yyjson_obj_get(d, "routable_positions");
    yyjson_val *names = yyjson_obj_get(d, "routable");
    size_t n = yyjson_arr_size(positions);
    if (!yyjson_is_arr(positions) || n > (size_t)m->item_features)
        return missing(e, "routable_positions");
    if (!yyjson_is_arr(names) || yyjson_arr_size(names) != n)
        return missing(e, "routable");
    if (!(m->routable = ek_calloc(n, sizeof *m->routable)))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t k = 0; k < n; k++) {
        yyjson_val *v = yyjson_arr_get(positions, k);
        int64_t f = yyjson_get_sint(v);
        const char *name = yyjson_get_str(yyjson_arr_get(names, k));
        if (!yyjson_is_int(v) || f < 0 || f >= m->item_features || (k && f <= m->routable[k - 1]))
            return missing(e, "routable_positions");
        if (!name || strcmp(name, m->item_names[f]) != 0)
            return missing(e, "routable");
        m->routable[k] = (int)f;
    }
    m->routable_count = (int)n;
    return EK_OK;
}

static int read_hidden(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    yyjson_val *v = yyjson_obj_get(d, "hidden");
    size_t n = yyjson_arr_size(v);
    if (!yyjson_is_arr(v) || n >= EK_LAYERS_MAX)
        return missing(e, "hidden");
    for (size_t i = 0; i < n; i++) {
        yyjson_val *width = yyjson_arr_get(v, i);
        int64_t w = yyjson_get_sint(width);
        if (!yyjson_is_int(width) || w < 1 || w > EK_LAYER_WIDTH_MAX)
            return missing(e, "hidden");
        m->hidden[i] = (int)w;
    }
    m->hidden_count = (int)n;
    return EK_OK;
}

/* Older models lack the key and use log1p. */
static int read_transform(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    yyjson_val *v = yyjson_obj_get(d, "transform");
    int found =
        v ? yyjson_is_str(v) ? ek_transform_parse(yyjson_get_str(v)) : -1 : EK_TRANSFORM_LOG1P;
    if (found < 0)
        return missing(e, "transform");
    m->transform = (enum ek_transform)found;
    return EK_OK;
}

static const char *const ROUTINGS[] = {"random", "none", "static"};
enum { ROUTING_COUNT = sizeof ROUTINGS / sizeof *ROUTINGS };

const char *ek_routing_name(enum ek_routing r)
{
    return ROUTINGS[r];
}

static int unusable(struct ek_error *e, const char *key)
{
    return ek_fail(e, EK_EFORMAT, "description has no usable '%s' under 'trained'", key);
}

static int read_routing(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    const char *word = yyjson_get_str(yyjson_obj_get(d, "routing"));
    for (int i = 0; word && i < ROUTING_COUNT; i++)
        if (!strcmp(word, ROUTINGS[i])) {
            m->trained.routing = (enum ek_routing)i;
            return EK_OK;
        }
    return unusable(e, "routing");
}

static int read_routed(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    yyjson_val *names = yyjson_obj_get(d, "routed");
    if (m->trained.routing != EK_ROUTING_STATIC)
        return EK_OK;
    if (!yyjson_is_arr(names))
        return unusable(e, "routed");
    if (!(m->trained.routed = ek_calloc((size_t)m->routable_count, sizeof *m->trained.routed)))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < yyjson_arr_size(names); i++) {
        const char *name = yyjson_get_str(yyjson_arr_get(names, i));
        int k = name ? ek_model_routable(m, name) : -1;
        if (k < 0)
            return unusable(e, "routed");
        m->trained.routed[k] = true;
    }
    return EK_OK;
}

/* Read the optional members that no reader depends on. */
static int read_origin(struct ek_trained *t, yyjson_val *d, struct ek_error *e)
{
    const char *loss = yyjson_get_str(yyjson_obj_get(d, "loss"));
    const char *seed = yyjson_get_str(yyjson_obj_get(d, "seed"));
    const char *hash = yyjson_get_str(yyjson_obj_get(d, "manifest"));
    loss = loss ? loss : ""; /* truncating within a character would make invalid UTF-8 */
    snprintf(t->loss, sizeof t->loss, "%.*s", (int)ek_utf8_within(loss, sizeof t->loss - 1), loss);
    if (seed && ek_parse_u64(seed, EK_WHOLE, &t->seed))
        return unusable(e, "seed");
    if (hash && ek_parse_hash(hash, EK_WHOLE, &t->manifest_hash))
        return unusable(e, "manifest");
    return EK_OK;
}

/* Read the member `trained`; d may be NULL. */
static int model_trained_read(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    int code;
    if (!d)
        return EK_OK;
    m->trained.known = true;
    if ((code = read_routing(m, d, e)) || (code = read_routed(m, d, e)))
        return code;
    return read_origin(&m->trained, d, e);
}

static int read_description(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    int version = 0, code;
    const char *kind = yyjson_get_str(yyjson_obj_get(d, "model"));
    const char *logs = yyjson_get_str(yyjson_obj_get(d, "log_input"));
    int log_input = logs ? ek_log_input_parse(logs) : -1;
    if (!kind || strcmp(kind, "routable_sir") != 0)
        return ek_fail(e, EK_EFORMAT, "not a 'routable_sir' model");
    if ((code = read_int(d, "version", &version, e)))
        return code;
    if (version != 1)
        return ek_fail(e, EK_EFORMAT, "version %d of the model format is not supported", version);
    if (log_input < 0)
        return missing(e, "log_input");
    m->log_input = (enum ek_log_input)log_input;
    if ((code = read_names(d, "item_features", &m->item_names, &m->item_features, e)) ||
        (code = read_names(d, "query_features", &m->query_names, &m->query_features, e)) ||
        (code = read_routable(m, d, e)) || (code = read_transform(m, d, e)) ||
        (code = read_hidden(m, d, e)) || (code = read_int(d, "gate_size", &m->gate_size, e)) ||
        (code = read_bool(d, "mask_input", &m->mask_input, e)) ||
        (code = read_bool(d, "list_free", &m->list_free, e)) ||
        (code = model_trained_read(m, yyjson_obj_get(d, "trained"), e)) ||
        (code = ek_model_agreement_read(d, &m->agreement, e)))
        return code;
    return ek_model_shape_check(m, EK_EFORMAT, e);
}

static int check_values(const struct ek_model_array *a, const struct ek_tensor *t,
                        struct ek_error *e)
{
    const float *x = t->data;
    for (size_t i = 0; i < t->count; i++) {
        if (!isfinite(x[i]))
            return ek_fail(e, EK_EFORMAT, "tensor '%s' has a value that is not finite", a->name);
        if (a->positive && x[i] <= 0)
            return ek_fail(e, EK_EFORMAT, "tensor '%s' has a value that is not positive", a->name);
        if (a->rising && i % a->shape[1] && x[i] < x[i - 1])
            return ek_fail(e, EK_EFORMAT, "tensor '%s' has a row that does not rise", a->name);
    }
    return EK_OK;
}

static int bind_arrays(struct ek_model *m, struct ek_error *e)
{
    struct ek_model_array arrays[EK_MODEL_ARRAYS_MAX];
    int count = ek_model_arrays(m, arrays);
    for (int i = 0; i < count; i++) {
        const struct ek_tensor *t;
        int code = ek_tensors_expect(m->storage, arrays[i].name, EK_F32, arrays[i].dims,
                                     arrays[i].shape, &t, e);
        if (!code)
            code = check_values(&arrays[i], t, e);
        if (code)
            return code;
        *arrays[i].at = t->data;
    }
    return EK_OK;
}

static int read_model(struct ek_model *m, struct ek_error *e)
{
    struct ek_json_error why;
    const char *text = ek_tensors_text(m->storage, "routable_sir");
    if (!text)
        return ek_fail(e, EK_EFORMAT, "no model: metadata has no 'routable_sir'");
    yyjson_doc *d;
    int code = ek_json_parse(&d, text, strlen(text), false, &why);
    if (code == EK_ENOMEM)
        return ek_fail(e, code, "out of memory");
    if (code)
        return ek_fail(e, code, "description is not JSON: %s", why.text);
    code = read_description(m, yyjson_doc_get_root(d), e);
    yyjson_doc_free(d);
    return code ? code : bind_arrays(m, e);
}

int ek_model_from_tensors(struct ek_model **out, struct ek_tensors *t, const char *name,
                          struct ek_error *e)
{
    struct ek_model *m = ek_calloc(1, sizeof *m);
    if (!m) {
        ek_tensors_free(t);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    m->storage = t;
    int code = read_model(m, e);
    if (code) {
        ek_error_place(e, name, 0, 0);
        ek_model_free(m);
        return code;
    }
    *out = m;
    return EK_OK;
}

enum file_kind { NETWORK, TREES, ONNX };

static int load_ranker(struct ek_model **out, enum file_kind kind, const char *path,
                       struct ek_error *e)
{
    struct ek_model *m = ek_calloc(1, sizeof *m);
    int code = !m              ? ek_fail(e, EK_ENOMEM, "out of memory")
               : kind == TREES ? ek_trees_load(&m->trees, path, e)
                               : ek_onnx_load(&m->onnx, path, e);
    if (code)
        ek_model_free(m);
    else
        *out = m;
    return code;
}

static int find_kind(const char *path, enum file_kind *kind, struct ek_error *e)
{
    struct ek_reader *r = NULL;
    char head[EK_TREES_HEAD];
    size_t length = 0, got = 1;
    int code = ek_reader_open(&r, path, e);
    while (!code && got && length < sizeof head) {
        code = ek_reader_read(r, head + length, sizeof head - length, &got, e);
        length += code ? 0 : got;
    }
    ek_reader_close(r);
    *kind = ek_trees_begins(head, length) ? TREES : ek_onnx_begins(head, length) ? ONNX : NETWORK;
    return code;
}

int ek_model_load(struct ek_model **out, const char *path, struct ek_error *e)
{
    struct ek_tensors *t;
    enum file_kind kind;
    int code = find_kind(path, &kind, e);
    if (!code && kind != NETWORK)
        return load_ranker(out, kind, path, e);
    if (!code)
        code = ek_tensors_read(&t, path, e);
    return code ? code : ek_model_from_tensors(out, t, path, e);
}

static void write_names(struct ek_json_writer *w, const char *key, char *const *names, int count)
{
    ek_json_open(w, key, '[');
    for (int i = 0; i < count; i++)
        ek_json_add_text(w, NULL, names[i]);
    ek_json_close(w, ']');
}

static void write_ints(struct ek_json_writer *w, const char *key, const int *values, int count)
{
    ek_json_open(w, key, '[');
    for (int i = 0; i < count; i++)
        ek_json_add_integer(w, NULL, values[i]);
    ek_json_close(w, ']');
}

static void write_routable(struct ek_json_writer *w, const struct ek_model *m)
{
    ek_json_open(w, "routable", '[');
    for (int k = 0; k < m->routable_count; k++)
        ek_json_add_text(w, NULL, m->item_names[m->routable[k]]);
    ek_json_close(w, ']');
}

static void write_statistics(struct ek_json_writer *w, const struct ek_model *m)
{
    struct ek_model shape = *m;
    struct ek_model_array arrays[EK_MODEL_ARRAYS_MAX];
    int count = ek_model_arrays(&shape, arrays);
    ek_json_open(w, "statistics", '{');
    for (int i = count - EK_MODEL_STATISTICS; i < count; i++) {
        ek_json_open(w, arrays[i].name, '[');
        for (size_t k = 0; k < arrays[i].shape[0]; k++)
            ek_json_add_real(w, NULL, (double)(*arrays[i].at)[k]);
        ek_json_close(w, ']');
    }
    ek_json_close(w, '}');
}

static void write_routed(const struct ek_model *m, struct ek_json_writer *w)
{
    ek_json_open(w, "routed", '[');
    for (int k = 0; m->trained.routed && k < m->routable_count; k++)
        if (m->trained.routed[k])
            ek_json_add_text(w, NULL, m->item_names[m->routable[k]]);
    ek_json_close(w, ']');
}

static void model_trained_write(const struct ek_model *m, struct ek_json_writer *w)
{
    char seed[21], hash[17];
    const struct ek_trained *t = &m->trained;
    snprintf(seed, sizeof seed, "%" PRIu64, t->seed);
    snprintf(hash, sizeof hash, "%016" PRIx64, t->manifest_hash);
    ek_json_open(w, "trained", '{');
    ek_json_add_text(w, "routing", ROUTINGS[t->routing]);
    if (t->routing == EK_ROUTING_STATIC)
        write_routed(m, w);
    ek_json_add_text(w, "loss", t->loss);
    ek_json_add_text(w, "seed", seed);
    ek_json_add_text(w, "manifest", hash);
    ek_json_close(w, '}');
}

static void write_description(struct ek_json_writer *w, const struct ek_model *m)
{
    ek_json_open(w, NULL, '{');
    if (m->transform != EK_TRANSFORM_LOG1P)
        ek_json_add_text(w, "transform", ek_transform_name(m->transform));
    ek_json_add_text(w, "model", "routable_sir");
    ek_json_add_integer(w, "version", 1);
    write_names(w, "item_features", m->item_names, m->item_features);
    write_names(w, "query_features", m->query_names, m->query_features);
    write_routable(w, m);
    write_ints(w, "routable_positions", m->routable, m->routable_count);
    write_ints(w, "hidden", m->hidden, m->hidden_count);
    ek_json_add_integer(w, "gate_size", m->gate_size);
    ek_json_add_flag(w, "mask_input", m->mask_input);
    ek_json_add_text(w, "log_input", ek_log_input_name(m->log_input));
    ek_json_add_flag(w, "list_free", m->list_free);
    write_statistics(w, m);
    if (m->trained.known)
        model_trained_write(m, w);
    if (m->agreement.lists)
        ek_model_agreement_write(&m->agreement, w);
    ek_json_close(w, '}');
}

int ek_model_describe(const struct ek_model *m, struct ek_error *e)
{
    struct ek_buf text;
    struct ek_json_writer w;
    ek_buf_init(&text, EK_TENSORS_HEADER_MAX);
    ek_json_init_spaced(&w, &text);
    write_description(&w, m);
    const char *string = w.rc ? NULL : ek_buf_string(&text);
    int code = string ? ek_tensors_set_text(m->storage, "routable_sir", string) : EK_ENOMEM;
    ek_buf_release(&text);
    return code ? ek_fail(e, (enum ek_code)code, "out of memory") : EK_OK;
}

int ek_model_save(const struct ek_model *m, const char *path, struct ek_error *e)
{
    int code = ek_model_describe(m, e);
    return code ? code : ek_tensors_write(m->storage, path, e);
}

static bool routes_as_trained(const struct ek_model *m, const struct ek_treatment *t)
{
    for (int k = 0; t && k < m->routable_count; k++) {
        if (ek_action_masks(t[k].action) != (m->trained.routed && m->trained.routed[k]))
            return false;
    }
    return t != NULL;
}

static void name_routed(const struct ek_model *m, struct ek_buf *text)
{
    const char *between = "";
    for (int k = 0; k < m->routable_count; k++)
        if (m->trained.routed[k]) {
            ek_buf_printf(text, "%s'%s'", between, m->item_names[m->routable[k]]);
            between = ", ";
        }
}

bool ek_model_routing_warning(const struct ek_model *m, const struct ek_treatment *t, char *text,
                              size_t size)
{
    struct ek_buf names;
    if (!m->trained.known || m->trained.routing == EK_ROUTING_RANDOM || routes_as_trained(m, t))
        return false;
    if (m->trained.routing == EK_ROUTING_NONE) {
        snprintf(text, size,
                 "trained without routing: it ranks worse where features are routed; "
                 "train with random routing");
        return true;
    }
    ek_buf_init(&names, 0);
    name_routed(m, &names);
    const char *list = ek_buf_string(&names);
    snprintf(text, size,
             "trained with %s always routed: it ranks worse under any other routing, also where "
             "nothing is; train with random routing",
             list && *list ? list : "nothing");
    ek_buf_release(&names);
    return true;
}
