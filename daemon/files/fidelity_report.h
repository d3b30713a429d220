/* How `train --teacher` and `eval --teacher` say how faithful a model is. */
#ifndef EK_DAEMON_FIDELITY_REPORT_H
#define EK_DAEMON_FIDELITY_REPORT_H

#include "assets/fidelity.h"

#include <stddef.h>
#include <stdio.h>

/* Lines for people. lists: how many there were, with those that say nothing. */
void ek_fidelity_print(const struct ek_fidelity *f, size_t lists, FILE *to);
/* A JSON object, without a line end. Figures are null when nothing was compared. */
void ek_fidelity_print_json(const struct ek_fidelity *f, FILE *to);

#endif
