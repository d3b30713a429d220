/* evenkeel select: which features to train on, and which to watch. */
#include "daemon/cli.h"
#include "daemon/cli_parse.h"

static const struct argp ARGP = {.doc = "select"};

int ek_cmd_select(int argc, char **argv)
{
    ek_cli_parse(&ARGP, argc, argv, 0, NULL);
    return EK_EXIT_OK;
}
