/* A word about a model that was trained under one routing and is scored under another. */
#ifndef EK_DAEMON_ROUTING_ADVICE_H
#define EK_DAEMON_ROUTING_ADVICE_H

#include "daemon/base/log.h"
#include "assets/model.h"

/* Says so, with the model's path in front, where ek_model_routing_advice has something to say:
 * as a warning into `log`, or on stderr when that is NULL. t: as there. */
void ek_routing_warn(const char *path, const struct ek_model *m, const struct ek_treatment *t,
                     struct ek_log *log);

#endif
