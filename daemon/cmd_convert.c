/* evenkeel convert. */
#include "daemon/cli.h"

int ek_cmd_convert(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("convert", "not built yet");
}
