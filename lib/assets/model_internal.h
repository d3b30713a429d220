/* Arrays and dimensions of a model (model.h), and names of its log inputs, shared by its
 * constructor (model.c) and its file format (model_file.c). */
#ifndef EK_ASSETS_MODEL_INTERNAL_H
#define EK_ASSETS_MODEL_INTERNAL_H

#include "assets/model.h"
#include "assets/tensors.h"
#include "base/json.h"
#include "yaml/json_parse.h"

/* One array of the model: its name in the file, the pointer to set, its shape. */
struct ek_model_array {
    char name[32];
    float **at;
    int dims;
    size_t shape[2];
    bool positive; /* a standard deviation */
    bool rising;   /* non-decreasing rows */
};

enum { EK_MODEL_ARRAYS_MAX = 2 * EK_LAYERS_MAX + 15, EK_MODEL_STATISTICS = 7 };

/* Set arrays [EK_MODEL_ARRAYS_MAX] to the arrays of a model with its dimensions set: names, shapes
 * and members. Return their number. The last EK_MODEL_STATISTICS are the training statistics. */
int ek_model_arrays(struct ek_model *m, struct ek_model_array *arrays);
/* Check the dimensions and set m->deep_inputs. Return 0, or `code` with a message. */
int ek_model_shape_check(struct ek_model *m, enum ek_code code, struct ek_error *e);

/* Return the name of a log input, a static string: "none", "routed" or "always". */
const char *ek_log_input_name(enum ek_log_input l);
/* Return the enum ek_log_input with this name, or -1. */
int ek_log_input_parse(const char *name);

#endif
