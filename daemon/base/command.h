/* Commands of the program: conventions for exit statuses, errors and progress, the list of all
 * commands, and their dispatch.
 *
 * Results go to stdout, messages and progress to stderr. Exit status: 0 success, 1 failure, 2 usage
 * error, 3 finding (if requested), 78 invalid configuration, 128 + signal if stopped by a signal:
 * 130 for Ctrl-C, 141 if the reader of stdout has closed it.
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
    EK_EXIT_SIGNAL = 128, /* + number of the signal */
    EK_EXIT_PIPE = EK_EXIT_SIGNAL + 13
};

/* Subcommand. run: returns an exit status; argv[0] is "evenkeel NAME", for argp. */
struct ek_command {
    const char *name, *summary;        /* summary: imperative */
    const char *group;                 /* task, as a heading; NULL: that of the command before */
    int (*run)(int argc, char **argv); /* NULL: a command of evenkeel-tools */
};
/* Commands of evenkeel-tools: COMMAND(name, summary, group) for each. */
#define EK_TOOLS_COMMANDS(COMMAND)                                                                 \
    COMMAND(generate, "Generate synthetic traffic, optionally with faults", "Prepare data")        \
    COMMAND(convert, "Convert LETOR lists to messages", NULL)                                      \
    COMMAND(normalize, "Select a transform for each feature", NULL)                                \
    COMMAND(select, "Select features to train on, or to watch", NULL)                              \
    COMMAND(extract, "Compute features of queries and texts", NULL)

/* Print `evenkeel: file:line:col: message` and return the exit status of the error. Print nothing
 * if the reader of stdout has closed it (`| head`). */
int ek_cli_fail(const struct ek_error *e);
/* Return the exit status after signal `number`: 128 + number. Return `status` if it is 0 or
 * `number` is 0. */
int ek_cli_stopped(int number, int status);
/* Change the code of an error in a configuration or a file that it names to EK_ECONFIG, since a
 * restart does not help. EK_ENOMEM, and EK_EIO unless of a path, stay. Return the code. */
int ek_cli_config_fault(struct ek_error *e);
/* Print `evenkeel NAME: message` with a hint at --help to stderr; command NULL: without NAME.
 * Return EK_EXIT_USAGE. */
int ek_cli_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Progress on stderr: a bar on a terminal, otherwise a line every five seconds. */
struct ek_progress {
    const char *label;
    bool terminal, shown;
    int64_t started_ms, last_ms;
};
/* Start the progress of a task, without output. `label` must outlive it. */
void ek_progress_start(struct ek_progress *p, const char *label);
/* Show `done` of `total`, as a bar on a terminal, else as a line now and then. total 0: unknown;
 * note: short text after the bar, such as "validation NDCG@10 0.6152"; may be NULL. */
void ek_progress_update(struct ek_progress *p, uint64_t done, uint64_t total, const char *note);
/* Show the last state and end the line. note: as in ek_progress_update. */
void ek_progress_finish(struct ek_progress *p, const char *note);
/* Write the line of a bar, shorter than `columns`: the bar is omitted first, then the note is cut.
 * seconds_left < 0: unknown. */
void ek_progress_line(char *line, size_t size, int columns, const char *label, double share,
                      double seconds_left, const char *note);

/* Run the stage of a configuration. argv[0] is the name of the subcommand. Return an exit status.
 */
int ek_cmd_run(int argc, char **argv);
/* Watch a topic against a learned baseline. Return an exit status. */
int ek_cmd_watch(int argc, char **argv);
/* Fit a profile to training lists, or merge profiles. Return an exit status. */
int ek_cmd_profile(int argc, char **argv);
/* Train a routable model. Return an exit status. */
int ek_cmd_train(int argc, char **argv);
/* Measure the ranking quality of a model under faults and mitigations. Return an exit status. */
int ek_cmd_eval(int argc, char **argv);
/* Process recorded messages offline and print findings. Return an exit status. */
int ek_cmd_replay(int argc, char **argv);
/* Write a report of an instance or of recorded messages. Return an exit status. */
int ek_cmd_report(int argc, char **argv);
/* Write the messages of a topic to a capture file. Return an exit status. */
int ek_cmd_capture(int argc, char **argv);
/* Check the topics of a configuration, or create them. Return an exit status. */
int ek_cmd_topics(int argc, char **argv);
/* Print the contents of a file. Return an exit status. */
int ek_cmd_inspect(int argc, char **argv);
/* Validate files. Return an exit status. */
int ek_cmd_check(int argc, char **argv);
/* Generate synthetic lists. Return an exit status. */
int ek_cmd_generate(int argc, char **argv);
/* Convert lists between formats. Return an exit status. */
int ek_cmd_convert(int argc, char **argv);
/* Export a model to ONNX. Return an exit status. */
int ek_cmd_export(int argc, char **argv);
/* Run the demo with an embedded broker. Return an exit status. */
int ek_cmd_demo(int argc, char **argv);
/* Send a request to the HTTP API of a running instance and print the response. Return an exit
 * status. */
int ek_cmd_client(int argc, char **argv); /* status ... unpin */
/* Choose the normalization of features. Return an exit status. */
int ek_cmd_normalize(int argc, char **argv);
/* Select features. Return an exit status. */
int ek_cmd_select(int argc, char **argv);
/* Compute features of text collections. Return an exit status. */
int ek_cmd_extract(int argc, char **argv);

/* Program with subcommands: help, version and dispatch. */
struct ek_program {
    const char *name, *about;
    const struct ek_command *commands;
    int command_count;
};

/* Run the command that argv names, or print the help or the version. Return an exit status. */
int ek_program_run(const struct ek_program *p, int argc, char **argv);

#endif
