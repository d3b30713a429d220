/* Private part of a model: only model.c and model_file.c include it. */
#ifndef EK_ASSETS_MODEL_INTERNAL_H
#define EK_ASSETS_MODEL_INTERNAL_H

#include "assets/model.h"
#include "assets/tensors.h"
#include "base/json.h"
#include "yaml/json_parse.h"

/* One array of the model: its name in the file, where its pointer goes, its shape. */
struct ek_model_array {
    char name[32];
    float **at;
    int dims;
    size_t shape[2];
    bool positive; /* a standard deviation */
    bool rising;   /* rows that never fall */
};

enum { EK_MODEL_ARRAYS_MAX = 2 * EK_LAYERS_MAX + 15, EK_MODEL_STATISTICS = 7 };

/* The arrays of a model whose numbers (F, M, K, L, hidden, ...) are set. Returns how many. The last
 * EK_MODEL_STATISTICS are the training statistics. */
int ek_model_arrays(struct ek_model *m, struct ek_model_array *arrays);
/* Checks the numbers against their bounds and sets deep_inputs. */
int ek_model_shape_check(struct ek_model *m, enum ek_code code, struct ek_error *e);

const char *ek_log_input_name(enum ek_log_input l);
int ek_log_input_parse(const char *name);

#endif
