/* What this instance has for itself: a name that among those of its group no other has at the same
 * time, and a number that nobody else knows. */
#ifndef EK_DAEMON_CONFIG_INSTANCE_H
#define EK_DAEMON_CONFIG_INSTANCE_H

#include "base/error.h"
#include "daemon/config/config.h"

enum {
    EK_INSTANCE_BYTES = 200,
    EK_GROUP_BYTES_MAX = 255,
    EK_TRANSACTIONAL_ID_BYTES = sizeof "evenkeel--" + EK_GROUP_BYTES_MAX + EK_INSTANCE_BYTES
};

/* What `service.instance` says, which is shorter than that, else one that nobody has had. EK_EIO
 * without randomness. */
int ek_instance_name(const struct ek_config *c, char name[EK_INSTANCE_BYTES], struct ek_error *e);

/* For what others must not foresee: a new one each time. 0 without randomness. */
uint64_t ek_instance_salt(void);

#endif
