/* evenkeel check. */
#include "daemon/cli.h"

int ek_cmd_check(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("check", "not built yet");
}
