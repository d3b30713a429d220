/* evenkeel replay. */
#include "daemon/cli.h"

int ek_cmd_replay(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("replay", "not built yet");
}
