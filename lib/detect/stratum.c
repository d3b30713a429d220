#include "detect/stratum.h"

#include <stdio.h>

struct ek_stratum_field ek_stratum_field_of(const struct ek_manifest *m, const char *name)
{
    return (struct ek_stratum_field){name, name ? ek_manifest_query(m, name) : -1};
}

struct ek_text ek_stratum_name(const struct ek_stratum_field *field, const struct ek_query *q,
                               char scratch[EK_STRATUM_TEXT])
{
    if (!field->name)
        return (struct ek_text){NULL, 0};
    if (field->query_feature < 0)
        return ek_query_segment(q, field->name);
    int length = snprintf(scratch, EK_STRATUM_TEXT, "%.9g", (double)q->query[field->query_feature]);
    return (struct ek_text){scratch, (size_t)length};
}
