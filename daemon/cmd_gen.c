/* evenkeel gen. */
#include "daemon/cli.h"

int ek_cmd_gen(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("gen", "not built yet");
}
