#include "assets/model.h"

#include "assets/model_internal.h"
#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const LOG_INPUTS[] = {"none", "routed", "always"};

const char *ek_log_input_name(enum ek_log_input l)
{
    return LOG_INPUTS[l];
}

int ek_log_input_parse(const char *name)
{
    for (int i = 0; i <= EK_LOG_ALWAYS; i++)
        if (!strcmp(LOG_INPUTS[i], name))
            return i;
    return -1;
}

static const char *const TRANSFORMS[] = {"log1p", "raw", "zscore", "cdf", "mixture"};

const char *ek_transform_name(enum ek_transform t)
{
    return TRANSFORMS[t];
}

int ek_transform_parse(const char *name)
{
    for (int i = 0; i <= EK_TRANSFORM_MIXTURE; i++)
        if (!strcmp(TRANSFORMS[i], name))
            return i;
    return -1;
}

static void add(struct ek_model_array *a, int *count, const char *name, float **at, int rows,
                int columns)
{
    struct ek_model_array *to = &a[(*count)++];
    snprintf(to->name, sizeof to->name, "%s", name);
    to->at = at;
    to->dims = columns < 0 ? 1 : 2;
    to->shape[0] = (size_t)rows;
    to->shape[1] = columns < 0 ? 0 : (size_t)columns;
    to->positive = strstr(name, "_sd") != NULL;
    to->rising = !strcmp(name, "cdf");
}

static void add_transform(struct ek_model *m, struct ek_model_array *arrays, int *count)
{
    bool mixture = m->transform == EK_TRANSFORM_MIXTURE;
    if (mixture || m->transform == EK_TRANSFORM_ZSCORE) {
        add(arrays, count, "raw_mean", &m->raw_mean, m->item_features, -1);
        add(arrays, count, "raw_sd", &m->raw_sd, m->item_features, -1);
    }
    if (mixture || m->transform == EK_TRANSFORM_CDF)
        add(arrays, count, "cdf", &m->cdf, m->item_features, EK_CDF_KNOTS);
    if (mixture)
        add(arrays, count, "mixture", &m->mixture, m->item_features, EK_TRANSFORM_PARTS);
}

int ek_model_arrays(struct ek_model *m, struct ek_model_array *arrays)
{
    int count = 0, below = m->deep_inputs;
    for (int i = 0; i <= m->hidden_count; i++) {
        char name[32];
        int width = i < m->hidden_count ? m->hidden[i] : 1;
        snprintf(name, sizeof name, "deep.%d.weight", i);
        add(arrays, &count, name, &m->weight[i], width, below);
        snprintf(name, sizeof name, "deep.%d.bias", i);
        add(arrays, &count, name, &m->bias[i], width, -1);
        below = width;
    }
    add(arrays, &count, "gate.weight", &m->gate_weight, m->gate_size, m->query_features);
    add(arrays, &count, "gate.bias", &m->gate_bias, m->gate_size, -1);
    add(arrays, &count, "slope", &m->slope, m->gate_size + 1, m->routable_count);
    add(arrays, &count, "zero", &m->zero, m->gate_size + 1, m->routable_count);
    add_transform(m, arrays, &count);
    add(arrays, &count, "item_mean", &m->item_mean, m->item_features, -1);
    add(arrays, &count, "item_sd", &m->item_sd, m->item_features, -1);
    add(arrays, &count, "query_mean", &m->query_mean, m->query_features, -1);
    add(arrays, &count, "query_sd", &m->query_sd, m->query_features, -1);
    add(arrays, &count, "item_median", &m->item_median, m->item_features, -1);
    add(arrays, &count, "log_sd", &m->log_sd, m->routable_count, -1);
    add(arrays, &count, "log_mean", &m->log_mean, m->routable_count, -1);
    return count;
}

