/* evenkeel profile. */
#include "daemon/cli.h"

int ek_cmd_profile(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("profile", "not built yet");
}
