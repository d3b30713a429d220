#include "daemon/base/background.h"

#include <errno.h>
#include <sys/resource.h>

/* A weight of 36 beside 1,024. More would leave no time for a probe on a machine that others keep
 * busy, and those that rank wait while this thread has a lock. */
enum { STEPS = 15 };

/* On Linux it is of the calling thread alone. What is too low is taken for the lowest. */
void ek_background(void)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (!errno)
        setpriority(PRIO_PROCESS, 0, now + STEPS);
}
