/* Fuzz driver without libFuzzer: every file of a folder, then deterministic mutations of each.
 * `fuzz-NAME FOLDER N FILE` repeats a crash, with the number and name from the last lines of the
 * output.
 *
 * usage: fuzz-NAME FOLDER [MUTATIONS [FILE]]
 */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>

enum { MUTATIONS_DEFAULT = 1000, SIZE_MAX_BYTES = 1 << 20 };

/* Context of a crash, read only by the signal handler. */
static char running[300];

static void report(int signal_number)
{
    ssize_t written = write(STDERR_FILENO, running, strlen(running));
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Mutate as bytes; half of the time by the target's own mutator, if any. */
static void mutate(struct ek_fuzz_input *in, struct ek_rng *r, const struct ek_fuzz_input *all,
                   size_t count)
{
    if (LLVMFuzzerCustomMutator && ek_rng_uniform_int(r, 2))
        in->length = LLVMFuzzerCustomMutator(in->bytes, in->length, in->most,
                                             (unsigned)ek_rng_uniform_int(r, UINT32_MAX));
    else
        ek_fuzz_mutate_bytes(in, r, all, count);
}

/* Uses memory of exactly its size, so that a sanitizer detects the first byte past it. */
static void run(const struct ek_fuzz_input *in)
{
    uint8_t *exact = ek_realloc(NULL, in->length, 1);
    ek_fuzz_require(exact != NULL, "no memory");
    memcpy(exact, in->bytes, in->length);
    LLVMFuzzerTestOneInput(exact, in->length);
    ek_free(exact);
}

static void run_file(const struct ek_fuzz_input *all, size_t count, size_t i, const char *name,
                     long mutations)
{
    struct ek_fuzz_input work = {ek_realloc(NULL, SIZE_MAX_BYTES, 1), 0, SIZE_MAX_BYTES};
    struct ek_rng r;
    ek_fuzz_require(work.bytes != NULL, "no memory");
    ek_rng_seed(&r, ek_hash(name, strlen(name), 0));
    for (long k = 0; k <= mutations; k++) {
        snprintf(running, sizeof running, "\nfuzz: %s, mutation %ld\n", name, k);
        memcpy(work.bytes, all[i].bytes, all[i].length);
        work.length = all[i].length;
        if (k)
            mutate(&work, &r, all, count);
        run(&work);
    }
    ek_free(work.bytes);
}

/* Read raw bytes, without decompression. */
static void read_file(const char *folder, const char *name, struct ek_fuzz_input *out)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    ek_fuzz_require(f != NULL, path);
    out->bytes = ek_realloc(NULL, SIZE_MAX_BYTES, 1);
    ek_fuzz_require(out->bytes != NULL, "no memory");
    out->length = fread(out->bytes, 1, SIZE_MAX_BYTES, f);
    ek_fuzz_require(!ferror(f) && fgetc(f) == EOF, path);
    fclose(f);
    uint8_t *exact = ek_realloc(out->bytes, out->length + 1, 1);
    out->bytes = exact ? exact : out->bytes;
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **names;
    long mutations = argc > 2 ? strtol(argv[2], NULL, 10) : MUTATIONS_DEFAULT;
    if (argc < 2 || argc > 4)
        return fprintf(stderr, "usage: %s FOLDER [MUTATIONS [FILE]]\n", argv[0]), 2;
    int count = scandir(argv[1], &names, is_visible, alphasort);
    ek_fuzz_require(count > 0, "the corpus is empty");
    struct ek_fuzz_input *all = ek_calloc((size_t)count, sizeof *all);
    ek_fuzz_require(all != NULL, "no memory");
    for (int i = 0; i < count; i++)
        read_file(argv[1], names[i]->d_name, &all[i]);
    signal(SIGABRT, report);
    for (int i = 0; i < count; i++)
        if (argc < 4 || !strcmp(argv[3], names[i]->d_name))
            run_file(all, (size_t)count, (size_t)i, names[i]->d_name, mutations);
    ek_fuzz_require(argc > 3 || !ek_fuzz_taken || ek_fuzz_taken(),
                    "every input is refused: what it is about is not reached");
    for (int i = 0; i < count; i++) {
        ek_free(all[i].bytes);
        free(names[i]);
    }
    ek_free(all);
    free(names);
    printf("%d passed, 0 failed\n", count);
    return 0;
}
