/* evenkeel inspect. */
#include "daemon/cli.h"

int ek_cmd_inspect(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("inspect", "not built yet");
}
