/* Allocation-failure sweep over the whole program, libraries included.
 *
 * Linked into a copy of the program, with malloc and its like in place of the C library's. EK_SWEEP
 * names a folder for the output of runs; EK_SWEEP_FILES lists the files that the command writes,
 * separated by blanks. The process forks before main. A first child records the locations that
 * allocate. For each location, one child then fails its first call there, and another its last.
 * Each child must exit in one of two ways:
 *   - like the first child, with the same output: the allocation was optional;
 *   - with status 1 and a message about memory; output files are then absent or complete.
 * No other file may remain in its folder.
 */
#include "tests/alloc/sites.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES = 1 << 12, FILES_MAX = 4, PATH_BYTES = 300, TEXT_BYTES = 4000, SECONDS = 60 };

/* librdkafka asserts on allocation and aborts (docs/limitations.md). */
static const char LIBRDKAFKA[] = ": rd.h:";

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

struct place {
    uintptr_t at; /* 0: none */
    long first, last;
};

/* Shared by all children. */
static struct shared {
    struct place place[PLACES];
    atomic_long calls;
    atomic_bool failed;
} * shared;

static bool armed;
static long fail_at;
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* OpenSSL, from which libzip takes random numbers, aborts the process. */
static bool is_hopeless(uintptr_t at)
{
    Dl_info from;
    return dladdr((void *)at, &from) && strstr(from.dli_fname, "libcrypto");
}

static void note(uintptr_t at, long call)
{
    while (atomic_flag_test_and_set(&busy))
        ;
    size_t i = at * 0x9e3779b97f4a7c15 >> 52;
    while (shared->place[i].at && shared->place[i].at != at)
        i = (i + 1) % PLACES;
    if (!shared->place[i].at)
        shared->place[i] = (struct place){at, call, call};
    shared->place[i].last = call;
    atomic_flag_clear(&busy);
}

static bool fails(const void *from)
{
    if (!armed)
        return false;
    long call = atomic_fetch_add(&shared->calls, 1) + 1;
    if (!fail_at)
        note(ek_site() ? ek_site() : (uintptr_t)from, call);
    if (call != fail_at)
        return false;
    atomic_store(&shared->failed, true);
    ek_site_failed();
    errno = ENOMEM;
    return true;
}

#define FROM __builtin_return_address(0)

void *malloc(size_t size)
{
    return fails(FROM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(FROM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    return size && fails(FROM) ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(FROM) ? NULL : __libc_memalign(alignment, size);
}

/* Result of a run. */
struct left {
    int status, entries;
    char *out, *err, *file[FILES_MAX];
    size_t out_bytes, err_bytes, file_bytes[FILES_MAX];
};

static struct {
    char out[PATH_BYTES], err[PATH_BYTES], *file[FILES_MAX], words[PATH_BYTES];
    int files, runs, faults;
} all;

/* Return the content, or NULL if the file does not exist. */
static char *content(const char *path, size_t *bytes)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s))
        return NULL;
    char *text = calloc(1, (size_t)s.st_size + 1);
    *bytes = (size_t)s.st_size;
    if (!text || read(fd, text, *bytes) != s.st_size)
        abort();
    close(fd);
    return text;
}

static int entries(void)
{
    int count = 0;
    DIR *folder = opendir(".");
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void onto(int fd, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, fd) < 0)
        abort();
}

/* Fork. Return true in the child, which becomes the program. */
static bool run(long at, struct left *left)
{
    int status = 0;
    for (int i = 0; i < all.files; i++)
        unlink(all.file[i]);
    atomic_store(&shared->calls, 0);
    atomic_store(&shared->failed, false);
    fail_at = at;
    all.runs++;
    pid_t child = fork();
    if (child < 0)
        abort();
    if (!child) {
        onto(STDOUT_FILENO, all.out);
        onto(STDERR_FILENO, all.err);
        alarm(SECONDS);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        armed = true;
        return true;
    }
    waitpid(child, &status, 0);
    *left = (struct left){.status = status, .entries = entries()};
    left->out = content(all.out, &left->out_bytes);
    left->err = content(all.err, &left->err_bytes);
    for (int i = 0; i < all.files; i++)
        left->file[i] = content(all.file[i], &left->file_bytes[i]);
    return false;
}

