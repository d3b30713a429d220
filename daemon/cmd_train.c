/* evenkeel train. */
#include "daemon/cli.h"

int ek_cmd_train(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return ek_cli_usage("train", "not built yet");
}
