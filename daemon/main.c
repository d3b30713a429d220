/* evenkeel: dispatch to the sub-commands. */
#include "daemon/base/cli.h"

#include "base/parse.h"
#include "evenkeel.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ek_command COMMANDS[] = {
    {"run", "watch a topic and keep its rankings on an even keel", ek_cmd_run},
    {"demo", "the whole story in a minute, on an embedded broker", ek_cmd_demo},
    {"profile", "training data to a profile", ek_cmd_profile},
    {"train", "training data to a routable model", ek_cmd_train},
    {"eval", "ranking quality of a model, with faults if wanted", ek_cmd_eval},
    {"export", "a model for other runtimes", ek_cmd_export},
    {"replay", "recorded messages through the same guard, offline", ek_cmd_replay},
    {"capture", "a topic to a file", ek_cmd_capture},
    {"inspect", "what is in a profile, model or capture", ek_cmd_inspect},
    {"status", "how a running instance is doing", ek_cmd_status},
    {"ranks", "how far each route moves ranks, or would", ek_cmd_ranks},
    {"history", "what was decided, by whom and why", ek_cmd_history},
    {"reload", "let a running instance read its rules, profile and model again", ek_cmd_reload},
    {"pause", "let a running instance forward everything as it comes", ek_cmd_pause},
    {"resume", "end a pause", ek_cmd_resume},
    {"accept", "say that what a feature is like now is normal", ek_cmd_accept},
    {"revert", "take an accept back", ek_cmd_revert},
    {"pin", "settle what is done about a feature", ek_cmd_pin},
    {"unpin", "let findings decide again", ek_cmd_unpin},
    {"check", "is this manifest, rules, profile, model or configuration valid", ek_cmd_check},
    {"gen", "synthetic traffic, with faults if wanted", ek_cmd_gen},
    {"convert", "LETOR lists to messages", ek_cmd_convert},
    {"normalize", "which transform fits each feature", ek_cmd_normalize},
    {"select", "which features to train on, and which to watch", ek_cmd_select},
    {"extract", "features of queries and texts", ek_cmd_extract},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static int help(FILE *to)
{
    fputs("evenkeel keeps rankings on an even keel when the scale of a feature shifts.\n\n"
          "Usage: evenkeel COMMAND [OPTION...]\n\nCommands:\n",
          to);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    fputs("\n`evenkeel COMMAND --help` explains one; `evenkeel --version` tells the version.\n",
          to);
    return to == stdout ? EK_EXIT_OK : EK_EXIT_USAGE;
}

static int unknown(const char *word)
{
    if (*word == '-')
        return ek_cli_usage(NULL, "a command comes first, not '%s'", word);
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = COMMANDS[i].name;
    const char *near = ek_nearest_word(word, names, COMMAND_COUNT);
    if (near)
        return ek_cli_usage(NULL, "unknown command '%s', did you mean '%s'?", word, near);
    return ek_cli_usage(NULL, "unknown command '%s'", word);
}

/* What was asked for and did not reach anybody is a failure, whatever the command made of it. */
static void end_output(void)
{
    int status = ek_cli_output_fault();
    if (status)
        _exit(status);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

static const struct ek_command *find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, COMMANDS[i].name))
            return &COMMANDS[i];
    return NULL;
}

/* argv[0] is the name of the command. */
static int run(const struct ek_command *c, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "evenkeel %s", c->name);
    argv[0] = name;
    return c->run(argc, argv);
}

/* `evenkeel help gen` is `evenkeel gen --help`. */
static int help_on(const char *word)
{
    char option[] = "--help", *words[] = {NULL, option, NULL};
    const struct ek_command *c = find(word);
    return c ? run(c, 2, words) : unknown(word);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    atexit(end_output);
    if (argc < 2)
        return help(stderr);
    if (is_one_of(argv[1], "--help", "-h", "-?"))
        return help(stdout);
    if (!strcmp(argv[1], "help"))
        return argc > 2 ? help_on(argv[2]) : help(stdout);
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("evenkeel %s\n", ek_version());
        return EK_EXIT_OK;
    }
    const struct ek_command *c = find(argv[1]);
    return c ? run(c, argc - 1, argv + 1) : unknown(argv[1]);
}
