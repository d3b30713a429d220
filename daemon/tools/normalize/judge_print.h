/* What the judge of scalings found (choose/judge.h): a table for people, JSON with everything.
 *
 * Owner: all is the caller's. One thread at a time.
 */
#ifndef EK_DAEMON_JUDGE_PRINT_H
#define EK_DAEMON_JUDGE_PRINT_H

#include "offline/scale/crossval.h"

#include <stdbool.h>
#include <stdio.h>

struct ek_judge_report {
    const struct ek_dataset *data;
    const struct ek_folds *folds;
    bool files; /* the parts are files as they were given */
    const struct ek_judge_options *options;
    const struct ek_judgement *of;
    int count;
    int against; /* whom the table tests each against by NDCG@1 */
};

/* EK_ENOMEM. */
int ek_judge_print(const struct ek_judge_report *r, FILE *to, struct ek_error *e);
/* {"lists":..,"methods":[{"method","columns","metrics","counted","folds","t_tests"}]}: metrics are
 * p@1 .. p@10, ndcg@1 .. ndcg@10, map, err; t_tests has the differences in NDCG@1 from each other
 * method. EK_ENOMEM. */
int ek_judge_print_json(const struct ek_judge_report *r, FILE *to, struct ek_error *e);

#endif
