/* Detection delay of a profile, measured on its own lists: lists until a factor is confirmed.
 *
 * A computed delay would ignore that a profile of few lists allows only little evidence per list.
 * One thread.
 */
#ifndef EK_DAEMON_COMMANDS_DETECTION_DELAY_H
#define EK_DAEMON_COMMANDS_DETECTION_DELAY_H

#include "assets/profile.h"
#include "daemon/commands/message_store.h"
#include "lists/codec.h"
#include "rules/rules.h"

/* Lists, and means to read and to monitor them. */
struct ek_monitored_lists {
    struct ek_message_store *store;
    const struct ek_codec *codec;
    const struct ek_manifest *manifest;
    const struct ek_profile *profile;
    const struct ek_rules *rules;
};

/* Set *lists to the median of up to five features of the number of lists with all values
 * multiplied by `factor` until a finding is confirmed; 0: not within 500 lists. Return 0, EK_EIO
 * or EK_ENOMEM. */
int ek_detection_delay(const struct ek_monitored_lists *m, float factor, int *lists,
                       struct ek_error *e);

#endif
