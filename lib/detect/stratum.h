/* Which baseline stratum a list belongs to: the value of a segment dimension or of a query feature.
 */
#ifndef EK_DECIDE_STRATUM_H
#define EK_DECIDE_STRATUM_H

#include "schema/manifest.h"
#include "lists/list.h"

enum { EK_STRATUM_TEXT = 64 };

struct ek_stratum_field {
    const char *name;  /* NULL: one stratum */
    int query_feature; /* number, or -1 for a segment dimension */
};

struct ek_stratum_field ek_stratum_field_of(const struct ek_manifest *m, const char *name);
/* Name of the list's stratum; text NULL when it has none. `scratch` holds a rendered number. */
struct ek_text ek_stratum_name(const struct ek_stratum_field *field, const struct ek_query *q,
                               char scratch[EK_STRATUM_TEXT]);

#endif
