/* List from the arrays of a caller, without a message (struct ek_array_list of evenkeel.h). */
#ifndef EK_SERVE_LIST_VALUES_H
#define EK_SERVE_LIST_VALUES_H

#include "evenkeel.h"
#include "lists/list.h"
#include "schema/manifest.h"

/* Set `q` to the values, as the codec does for a message with them. Numbers are copied; strings are
 * not, and must stay valid as long as the list is used. Return 0, EK_EUSAGE with the name of the
 * invalid member, EK_ELIMIT or EK_ENOMEM; `q` is then undefined. */
int ek_list_set_values(struct ek_list *q, const struct ek_manifest *m,
                       const struct ek_array_list *l, struct ek_error *e);

#endif
