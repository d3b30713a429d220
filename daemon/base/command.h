/* What all commands share: how they are called, how they report, how they show progress.
 *
 * Results go to stdout, chatter and progress to stderr. Exit: 0 ok, 1 run-time failure, 2 usage, 3
 * a finding (where that was asked for), 78 bad configuration. Who is stopped by a signal ends as
 * shells tell it, 128 and its number: 130 for Ctrl-C, 141 where nobody reads what is written.
 */
#ifndef EK_DAEMON_BASE_COMMAND_H
#define EK_DAEMON_BASE_COMMAND_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EK_EXIT_OK = 0,
    EK_EXIT_FAILURE = 1,
    EK_EXIT_USAGE = 2,
    EK_EXIT_FINDING = 3,
    EK_EXIT_CONFIG = 78,
    EK_EXIT_SIGNAL = 128, /* and the number of the signal */
    EK_EXIT_PIPE = EK_EXIT_SIGNAL + 13
};

/* One sub-command. argv[0] is "evenkeel NAME", as argp shows it. Returns an exit status. */
struct ek_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* NULL: a command of evenkeel-tools */
};
/* The commands of evenkeel-tools: COMMAND(name, summary) for each. */
#define EK_TOOLS_COMMANDS(COMMAND)                                                                 \
    COMMAND(generate, "synthetic traffic, with faults if wanted")                                  \
    COMMAND(convert, "LETOR lists to messages")                                                    \
    COMMAND(normalize, "which transform fits each feature")                                        \
    COMMAND(select, "which features to train on, and which to watch")                              \
    COMMAND(extract, "features of queries and texts")

/* Prints `evenkeel: file:line:col: message` and returns the exit status that fits its code. Says
 * nothing of a reader that has seen enough, as with `| head`. */
int ek_cli_fail(const struct ek_error *e);
/* The exit status of who was asked to end by a signal (0: was not) and would end with `status`. */
int ek_cli_stopped(int number, int status);
/* At the very end: sends out what stdout still has. 0, or the exit status when something of it did
 * not get through, which is then told likewise. */
int ek_cli_output_fault(void);
/* Makes any fault of a configuration, or of a file that it names, one of EK_ECONFIG: starting again
 * will not help. Memory that runs out and disks that fail stay what they are. Returns the code. */
int ek_cli_config_fault(struct ek_error *e);
/* Prints `evenkeel NAME: message`, a hint at --help, and returns EK_EXIT_USAGE. */
int ek_cli_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A bar on a terminal, a line every few seconds otherwise; on stderr. `total` 0: unknown. */
struct ek_progress {
    const char *label;
    bool terminal, shown;
    int64_t started_ms, last_ms;
};
void ek_progress_start(struct ek_progress *p, const char *label);
/* note: short text behind the bar ("validation NDCG@10 0.6152"), may be NULL. */
void ek_progress_update(struct ek_progress *p, uint64_t done, uint64_t total, const char *note);
void ek_progress_finish(struct ek_progress *p, const char *note);
/* The line of a bar, always shorter than `columns`: the bar gives way, then the note is cut.
 * seconds_left < 0: unknown. */
void ek_progress_line(char *line, size_t size, int columns, const char *label, double share,
                      double seconds_left, const char *note);

/* The sub-commands, each in its own cmd_NAME.c. */
int ek_cmd_run(int argc, char **argv);
int ek_cmd_profile(int argc, char **argv);
int ek_cmd_train(int argc, char **argv);
int ek_cmd_eval(int argc, char **argv);
int ek_cmd_replay(int argc, char **argv);
int ek_cmd_capture(int argc, char **argv);
int ek_cmd_inspect(int argc, char **argv);
int ek_cmd_check(int argc, char **argv);
int ek_cmd_generate(int argc, char **argv);
int ek_cmd_convert(int argc, char **argv);
int ek_cmd_export(int argc, char **argv);
int ek_cmd_demo(int argc, char **argv);
int ek_cmd_status(int argc, char **argv);
int ek_cmd_impact(int argc, char **argv);
int ek_cmd_history(int argc, char **argv);
int ek_cmd_reload(int argc, char **argv);
int ek_cmd_pause(int argc, char **argv);
int ek_cmd_resume(int argc, char **argv);
int ek_cmd_accept(int argc, char **argv);
int ek_cmd_revert(int argc, char **argv);
int ek_cmd_pin(int argc, char **argv);
int ek_cmd_unpin(int argc, char **argv);
int ek_cmd_normalize(int argc, char **argv);
int ek_cmd_select(int argc, char **argv);
int ek_cmd_extract(int argc, char **argv);

#endif
