/* The command line of `evenkeel eval`.
 *
 * Owner: the caller; texts are views of the arguments.
 */
#ifndef EK_DAEMON_TRAINING_EVAL_ARGS_H
#define EK_DAEMON_TRAINING_EVAL_ARGS_H

#include "daemon/files/list_input.h"

#include "offline/train/evaluate.h"

enum { EK_EVAL_FAULTS_MAX = 64, EK_EVAL_METRIC_NAME = 24 };

struct ek_eval_args {
    const char *manifest, *metrics, *config; /* config: of messages; NULL */
    const char *output; /* with `taught`: the model with what was measured; NULL */
    struct ek_files model, data, reference, *open; /* open: where further file names go */
    const char *route, *route_per_source, *blank, *repair, *impute; /* NULL: not given */
    bool spread, by_arm, json;
    bool taught;   /* the data are messages, and what is measured is fidelity to their scores */
    bool labelled; /* something was given that is of labels only */
    const char *fault[EK_EVAL_FAULTS_MAX];
    int fault_count;
    int sources; /* items get one of so many by chance; 0: none but what messages say */
    uint64_t seed;
    struct ek_evaluation evaluation; /* what to measure */
    char name[EK_EVALUATE_METRICS_MAX][EK_EVAL_METRIC_NAME];
    struct ek_error e;
};

/* Ends the program on a usage error, as argp does. */
void ek_eval_parse(struct ek_eval_args *a, int argc, char **argv);

#endif
