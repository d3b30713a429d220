/* evenkeel demo. */
#include "daemon/cli.h"

int ek_cmd_demo(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("demo", "not built yet");
}
