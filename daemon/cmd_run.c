/* evenkeel run. */
#include "daemon/cli.h"

int ek_cmd_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("run", "not built yet");
}
