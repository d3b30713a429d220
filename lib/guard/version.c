#include "evenkeel.h"

#ifndef EK_VERSION
#error "the build names the version"
#endif

const char *ek_version(void)
{
    return EK_VERSION;
}
