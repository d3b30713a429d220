/* A few threads that run the numbered parts of one job together with the caller.
 *
 * Owner: ek_pool_free joins the threads. One job at a time; parts may run in any order. Without
 * threads (or when none could be started) the caller does all the work.
 */
#ifndef EK_DAEMON_TRAINING_TRAIN_ARGS_H
#define EK_DAEMON_TRAINING_TRAIN_ARGS_H

#include "daemon/files/list_input.h"
#include "offline/train/training.h"

struct ek_pool;

enum { EK_POOL_THREADS_MAX = 64 };

/* `threads` counts the caller: 1 starts none. NULL without memory. */
struct ek_pool *ek_pool_new(int threads);
void ek_pool_free(struct ek_pool *p);
/* task(arg, i) for i = 0 .. count-1; returns when all are done. `p` may be NULL. */
void ek_pool_run(struct ek_pool *p, void (*task)(void *arg, int i), void *arg, int count);

/* The command line of `evenkeel train`, and what a manifest adds to it.
 *
 * One table (train_args.c) says of each option its name, its text and the function that takes it: a
 * new option is one function and one row. Owner: the caller; texts are views of the arguments.
 */
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
int ek_train_args_apply_manifest(struct ek_train_args *a, const struct ek_manifest *m, int *routed);

#endif
