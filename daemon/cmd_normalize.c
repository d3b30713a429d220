/* evenkeel normalize: which transform fits each feature. */
#include "daemon/cli.h"
#include "daemon/cli_parse.h"

static const struct argp ARGP = {.doc = "normalize"};

int ek_cmd_normalize(int argc, char **argv)
{
    ek_cli_parse(&ARGP, argc, argv, 0, NULL);
    return EK_EXIT_OK;
}
