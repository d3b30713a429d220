/* The command line of `evenkeel train`, and what a manifest adds to it.
 *
 * One table (train_args.c) says of each option its name, its text and the function that takes it: a
 * new option is one function and one row. Owner: the caller; texts are views of the arguments.
 */
#ifndef EK_DAEMON_TRAIN_ARGS_H
#define EK_DAEMON_TRAIN_ARGS_H

#include "daemon/files/ranking_args.h"
#include "offline/train/training.h"

struct ek_train_args {
    const char *manifest, *output, *routing, *config;
    struct ek_files train, vali, *open; /* open: where further file names go */
    struct ek_train_options options;
    bool log_input_given, loss_given, taught, json;
    /* What was given on the command line; the manifest's hints fill the rest. */
    bool hidden_given, epochs_given, rate_given, decay_given, batch_given;
    uint64_t threads;
    struct ek_error e;
};

/* Fills `a` with the defaults, then with the command line. Ends the program, as argp does, on
 * --help and on words that are wrong whatever the manifest says. */
void ek_train_args_parse(struct ek_train_args *a, int argc, char **argv);
/* The rest of the options, for which the manifest is needed: its hints, and who is routed.
 * `routed` has room for K numbers. EK_EUSAGE. */
int ek_train_args_settle(struct ek_train_args *a, const struct ek_manifest *m, int *routed);

#endif
