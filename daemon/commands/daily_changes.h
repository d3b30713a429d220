/* Changes that return at the same hours of another day, such as those of other users at night. A
 * learned baseline must know them. Value type, starts as zeros.
 */
#ifndef EK_DAEMON_COMMANDS_DAILY_CHANGES_H
#define EK_DAEMON_COMMANDS_DAILY_CHANGES_H

#include "detect/finding.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_DAILY_CHANGES = 64 }; /* remembered; a further one replaces the oldest */

struct ek_daily_changes {
    unsigned added;
    struct ek_past_change {
        int feature;
        enum ek_class class;
        int64_t since_ms, until_ms; /* until: since_ms while it is open */
    } change[EK_DAILY_CHANGES];
};

/* Remember a change of a feature from a time on. since_ms < 0: unknown; it is not remembered. */
void ek_daily_changes_add(struct ek_daily_changes *c, int feature, enum ek_class class,
                          int64_t since_ms);
/* Set the end of the newest change of a feature. Does nothing without one. */
void ek_daily_changes_end(struct ek_daily_changes *c, int feature, int64_t until_ms);
/* Return whether the feature had such a change at this hour of an earlier day, give or take two
 * hours. A change of more than 20 hours has no hours of its own. */
bool ek_daily_changes_has(const struct ek_daily_changes *c, int feature, enum ek_class class,
                          int64_t since_ms);

#endif
