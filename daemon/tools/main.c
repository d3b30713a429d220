/* Program evenkeel-tools: commands that prepare data and select features. */
#include "daemon/base/command.h"

#define COMMAND(name, summary, group) {#name, summary, group, ek_cmd_##name},

static const struct ek_command COMMANDS[] = {EK_TOOLS_COMMANDS(COMMAND)};

int main(int argc, char **argv)
{
    static const struct ek_program TOOLS = {
        "evenkeel-tools", "evenkeel-tools prepares data for evenkeel and selects features.",
        COMMANDS, sizeof COMMANDS / sizeof *COMMANDS};
    return ek_program_run(&TOOLS, argc, argv);
}