int ek_model_shape_check(struct ek_model *m, enum ek_code code, struct ek_error *e)
{
    if (m->item_features < 1 || m->item_features > EK_FEATURES_MAX)
        return ek_fail(e, code, "a model needs 1 to %d item features", EK_FEATURES_MAX);
    if (m->query_features > EK_FEATURES_MAX)
        return ek_fail(e, code, "more than %d query features", EK_FEATURES_MAX);
    if (m->hidden_count < 0 || m->hidden_count >= EK_LAYERS_MAX)
        return ek_fail(e, code, "more than %d hidden layers", EK_LAYERS_MAX - 1);
    for (int i = 0; i < m->hidden_count; i++)
        if (m->hidden[i] < 1 || m->hidden[i] > EK_LAYER_WIDTH_MAX)
            return ek_fail(e, code, "a hidden layer has 1 to %d units", EK_LAYER_WIDTH_MAX);
    if (m->gate_size < 0 || m->gate_size > EK_GATE_SIZE_MAX)
        return ek_fail(e, code, "'gate_size' is 0 to %d", EK_GATE_SIZE_MAX);
    if (m->list_free && m->log_input != EK_LOG_NONE)
        return ek_fail(e, code, "the list-free form has no logs among the deep inputs");
    int logs = m->log_input == EK_LOG_ALWAYS ? 2 : m->log_input == EK_LOG_ROUTED ? 1 : 0;
    m->deep_inputs =
        m->item_features + m->query_features + m->routable_count * ((m->mask_input ? 1 : 0) + logs);
    return EK_OK;
}

static int copy_names(char ***out, const struct ek_feature **features, int count)
{
    *out = ek_calloc((size_t)count, sizeof **out);
    if (!*out)
        return EK_ENOMEM;
    for (int i = 0; i < count; i++)
        if (!((*out)[i] = ek_strdup(features[i]->name)))
            return EK_ENOMEM;
    return EK_OK;
}

static int copy_features(struct ek_model *m, const struct ek_manifest *manifest)
{
    m->item_features = manifest->item_count;
    m->query_features = manifest->query_count;
    m->routable_count = manifest->routable_count;
    m->routable = ek_calloc((size_t)m->routable_count, sizeof *m->routable);
    if (!m->routable || copy_names(&m->item_names, manifest->item, m->item_features) ||
        copy_names(&m->query_names, manifest->query, m->query_features))
        return EK_ENOMEM;
    for (int k = 0; k < m->routable_count; k++)
        m->routable[k] = manifest->routable[k];
    return EK_OK;
}

static int add_arrays(struct ek_model *m, struct ek_error *e)
{
    struct ek_model_array arrays[EK_MODEL_ARRAYS_MAX];
    int count = ek_model_arrays(m, arrays);
    for (int i = 0; i < count; i++) {
        struct ek_tensor *t =
            ek_tensors_add(m->storage, arrays[i].name, EK_F32, arrays[i].dims, arrays[i].shape);
        if (!t)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        *arrays[i].at = t->data;
    }
    return EK_OK;
}

static int fill_new(struct ek_model *m, const struct ek_manifest *manifest,
                    const struct ek_model_shape *shape, struct ek_error *e)
{
    m->hidden_count = shape->hidden_count;
    for (int i = 0; i < shape->hidden_count && i < EK_LAYERS_MAX - 1; i++)
        m->hidden[i] = shape->hidden[i];
    m->gate_size = shape->gate_size;
    m->mask_input = shape->mask_input;
    m->list_free = shape->list_free;
    m->log_input = shape->log_input;
    m->transform = shape->transform;
    if (copy_features(m, manifest) || ek_tensors_new(&m->storage))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int code = ek_model_shape_check(m, EK_EUSAGE, e);
    return code ? code : add_arrays(m, e);
}

