/* The key `fidelity` of a model's description; only model_read.c and model_write.c include it. */
#ifndef EK_DATA_MODEL_FIDELITY_H
#define EK_DATA_MODEL_FIDELITY_H

#include "base/error.h"
#include "assets/fidelity.h"
#include "base/json.h"
#include "yaml/json_parse.h"

/* Append the member `fidelity`. */
void ek_model_fidelity_write(const struct ek_fidelity *f, struct ek_json_writer *w);
/* From a description; lists 0 when it has none. EK_EFORMAT when it is not usable. */
int ek_model_fidelity_read(yyjson_val *description, struct ek_fidelity *out, struct ek_error *e);

#endif
