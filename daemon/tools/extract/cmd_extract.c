/* evenkeel extract: features of queries and texts. */
#include "daemon/base/cli.h"
#include "daemon/tools/extract/extract_args.h"
#include "daemon/tools/extract/extract_features.h"
#include "daemon/tools/extract/extract_index.h"

int ek_cmd_extract(int argc, char **argv)
{
    struct ek_extract_args a;
    int rc = EK_OK;
    ek_extract_args_parse(&a, argc, argv);
    if (a.list)
        rc = ek_extract_list(&a, &a.e);
    if (!rc && !a.list && a.collection.count)
        rc = ek_extract_index(&a, &a.e);
    if (!rc && !a.list && a.queries)
        rc = ek_extract_features(&a, &a.e);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