static void release(struct left *l)
{
    free(l->out);
    free(l->err);
    for (int i = 0; i < all.files; i++)
        free(l->file[i]);
}

static bool same(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a && b && a_bytes == b_bytes && !memcmp(a, b, a_bytes);
}

static bool all_the_same(const struct left *l, const struct left *whole)
{
    bool yes =
        same(l->out, l->out_bytes, whole->out, whole->out_bytes) && l->entries == whole->entries;
    for (int i = 0; i < all.files; i++)
        yes = yes && same(l->file[i], l->file_bytes[i], whole->file[i], whole->file_bytes[i]);
    return yes;
}

/* Return NULL, or a description of the failure. */
static const char *fault_of(const struct left *l, const struct left *whole)
{
    int missing = 0;
    if (WIFSIGNALED(l->status) && strstr(l->err, LIBRDKAFKA))
        return NULL;
    if (WIFSIGNALED(l->status))
        return WTERMSIG(l->status) == SIGALRM ? "it does not end" : "it was killed";
    if (!WEXITSTATUS(l->status))
        return all_the_same(l, whole) ? NULL : "it ends well with something else";
    if (!atomic_load(&shared->failed))
        return "it fails with all the memory it wants";
    if (WEXITSTATUS(l->status) != 1)
        return "its status is not 1";
    if (!strstr(l->err, "memory") && !strstr(l->err, "no room"))
        return "it does not say why";
    for (int i = 0; i < all.files; i++) {
        missing += !l->file[i];
        if (l->file[i] && !same(l->file[i], l->file_bytes[i], whole->file[i], whole->file_bytes[i]))
            return "a file is half written";
    }
    return l->entries + missing == whole->entries ? NULL : "it leaves files";
}

static void judge(const struct place *p, const char *how, struct left *l, const struct left *whole)
{
    const char *fault = fault_of(l, whole);
    Dl_info from = {.dli_sname = NULL};
    if (fault) {
        dladdr((void *)p->at, &from);
        printf("FAILED: %s call %lx of %s: %s (status %d): %.*s\n", how,
               (unsigned long)(p->at - (uintptr_t)from.dli_fbase), from.dli_fname, fault, l->status,
               200, l->err ? l->err : "");
    }
    all.faults += !!fault;
    release(l);
}

/* Return true in the child, like run. */
static bool try_place(const struct place *p, const struct left *whole)
{
    struct left l;
    if (run(p->first, &l))
        return true;
    judge(p, "first", &l, whole);
    if (p->last == p->first)
        return false;
    if (run(p->last, &l))
        return true;
    judge(p, "last", &l, whole);
    return false;
}

static void name_files(const char *folder)
{
    const char *files = getenv("EK_SWEEP_FILES");
    char *rest;
    snprintf(all.out, sizeof all.out, "%s/out", folder);
    snprintf(all.err, sizeof all.err, "%s/err", folder);
    snprintf(all.words, sizeof all.words, "%s", files ? files : "");
    for (char *one = strtok_r(all.words, " ", &rest); one && all.files < FILES_MAX;
         one = strtok_r(NULL, " ", &rest))
        all.file[all.files++] = one;
}

__attribute__((constructor)) static void sweep(void)
{
    static struct place place[PLACES];
    const char *folder = getenv("EK_SWEEP");
    struct left whole;
    int places = 0;
    if (!folder)
        return;
    name_files(folder);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    if (run(0, &whole))
        return;
    if (whole.status) {
        printf("FAILED: status %d with all memory: %s\n", whole.status, whole.err);
        exit(1);
    }
    memcpy(place, shared->place, sizeof place);
    for (int i = 0; i < PLACES; i++) {
        places += !!place[i].at;
        if (place[i].at && !is_hopeless(place[i].at) && try_place(&place[i], &whole))
            return;
    }
    printf("%d places, %d runs, %d faults\n", places, all.runs, all.faults);
    fflush(stdout);
    _exit(all.faults > 0);
}
