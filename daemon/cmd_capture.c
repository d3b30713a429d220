/* evenkeel capture. */
#include "daemon/cli.h"

int ek_cmd_capture(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("capture", "not built yet");
}
