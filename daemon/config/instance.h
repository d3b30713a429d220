/* Identity of an instance: a name that is unique in its consumer group, and random numbers from the
 * kernel. Threads: any. */
#ifndef EK_DAEMON_CONFIG_INSTANCE_H
#define EK_DAEMON_CONFIG_INSTANCE_H

#include "base/error.h"
#include "daemon/config/config.h"

enum {
    EK_INSTANCE_BYTES = 200,
    EK_GROUP_BYTES_MAX = 255,
    EK_TRANSACTIONAL_ID_BYTES = sizeof "evenkeel-255--" + EK_GROUP_BYTES_MAX + EK_INSTANCE_BYTES
};

/* Write `service.instance`, or a new unique name. Return 0, or EK_EIO if no random numbers are
 * available. */
int ek_instance_name(const struct ek_config *c, char name[EK_INSTANCE_BYTES], struct ek_error *e);

/* Return a new unpredictable number, or 0 if none is available. */
uint64_t ek_instance_salt(void);

#endif
