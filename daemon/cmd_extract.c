/* evenkeel extract: features of queries and texts. */
#include "daemon/cli.h"
#include "daemon/cli_parse.h"

static const struct argp ARGP = {.doc = "extract"};

int ek_cmd_extract(int argc, char **argv)
{
    ek_cli_parse(&ARGP, argc, argv, 0, NULL);
    return EK_EXIT_OK;
}
