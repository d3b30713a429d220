/* Messages about models: a warning for a model trained with other routes than those it is scored
 * with, and the agreement with the upstream scorer for `train --teacher` and `eval --teacher`. */
#ifndef EK_DAEMON_FILES_ROUTING_WARNING_H
#define EK_DAEMON_FILES_ROUTING_WARNING_H

#include "assets/model.h"
#include "daemon/base/log.h"

#include <stddef.h>
#include <stdio.h>

/* Report the text of ek_model_routing_warning, if any, with the model's path: as a warning in
 * `log`, or on stderr if it is NULL. t: treatments that the model is scored with, as for
 * ek_model_routing_warning. */
void ek_routing_warn(const char *path, const struct ek_model *m, const struct ek_treatment *t,
                     struct ek_log *log);

/* Print the agreement of a model with the upstream scorer as text. lists: number of lists,
 * including those without information. */
void ek_routing_agreement_print(const struct ek_model_agreement *f, size_t lists, FILE *to);
/* Print the agreement as a JSON object without a newline. Statistics are null if no list was
 * compared. */
void ek_routing_agreement_print_json(const struct ek_model_agreement *f, FILE *to);

#endif
