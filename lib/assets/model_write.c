#include "assets/model_internal.h"

#include "base/buf.h"
#include "assets/model_fidelity.h"

#include <jansson.h>

/* Appends to a list; NULL (and the list gone) without memory, so that calls can be chained. */
static json_t *append(json_t *list, json_t *value)
{
    if (!json_array_append_new(list, value))
        return list;
    json_decref(list);
    return NULL;
}

static json_t *names_json(char *const *names, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        list = append(list, json_string(names[i]));
    return list;
}

static json_t *ints_json(const int *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        list = append(list, json_integer(values[i]));
    return list;
}

static json_t *floats_json(const float *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        list = append(list, json_real((double)values[i]));
    return list;
}

static json_t *routable_json(const struct ek_model *m)
{
    json_t *list = json_array();
    for (int k = 0; k < m->routable_count; k++)
        list = append(list, json_string(m->item_names[m->routable[k]]));
    return list;
}

/* The object, or NULL (and the object gone) when something in it could not be made. */
static json_t *whole(json_t *object, int failed)
{
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *statistics_json(const struct ek_model *m)
{
    struct ek_model shape = *m;
    struct ek_model_array arrays[EK_MODEL_ARRAYS_MAX];
    int count = ek_model_arrays(&shape, arrays), failed = 0;
    json_t *all = json_object();
    for (int i = count - EK_MODEL_STATISTICS; i < count; i++)
        failed |= json_object_set_new(all, arrays[i].name,
                                      floats_json(*arrays[i].at, arrays[i].shape[0]));
    return whole(all, failed);
}

static json_t *description(const struct ek_model *m)
{
    const struct {
        const char *key;
        json_t *value;
    } rows[] = {
        {"model", json_string("routable_sir")},
        {"version", json_integer(1)},
        {"item_features", names_json(m->item_names, m->item_features)},
        {"query_features", names_json(m->query_names, m->query_features)},
        {"routable", routable_json(m)},
        {"routable_positions", ints_json(m->routable, m->routable_count)},
        {"hidden", ints_json(m->hidden, m->hidden_count)},
        {"gate_size", json_integer(m->gate_size)},
        {"mask_input", json_boolean(m->mask_input)},
        {"log_input", json_string(ek_log_input_name(m->log_input))},
        {"list_free", json_boolean(m->list_free)},
        {"statistics", statistics_json(m)},
    };
    int failed = 0;
    json_t *d = json_object();
    if (m->transform != EK_TRANSFORM_LOG1P)
        failed = json_object_set_new(d, "transform", json_string(ek_transform_name(m->transform)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        failed |= json_object_set_new(d, rows[i].key, rows[i].value);
    if (m->trained.known)
        failed |= json_object_set_new(d, "trained", ek_model_trained_json(m));
    if (m->fidelity.lists)
        failed |= json_object_set_new(d, "fidelity", ek_model_fidelity_json(&m->fidelity));
    return whole(d, failed);
}

static int add_text(const char *text, size_t length, void *to)
{
    return ek_buf_add(to, text, length) ? -1 : 0;
}

int ek_model_describe(const struct ek_model *m, struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, EK_TENSORS_HEADER_MAX);
    json_t *d = description(m);
    const char *string = NULL;
    if (d && !json_dump_callback(d, add_text, &text, JSON_ENSURE_ASCII))
        string = ek_buf_string(&text);
    int code = string ? ek_tensors_set_text(m->storage, "routable_sir", string) : EK_ENOMEM;
    json_decref(d);
    ek_buf_release(&text);
    return code ? ek_fail(e, (enum ek_code)code, "no memory to describe the model") : EK_OK;
}

int ek_model_save(const struct ek_model *m, const char *path, struct ek_error *e)
{
    int code = ek_model_describe(m, e);
    return code ? code : ek_tensors_write(m->storage, path, e);
}
