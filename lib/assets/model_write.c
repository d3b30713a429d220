#include "assets/model_internal.h"

#include "base/buf.h"
#include "assets/model_fidelity.h"

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
        ek_model_trained_write(m, w);
    if (m->fidelity.lists)
        ek_model_fidelity_write(&m->fidelity, w);
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
    return code ? ek_fail(e, (enum ek_code)code, "no memory to describe the model") : EK_OK;
}

int ek_model_save(const struct ek_model *m, const char *path, struct ek_error *e)
{
    int code = ek_model_describe(m, e);
    return code ? code : ek_tensors_write(m->storage, path, e);
}
