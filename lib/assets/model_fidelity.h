/* The key `fidelity` of a model's description; only model_read.c and model_write.c include it. */
#ifndef EK_DATA_MODEL_FIDELITY_H
#define EK_DATA_MODEL_FIDELITY_H

#include "base/error.h"
#include "assets/fidelity.h"

#include <jansson.h>

/* A new object; NULL without memory. */
json_t *ek_model_fidelity_json(const struct ek_fidelity *f);
/* From a description; lists 0 when it has none. EK_EFORMAT when it is not usable. */
int ek_model_fidelity_read(const json_t *description, struct ek_fidelity *out, struct ek_error *e);

#endif
