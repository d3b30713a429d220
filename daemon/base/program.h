/* Program with subcommands: help, version and dispatch. */
#ifndef EK_DAEMON_BASE_PROGRAM_H
#define EK_DAEMON_BASE_PROGRAM_H

#include "daemon/base/command.h"

struct ek_program {
    const char *name, *about;
    const struct ek_command *commands;
    int command_count;
};

/* Run the command that argv names, or print the help or the version. Return an exit status. */
int ek_program_run(const struct ek_program *p, int argc, char **argv);

#endif
