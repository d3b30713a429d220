/* Command line of `train`, and the thread pool of training. */
#ifndef EK_DAEMON_TRAINING_TRAIN_ARGS_H
#define EK_DAEMON_TRAINING_TRAIN_ARGS_H

#include "daemon/files/list_input.h"
#include "offline/train/training.h"

/* Thread pool that runs the numbered parts of a job together with the caller.
 *
 * ek_pool_free joins the threads. One job at a time; parts run in any order. Without threads the
 * caller runs all parts.
 */
struct ek_pool;

enum { EK_POOL_THREADS_MAX = 64 };

/* Create a pool. threads includes the caller: 1 starts none. Return NULL if out of memory. */
struct ek_pool *ek_pool_new(int threads);
void ek_pool_free(struct ek_pool *p);
/* Call task(arg, i) for i = 0 .. count-1 and wait for all. `p` may be NULL. */
void ek_pool_run(struct ek_pool *p, void (*task)(void *arg, int i), void *arg, int count);

/* Command line of `train`, completed by hints of the manifest.
 *
 * One table (train_args.c) has the name, text and parser of each option. Strings are views of the
 * arguments.
 */
struct ek_train_args {
    const char *manifest, *output, *routing, *config;
    struct ek_files train, vali, *open; /* open: receives further file names */
    struct ek_train_options options;
    bool log_input_given, loss_given, unrouted_given, scale_given, has_teacher, json;
    /* Options given on the command line; hints of the manifest replace the others. */
    bool hidden_given, epochs_given, rate_given, decay_given, batch_given;
    uint64_t threads;
    struct ek_error e;
};

/* Set *a to the defaults, then to the options. Ends the program on --help and on errors that do not
 * depend on the manifest. */
void ek_train_args_parse(struct ek_train_args *a, int argc, char **argv);
/* Apply the manifest's hints, and resolve the routed features in `routed`, which has room for K
 * indices and must outlive *a. Return 0, or EK_EUSAGE for an invalid routing. */
int ek_train_args_apply_manifest(struct ek_train_args *a, const struct ek_manifest *m, int *routed);

#endif
