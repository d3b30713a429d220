#include "daemon/base/process.h"

#include "base/error.h"
#include "base/portable.h"
#include "daemon/base/metrics.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#if !EK_PORTABLE
#include <sys/prctl.h>
#endif

static double to_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double cpu_seconds(void)
{
    struct rusage used;
    return getrusage(RUSAGE_SELF, &used) ? (double)NAN
                                         : to_seconds(used.ru_utime) + to_seconds(used.ru_stime);
}

/* Read the first line of a file; "" on failure. Return `line`. */
static const char *first_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, size, file))
        *line = '\0';
    if (file)
        fclose(file);
    return line;
}

/* Read memory sizes in bytes; NaN: unavailable. */
static void read_memory(double *total, double *resident, double *shared)
{
    char line[200];
    uint64_t pages[3];
    double page = (double)sysconf(_SC_PAGESIZE);
    *total = *resident = *shared = (double)NAN;
    if (sscanf(first_line("/proc/self/statm", line, sizeof line),
               "%" SCNu64 " %" SCNu64 " %" SCNu64, &pages[0], &pages[1], &pages[2]) != 3)
        return;
    *total = (double)pages[0] * page;
    *resident = (double)pages[1] * page;
    *shared = (double)pages[2] * page;
}

double ek_process_resident_bytes(void)
{
    double total, resident, shared;
    read_memory(&total, &resident, &shared);
    return resident - shared;
}

/* Return the number of open files, without the descriptor used here. */
static double open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    if (!folder)
        return (double)NAN;
    for (const struct dirent *e; (e = readdir(folder));)
        count += *e->d_name != '.';
    closedir(folder);
    return count - 1;
}

static double max_files(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) ? (double)NAN : (double)limit.rlim_cur;
}

#if EK_PORTABLE
static double start_time(void)
{
    return (double)NAN;
}
#else
/* Return the boot time in whole seconds, as in /proc/stat, which is not visible with
 * ProcSubset=pid. */
static double boot_time(void)
{
    struct timespec now, since;
    if (clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &since))
        return (double)NAN;
    return floor((double)(now.tv_sec - since.tv_sec) + (double)(now.tv_nsec - since.tv_nsec) / 1e9);
}

/* Return the start time, which /proc/self/stat has in ticks since boot. The process name may
 * contain spaces and brackets, so fields are counted from the last bracket, before the third field.
 */
static double start_time(void)
{
    enum { FIRST = 3, START = 22 };
    char line[1024];
    char *at = strrchr(first_line("/proc/self/stat", line, sizeof line), ')');
    uint64_t ticks = 0;
    at = at ? at + 1 : NULL;
    for (int field = FIRST; at && field < START; field++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, " %" SCNu64, &ticks) != 1)
        return (double)NAN;
    return boot_time() + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}
#endif

int ek_process_metrics(struct ek_buf *out)
{
    double total, resident, shared;
    read_memory(&total, &resident, &shared);
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"process_cpu_seconds_total", cpu_seconds()},
        {"process_resident_memory_bytes", resident},
        {"process_virtual_memory_bytes", total},
        {"process_open_fds", open_files()},
        {"process_max_fds", max_files()},
        {"process_start_time_seconds", start_time()},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (isfinite(all[i].value))
            ek_metrics_single(all[i].name, all[i].value, out);
    return out->rc;
}

#if EK_PORTABLE
/* setpriority would slow down scoring, too. */
void ek_lower_priority(void)
{
}
#else
/* Nice level with scheduler weight 36 of 1,024. A higher one would starve health probes on a busy
 * host, and scoring threads wait for locks that this thread holds. */
enum { STEPS = 15 };

/* On Linux, setpriority with PID 0 concerns only the calling thread; values are clamped. */
void ek_lower_priority(void)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (!errno)
        setpriority(PRIO_PROCESS, 0, now + STEPS);
}
#endif

int ek_raise_fd_limit(const char *key, int64_t connections, struct ek_error *e)
{
    struct rlimit now;
    rlim_t desired = (rlim_t)connections + EK_FILES_RETAINED;
    if (getrlimit(RLIMIT_NOFILE, &now) || desired <= now.rlim_cur)
        return EK_OK;
    struct rlimit more = {desired, now.rlim_max};
    if (desired <= now.rlim_max && !setrlimit(RLIMIT_NOFILE, &more))
        return EK_OK;
    return ek_fail(e, EK_ECONFIG,
                   "'%s': %" PRId64 " connections and %d other files exceed the limit of %llu open "
                   "files; raise it (ulimit -n)",
                   key, connections, EK_FILES_RETAINED, (unsigned long long)now.rlim_max);
}

#if EK_PORTABLE
/* Only systemd has such an address. */
bool ek_sd_notify(const char *address, const char *state)
{
    (void)address;
    (void)state;
    return false;
}
#else
/* Fill a socket address. Return its length, or 0 if the address is invalid or too long. */
static socklen_t fill(struct sockaddr_un *to, const char *address)
{
    size_t length = strlen(address);
    if (length < 2 || length >= sizeof to->sun_path || (*address != '/' && *address != '@'))
        return 0;
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    memcpy(to->sun_path, address, length);
    if (*address == '@')
        to->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

bool ek_sd_notify(const char *address, const char *state)
{
    struct sockaddr_un to;
    socklen_t size = address ? fill(&to, address) : 0;
    int fd = size ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return false;
    size_t length = strlen(state);
    ssize_t sent = sendto(fd, state, length, MSG_NOSIGNAL, (const struct sockaddr *)&to, size);
    close(fd);
    return sent == (ssize_t)length;
}
#endif

static const char *const NAMES[] = {
    "sasl.password",
    "sasl.jaas.config",
    "sasl.kerberos.kinit.cmd", /* may contain a password */
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
};
static const char *const WORDS[] = {"password", "passphrase", "secret", "jaas", "key.pem", "token"};

bool ek_secret_name(const char *property)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(NAMES[i], property))
            return true;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strstr(property, WORDS[i]))
            return true;
    return false;
}

#if EK_PORTABLE
void ek_secret_protect(void)
{
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
}
#else
void ek_secret_protect(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}
#endif
