#include "daemon/base/program.h"

#include "base/parse.h"
#include "evenkeel.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 32 };

static const char TOOLS[] = "evenkeel-tools";
/* Relative to the folder of the running program. */
static const char *const TOOLS_FOLDERS[] = {"", "../libexec/evenkeel/"};

static int print_help(const struct ek_program *p, FILE *to)
{
    fprintf(to, "%s\n\nUsage: %s COMMAND [OPTION...]\n\nCommands:\n", p->about, p->name);
    for (int i = 0; i < p->command_count; i++) {
        const struct ek_command *c = &p->commands[i];
        if (c->group)
            fprintf(to, "\n %s\n", c->group);
        fprintf(to, "  %-10s %s\n", c->name, c->summary);
    }
    fprintf(to,
            "\nUse '%s COMMAND --help' for the options of a command, '%s --version' for the "
            "version.\n",
            p->name, p->name);
    return to == stdout ? EK_EXIT_OK : EK_EXIT_USAGE;
}

static int fail_unknown(const struct ek_program *p, const char *word)
{
    const char *names[COMMANDS_MAX];
    int count = p->command_count < COMMANDS_MAX ? p->command_count : COMMANDS_MAX;
    if (*word == '-')
        return ek_cli_usage(NULL, "expected a command before '%s'", word);
    for (int i = 0; i < count; i++)
        names[i] = p->commands[i].name;
    const char *near = ek_nearest_name(word, names, count);
    if (near)
        return ek_cli_usage(NULL, "unknown command '%s', did you mean '%s'?", word, near);
    return ek_cli_usage(NULL, "unknown command '%s'", word);
}

/* Exit with a failure if output was lost, even after success of the command. */
static void flush_output(void)
{
    int status = ek_cli_output_fault();
    if (status)
        _exit(status);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* Write the folder of the running program. Return false with errno if unknown. */
static bool find_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length < 0)
        return false;
    folder[length] = '\0';
    char *end = strrchr(folder, '/');
    if (end)
        *end = '\0';
    return true;
}

static int fail_tools(const char *command, const char *folder)
{
    struct ek_error e;
    if (errno == ENOENT)
        ek_fail(&e, EK_EIO, "no program '%s' in '%s'; '%s' needs the package %s", TOOLS, folder,
                command, TOOLS);
    else
        ek_fail(&e, EK_EIO, "cannot execute '%s': %s", TOOLS, strerror(errno));
    return ek_cli_fail(&e);
}

/* Replace this process by evenkeel-tools, with the same arguments. Look for it in the folder of the
 * running program, then in ../libexec/evenkeel. Return an exit status if it cannot be executed. */
static int exec_tools(char **argv)
{
    char folder[PATH_MAX] = "/proc/self", path[PATH_MAX + 64];
    size_t count = sizeof TOOLS_FOLDERS / sizeof *TOOLS_FOLDERS;
    bool searching = find_folder(folder, sizeof folder);
    for (size_t i = 0; searching && i < count; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, TOOLS_FOLDERS[i], TOOLS);
        argv[0] = path;
        execv(path, argv);
        searching = errno == ENOENT;
    }
    return fail_tools(argv[1], folder);
}

/* Run the command named argv[1]. Return an exit status. */
static int run(const struct ek_program *p, int argc, char **argv)
{
    char name[64];
    const struct ek_command *c = p->commands;
    while (c < p->commands + p->command_count && strcmp(c->name, argv[1]))
        c++;
    if (c == p->commands + p->command_count)
        return fail_unknown(p, argv[1]);
    if (!c->run)
        return exec_tools(argv);
    snprintf(name, sizeof name, "evenkeel %s", c->name);
    argv[1] = name;
    return c->run(argc - 1, argv + 1);
}

int ek_program_run(const struct ek_program *p, int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    atexit(flush_output);
    if (argc < 2)
        return print_help(p, stderr);
    if (is_one_of(argv[1], "--help", "-h", "-?"))
        return print_help(p, stdout);
    if (!strcmp(argv[1], "help")) {
        /* `evenkeel help gen` is `evenkeel generate --help`. */
        char option[] = "--help", *words[] = {argv[0], argc > 2 ? argv[2] : NULL, option, NULL};
        return argc > 2 ? run(p, 3, words) : print_help(p, stdout);
    }
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("%s %s\n", p->name, ek_version());
        return EK_EXIT_OK;
    }
    return run(p, argc, argv);
}
