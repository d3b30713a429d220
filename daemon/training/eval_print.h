/* Result of `eval`, as text or JSON. */
#ifndef EK_DAEMON_TRAINING_EVAL_PRINT_H
#define EK_DAEMON_TRAINING_EVAL_PRINT_H

#include "daemon/training/eval_args.h"

/* Shapes: V models, K routable features. */
struct ek_eval_result {
    size_t lists;
    struct ek_evaluation *of;       /* [V] */
    struct ek_treatment *treatment; /* [V, K] */
};

void ek_eval_print_text(const struct ek_eval_args *a, const struct ek_eval_result *r);
/* Return 0, or EK_ENOMEM without output. */
int ek_eval_print_json(struct ek_eval_args *a, const struct ek_manifest *m,
                       const struct ek_eval_result *r);

#endif
