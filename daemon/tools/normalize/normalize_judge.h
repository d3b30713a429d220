/* evenkeel normalize --judge: which way of scaling ranks best on given lists, by a linear ranker
 * over five folds (choose/judge.h).
 *
 * Five files are the five parts, as they are; any other number is read as one and cut into five.
 * Owner: all is the caller's. Threads: one calls; as many as there are processors work.
 */
#ifndef EK_DAEMON_NORMALIZE_JUDGE_H
#define EK_DAEMON_NORMALIZE_JUDGE_H

#include "daemon/files/ranking_args.h"

#include "score/metrics.h"

#include <stdbool.h>

/* methods: names with commas between, NULL for all. Prints to standard output. EK_EUSAGE for an
 * unknown name, or one that comes twice; what reading and the judge fail with. */
int ek_normalize_judge(const struct ek_files *letor, const struct ek_manifest *m,
                       const char *methods, enum ek_empty empty, bool json, struct ek_error *e);

#endif