int ek_model_new(struct ek_model **out, const struct ek_manifest *manifest,
                 const struct ek_model_shape *shape, struct ek_error *e)
{
    struct ek_model *m = ek_calloc(1, sizeof *m);
    int code = m ? fill_new(m, manifest, shape, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (code) {
        ek_model_free(m);
        return code;
    }
    *out = m;
    return EK_OK;
}

static void free_names(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        ek_free(names[i]);
    ek_free(names);
}

static void free_features(struct ek_model *m)
{
    free_names(m->item_names, m->item_features);
    free_names(m->query_names, m->query_features);
    ek_free(m->routable);
    m->item_names = m->query_names = NULL;
    m->routable = NULL;
}

void ek_model_free(struct ek_model *m)
{
    if (!m)
        return;
    free_features(m);
    ek_trees_free(m->trees);
    ek_onnx_free(m->onnx);
    ek_free(m->trained.routed);
    ek_tensors_free(m->storage);
    ek_free(m);
}

static int check_names(const char *kind, char *const *names, int count,
                       const struct ek_feature **features, int desired, struct ek_error *e)
{
    for (int i = 0; i < count && i < desired; i++)
        if (strcmp(names[i], features[i]->name) != 0)
            return ek_fail(e, EK_ESTATE,
                           "%s feature %d is '%s' in the model but '%s' in the manifest", kind,
                           i + 1, names[i], features[i]->name);
    if (count != desired)
        return ek_fail(e, EK_ESTATE, "the model has %d %s features, the manifest %d", count, kind,
                       desired);
    return EK_OK;
}

bool ek_model_begins_as_ranker(const void *bytes, size_t length)
{
    return ek_trees_begins(bytes, length) || ek_onnx_begins(bytes, length);
}

const char *ek_model_library(const struct ek_model *m)
{
    return m->trees ? ek_tree_library_name(m->trees->library) : m->onnx ? "ONNX" : NULL;
}

struct ek_columns *ek_model_columns(const struct ek_model *m)
{
    return m->trees ? &m->trees->columns : m->onnx ? &m->onnx->columns : NULL;
}

static int bind_ranker(struct ek_model *m, const struct ek_manifest *manifest, struct ek_error *e)
{
    int code = ek_columns_bind(ek_model_columns(m), manifest, e);
    if (code)
        return code;
    free_features(m);
    return copy_features(m, manifest) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

int ek_model_require_network(const struct ek_model *m, const char *path, const char *purpose,
                             struct ek_error *e)
{
    if (!ek_model_library(m))
        return EK_OK;
    return ek_fail_at(e, EK_EUSAGE, path, 0, 0,
                      "%s a network of 'evenkeel train', and this is a model of %s", purpose,
                      ek_model_library(m));
}

int ek_model_check(struct ek_model *m, const struct ek_manifest *manifest, struct ek_error *e)
{
    if (ek_model_library(m))
        return bind_ranker(m, manifest, e);
    int code = check_names("item", m->item_names, m->item_features, manifest->item,
                           manifest->item_count, e);
    if (!code)
        code = check_names("query", m->query_names, m->query_features, manifest->query,
                           manifest->query_count, e);
    if (code)
        return code;
    for (int f = 0, k = 0; f < m->item_features; f++) {
        bool here = k < m->routable_count && m->routable[k] == f;
        bool there = manifest->routable_of_item[f] >= 0;
        if (here != there)
            return ek_fail(e, EK_ESTATE, "feature '%s' is %sroutable in the model but %s",
                           m->item_names[f], here ? "" : "not ",
                           there ? "routable in the manifest" : "not in the manifest");
        k += here;
    }
    return EK_OK;
}

int ek_model_routable(const struct ek_model *m, const char *name)
{
    for (int k = 0; k < m->routable_count; k++)
        if (!strcmp(m->item_names[m->routable[k]], name))
            return k;
    return -1;
}

void ek_model_agreement_write(const struct ek_model_agreement *f, struct ek_json_writer *w)
{
    ek_json_open(w, "agreement", '{');
    ek_json_add_count(w, "lists", f->lists);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        ek_json_open(w, ek_agreement_statistic_name((enum ek_agreement_statistic)i), '{');
        ek_json_add_real(w, "mean", f->mean[i]);
        ek_json_add_real(w, "sd", f->sd[i]);
        ek_json_close(w, '}');
    }
    ek_json_close(w, '}');
}

static int unusable(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "description has no usable 'agreement'");
}

static double number(yyjson_val *object, const char *key)
{
    yyjson_val *v = yyjson_obj_get(object, key);
    return yyjson_is_num(v) ? yyjson_get_num(v) : NAN;
}

int ek_model_agreement_read(yyjson_val *description, struct ek_model_agreement *out,
                            struct ek_error *e)
{
    yyjson_val *all = yyjson_obj_get(description, "agreement");
    struct ek_model_agreement f = {0};
    *out = f;
    if (!all)
        return EK_OK;
    yyjson_val *lists = yyjson_obj_get(all, "lists");
    if (!yyjson_is_int(lists) || yyjson_get_sint(lists) < 1)
        return unusable(e);
    f.lists = (uint64_t)yyjson_get_sint(lists);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        yyjson_val *figure =
            yyjson_obj_get(all, ek_agreement_statistic_name((enum ek_agreement_statistic)i));
        f.mean[i] = number(figure, "mean");
        f.sd[i] = number(figure, "sd");
        if (!(f.mean[i] >= ek_agreement_statistic_low((enum ek_agreement_statistic)i) &&
              f.mean[i] <= 1) ||
            !(f.sd[i] >= 0 && f.sd[i] <= 1))
            return unusable(e);
    }
    *out = f;
    return EK_OK;
}

const char *ek_agreement_statistic_name(enum ek_agreement_statistic f)
{
    static const char *const names[EK_AGREEMENT_STATISTICS] = {"tau", "ndcg@10", "top1"};
    return names[f];
}

double ek_agreement_statistic_low(enum ek_agreement_statistic f)
{
    return f == EK_AGREEMENT_TAU ? -1 : 0;
}
