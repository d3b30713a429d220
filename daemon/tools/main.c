/* evenkeel-tools: the commands that prepare data and choose features. */
#include "daemon/base/program.h"

#define COMMAND(name, summary) {#name, summary, ek_cmd_##name},

static const struct ek_command COMMANDS[] = {EK_TOOLS_COMMANDS(COMMAND)};

int main(int argc, char **argv)
{
    static const struct ek_program TOOLS = {
        "evenkeel-tools", "evenkeel-tools prepares data for evenkeel and chooses features.",
        COMMANDS, sizeof COMMANDS / sizeof *COMMANDS};
    return ek_program_run(&TOOLS, argc, argv);
}
