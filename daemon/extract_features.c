#include "daemon/extract_features.h"

#include "daemon/extract_args.h"

int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e)
{
    return ek_fail_at(e, EK_EUSAGE, a->queries, 0, 0, "features are not extracted yet");
}

int ek_extract_list(const struct ek_extract_args *a, struct ek_error *e)
{
    (void)a;
    return ek_fail(e, EK_EUSAGE, "features are not extracted yet");
}
