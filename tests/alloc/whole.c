/* The whole program, with memory that runs out at every place once.
 *
 * Linked into a copy of the program, with malloc and its like in place of the C library's, so that
 * what libraries ask for runs out as well. EK_SWEEP names a folder for what runs say,
 * EK_SWEEP_FILES what the command writes, with blanks between. Before main the process forks: a
 * first child tells the places that ask for memory; then for each place there is a child whose
 * first call there fails, and one whose last one does. Each has to end by itself:
 *   - either as the first one did, with the same output, for then it could do without;
 *   - or with status 1 and a message that speaks of memory; files are then not there or whole.
 * Nothing else may be left in the folder that it runs in.
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

/* librdkafka asserts that it gets memory, and ends the process where it does not (docs/limits.md).
 */
static const char LIBRDKAFKA[] = ": rd.h:";

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

struct place {
    uintptr_t at; /* 0: none */
    long first, last;
};

/* Of all children. */
static struct shared {
    struct place place[PLACES];
    atomic_long calls;
    atomic_bool failed;
} * shared;

static bool armed;
static long fail_at;
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* OpenSSL, which libzip asks for random numbers, ends the process, and not well. */
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

/* What a run has left. */
struct left {
    int status, entries;
    char *out, *err, *file[FILES_MAX];
    size_t out_bytes, err_bytes, file_bytes[FILES_MAX];
};

static struct {
    char out[PATH_BYTES], err[PATH_BYTES], *file[FILES_MAX], words[PATH_BYTES];
    int files, runs, faults;
} all;

/* NULL: there is no such file. */
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

/* The child returns true and becomes the program. */
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

/* NULL, or what is wrong. */
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

/* As run: the child returns true. */
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
