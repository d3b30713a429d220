#include "daemon/config/instance.h"

#include <stdio.h>
#include <sys/random.h>

enum { RANDOM_BYTES = 8 };

int ek_instance_name(const struct ek_config *c, char name[EK_INSTANCE_BYTES], struct ek_error *e)
{
    unsigned char random[RANDOM_BYTES];
    if (c->instance) {
        snprintf(name, EK_INSTANCE_BYTES, "%s", c->instance);
        return EK_OK;
    }
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return ek_fail(e, EK_EIO, "no random name for this instance; set 'service.instance'");
    for (int i = 0; i < RANDOM_BYTES; i++)
        snprintf(name + 2 * i, 3, "%02x", random[i]);
    return EK_OK;
}

uint64_t ek_instance_salt(void)
{
    uint64_t random = 0;
    return getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random ? random : 0;
}
