/* The judge on the methods of choose/method.h: a method learns on the training part of a fold, as
 * osm does on the validation part too, and scales all three. Missing values are 0 afterwards.
 *
 * Owner: the caller. Threads: read-only, so that folds may be scaled at the same time.
 */
#ifndef EK_CHOOSE_JUDGE_METHOD_H
#define EK_CHOOSE_JUDGE_METHOD_H

#include "offline/scale/judge.h"
#include "offline/scale/method.h"

struct ek_judge_method {
    enum ek_method method;
    struct ek_osm_options osm; /* without progress: several folds may be at work */
};

/* How the judge calls it; `m` must live as long. */
struct ek_judged ek_judge_of_method(struct ek_judge_method *m);

#endif
