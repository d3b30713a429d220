/* evenkeel eval. */
#include "daemon/cli.h"

int ek_cmd_eval(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("eval", "not built yet");
}
