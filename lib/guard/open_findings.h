/* Which changes are open: told and not yet over. A list that none of them concerns is clean as far
 * as anybody knows.
 *
 * Value type; starts as {0}. As many as the detector follows at once.
 */
#ifndef EK_GUARD_OPEN_FINDINGS_H
#define EK_GUARD_OPEN_FINDINGS_H

#include "detect/detector.h"

#include <stdbool.h>

struct ek_open_findings {
    int count;
    struct {
        int feature, cell;
    } entry[EK_EPISODES_MAX];
};

/* Takes what the detector tells. */
void ek_open_findings_take(struct ek_open_findings *o, const struct ek_finding *f);
/* Whether one is open in any of these cells. */
bool ek_open_findings_concern(const struct ek_open_findings *o, const int16_t *cells, int count);

#endif
