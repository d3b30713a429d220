/* What `evenkeel eval` does about faults: the treatments of the scorer, and changes to the data.
 *
 * Shapes: K routable features, Q lists. Owner: the caller, ek_mitigation_release.
 */
#ifndef EK_DAEMON_TRAINING_EVAL_MITIGATION_H
#define EK_DAEMON_TRAINING_EVAL_MITIGATION_H

#include "daemon/training/eval_args.h"

enum { EK_EVAL_ARMS_MAX = 4096 };

struct ek_mitigation {
    struct ek_treatment *treatment; /* [K] */
    int *repair, repair_count;      /* item numbers */
    int *fill, fill_count;
    int *arm, arms; /* [Q], NULL while no fault has arms; arms >= 1 */
};

/* From the words of the command line. EK_EUSAGE for features that are unknown, cannot be treated
 * so, or are treated twice; EK_ENOMEM. `c` can be released in any case. */
int ek_mitigation_parse(struct ek_mitigation *c, const struct ek_manifest *m,
                        struct ek_eval_args *a);
void ek_mitigation_release(struct ek_mitigation *c);

/* Gives items their sources, puts the faults of the command line into the data, and notes the arm
 * of each list. */
int ek_mitigation_apply_fault(struct ek_mitigation *c, const struct ek_manifest *m,
                              struct ek_dataset *d, struct ek_eval_args *a);
/* Reads the reference and repairs; nothing without --repair. */
int ek_mitigation_repair(const struct ek_mitigation *c, const struct ek_manifest *m,
                         struct ek_dataset *d, struct ek_eval_args *a);
/* What depends on the model: fills in its medians, and takes the spread ratios of what is routed
 * into treatment [K]. */
void ek_mitigation_from_model(const struct ek_mitigation *c, const struct ek_model *model,
                              struct ek_dataset *d, bool spread, struct ek_treatment *treatment);

#endif
