/* Interface of fuzz targets. A target is one file fuzz_NAME.c with libFuzzer's entry; it aborts
 * with a message on a failed check. `make fuzz TARGET=NAME` runs it under libFuzzer. `make
 * check-fuzz` runs it under tests/fuzz/main.c: every file of tests/fuzz/corpus/NAME and mutations
 * of it. */
#ifndef EK_TESTS_FUZZ_H
#define EK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void ek_fuzz_require(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* Return a copy in memory of exactly its size, so that a sanitizer detects the first byte past it.
 * The caller frees it. */
static inline uint8_t *ek_fuzz_exact(const void *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    ek_fuzz_require(copy != NULL, "no memory");
    memcpy(copy, data, size);
    return copy;
}

/* Count an input that was read to its end. A replay fails if no file of the corpus is read
 * completely. Targets for parts of files have no counter. */
void ek_fuzz_take(void);
size_t ek_fuzz_taken(void) __attribute__((weak));

enum { EK_FUZZ_PATH_BYTES = 64 };

/* Return the descriptor of an in-memory file for readers that need a path. The caller closes it. */
static inline int ek_fuzz_file(const uint8_t *data, size_t size, char path[EK_FUZZ_PATH_BYTES])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    ek_fuzz_require(fd >= 0, "no file in memory");
    while (size) {
        ssize_t put = write(fd, data, size);
        ek_fuzz_require(put > 0, "no file in memory");
        data += put;
        size -= (size_t)put;
    }
    snprintf(path, EK_FUZZ_PATH_BYTES, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
