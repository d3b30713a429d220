/* Command line of `eval`. Strings are views of the arguments. */
#ifndef EK_DAEMON_TRAINING_EVAL_ARGS_H
#define EK_DAEMON_TRAINING_EVAL_ARGS_H

#include "daemon/files/list_input.h"

#include "offline/train/evaluate.h"

enum { EK_EVAL_FAULTS_MAX = 64, EK_EVAL_ARMS_MAX = 4096, EK_EVAL_METRIC_NAME = 24 };

struct ek_eval_args {
    const char *manifest, *metrics, *config; /* config: mapping of messages, or NULL */
    const char
        *output; /* with `has_teacher`: output path of the model with its agreement; NULL: none */
    struct ek_files model, data, reference, *open; /* open: receives further file names */
    const char *route, *route_per_source, *blank, *repair, *impute; /* NULL: not given */
    bool spread, by_arm, json;
    bool has_teacher; /* the data are messages; measure the agreement with their scores */
    bool labeled;     /* an option was given that needs labels */
    const char *fault[EK_EVAL_FAULTS_MAX];
    int fault_count;
    int sources; /* number of sources drawn for items; 0: only those of the messages */
    uint64_t seed;
    struct ek_evaluation evaluation; /* metrics to compute */
    char name[EK_EVALUATE_METRICS_MAX][EK_EVAL_METRIC_NAME];
    struct ek_error e;
};

/* Set *a from the options. Ends the program on --help and on a usage error. */
void ek_eval_parse(struct ek_eval_args *a, int argc, char **argv);

#endif
