/* A word about a model that was trained under one routing and is scored under another. */
#ifndef EK_DAEMON_FILES_ROUTING_WARNING_H
#define EK_DAEMON_FILES_ROUTING_WARNING_H

#include "assets/model.h"
#include "daemon/base/log.h"

#include <stddef.h>
#include <stdio.h>

/* Says so, with the model's path in front, where ek_model_routing_warning has something to say:
 * as a warning into `log`, or on stderr when that is NULL. t: as there. */
void ek_routing_warn(const char *path, const struct ek_model *m, const struct ek_treatment *t,
                     struct ek_log *log);

/* How `train --teacher` and `eval --teacher` say how faithful a model is. */
/* Lines for people. lists: how many there were, with those that say nothing. */
void ek_routing_agreement_print(const struct ek_model_agreement *f, size_t lists, FILE *to);
/* A JSON object, without a line end. Figures are null when nothing was compared. */
void ek_routing_agreement_print_json(const struct ek_model_agreement *f, FILE *to);

#endif
