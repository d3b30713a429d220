/* Contents of profiles and models, printed by `evenkeel inspect` as tables and histograms or as
 * JSON. */
#ifndef EK_DAEMON_COMMANDS_INSPECT_H
#define EK_DAEMON_COMMANDS_INSPECT_H

#include "assets/model.h"
#include "assets/profile.h"

#include <stdio.h>

enum ek_inspect_form { EK_INSPECT_TABLE, EK_INSPECT_JSON };

/* Print the contents of a profile to `to`. Return 0 or EK_ENOMEM. */
int ek_inspect_profile(const struct ek_profile *p, enum ek_inspect_form form, FILE *to);
/* Print the contents of a model to `to`. Return 0 or EK_ENOMEM. */
int ek_inspect_model(const struct ek_model *m, enum ek_inspect_form form, FILE *to);

#endif
