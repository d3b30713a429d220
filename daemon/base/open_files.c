#include "daemon/base/open_files.h"

#include <inttypes.h>
#include <sys/resource.h>

int ek_open_files(const char *key, int64_t connections, struct ek_error *e)
{
    struct rlimit now;
    rlim_t wanted = (rlim_t)connections + EK_FILES_KEPT;
    if (getrlimit(RLIMIT_NOFILE, &now) || wanted <= now.rlim_cur)
        return EK_OK;
    struct rlimit more = {wanted, now.rlim_max};
    if (wanted <= now.rlim_max && !setrlimit(RLIMIT_NOFILE, &more))
        return EK_OK;
    return ek_fail(e, EK_ECONFIG,
                   "'%s': %" PRId64 " connections, and %d files for all else, are more than the "
                   "%llu that may be open (ulimit -n)",
                   key, connections, EK_FILES_KEPT, (unsigned long long)now.rlim_max);
}
