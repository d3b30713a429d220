/* Output of `select`, as text or JSON. */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_PRINT_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_PRINT_H

#include "daemon/tools/select/select_crossval.h"

#include <stdio.h>

/* judged: NULL without training. Return 0 or EK_ENOMEM. */
int ek_selection_print(const struct ek_selection *s, const struct ek_select_args *a,
                       const struct ek_manifest *m, const struct ek_crossval_result *crossval,
                       FILE *to, struct ek_error *e);
int ek_selection_print_json(const struct ek_selection *s, const struct ek_select_args *a,
                            const struct ek_manifest *m, const struct ek_crossval_result *crossval,
                            FILE *to, struct ek_error *e);

#endif
