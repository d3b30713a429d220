/* Mitigations of `eval`: treatments of the scorer, and changes of the data.
 *
 * Shapes: K routable features, Q lists. Release with ek_mitigation_release.
 */
#ifndef EK_DAEMON_TRAINING_EVAL_MITIGATION_H
#define EK_DAEMON_TRAINING_EVAL_MITIGATION_H

#include "daemon/training/eval_args.h"

enum { EK_EVAL_ARMS_MAX = 4096 };

struct ek_mitigation {
    struct ek_treatment *treatment; /* [K] */
    int *repair, repair_count;      /* item indices */
    int *fill, fill_count;
    int *arm, arms; /* [Q]; NULL without a fault in arms; arms >= 1 */
};

/* Parse the options. Return 0, EK_ENOMEM, or EK_EUSAGE for a feature that is unknown, a duplicate
 * or cannot be treated so. Release `c` in any case. */
int ek_mitigation_parse(struct ek_mitigation *c, const struct ek_manifest *m,
                        struct ek_eval_args *a);
void ek_mitigation_release(struct ek_mitigation *c);

/* Draw the sources of items, apply the faults to the data, and set the arm of each list. */
int ek_mitigation_apply_fault(struct ek_mitigation *c, const struct ek_manifest *m,
                              struct ek_dataset *d, struct ek_eval_args *a);
/* Read the reference and repair; no effect without --repair. */
int ek_mitigation_repair(const struct ek_mitigation *c, const struct ek_manifest *m,
                         struct ek_dataset *d, struct ek_eval_args *a);
/* Impute with the model's medians, and set treatment [K] with its spread ratios. */
void ek_mitigation_from_model(const struct ek_mitigation *c, const struct ek_model *model,
                              struct ek_dataset *d, bool spread, struct ek_treatment *treatment);

#endif
