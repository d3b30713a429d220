/* Drives a fuzz target without libFuzzer: every file of a folder, then mutations of each, the same
 * ones on every machine. A crash is repeated by `fuzz-NAME FOLDER N FILE`, which runs just the one
 * whose name and number the last lines show.
 *
 * usage: fuzz-NAME FOLDER [MUTATIONS [FILE]]
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>

enum { MUTATIONS_DEFAULT = 1000, SIZE_MAX_BYTES = 1 << 20, STEPS_MAX = 6, PIECE_MAX = 64 };

struct input {
    uint8_t *bytes;
    size_t length;
};

/* What a crash has to tell; only read by the handler. */
static char running[300];

static void report(int signal_number)
{
    ssize_t written = write(STDERR_FILENO, running, strlen(running));
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void flip(struct input *in, struct ek_rng *r)
{
    if (in->length)
        in->bytes[ek_rng_below(r, in->length)] ^= (uint8_t)(1u << ek_rng_below(r, 8));
}

/* Lengths, tags and characters at which readers turn. */
static void plant(struct input *in, struct ek_rng *r)
{
    static const uint8_t odd[] = {0x00, 0x01, 0x7f, 0x80, 0x9f, 0xbf, 0xc0, 0xc1,
                                  0xc4, 0xc6, 0xca, 0xcb, 0xcf, 0xd9, 0xdc, 0xdd,
                                  0xde, 0xdf, 0xff, '\n', ' ',  ':',  '-',  '"'};
    if (in->length)
        in->bytes[ek_rng_below(r, in->length)] = odd[ek_rng_below(r, sizeof odd)];
}

static void cut_out(struct input *in, struct ek_rng *r)
{
    size_t from = ek_rng_below(r, in->length + 1);
    size_t piece = ek_rng_below(r, PIECE_MAX);
    if (piece > in->length - from)
        piece = in->length - from;
    memmove(in->bytes + from, in->bytes + from + piece, in->length - from - piece);
    in->length -= piece;
}

static void repeat(struct input *in, struct ek_rng *r)
{
    size_t from = ek_rng_below(r, in->length + 1), to = ek_rng_below(r, in->length + 1);
    size_t piece = ek_rng_below(r, PIECE_MAX);
    uint8_t copy[PIECE_MAX];
    if (piece > in->length - from)
        piece = in->length - from;
    if (piece > SIZE_MAX_BYTES - in->length)
        return;
    memcpy(copy, in->bytes + from, piece);
    memmove(in->bytes + to + piece, in->bytes + to, in->length - to);
    memcpy(in->bytes + to, copy, piece);
    in->length += piece;
}

static void shorten(struct input *in, struct ek_rng *r)
{
    in->length = ek_rng_below(r, in->length + 1);
}

/* The tail of another file behind the head of this one. */
static void splice(struct input *in, struct ek_rng *r, const struct input *other)
{
    size_t head = ek_rng_below(r, in->length + 1), tail = ek_rng_below(r, other->length + 1);
    if (tail > SIZE_MAX_BYTES - head)
        return;
    memcpy(in->bytes + head, other->bytes + other->length - tail, tail);
    in->length = head + tail;
}

static void mutate(struct input *in, struct ek_rng *r, const struct input *all, size_t count)
{
    static void (*const ways[])(struct input *, struct ek_rng *) = {flip,    flip,   plant,  plant,
                                                                    cut_out, repeat, shorten};
    enum { WAYS = sizeof ways / sizeof *ways };
    for (uint64_t steps = 1 + ek_rng_below(r, STEPS_MAX); steps; steps--) {
        size_t way = ek_rng_below(r, 2 * WAYS + 1);
        if (way == 2 * WAYS)
            splice(in, r, &all[ek_rng_below(r, count)]);
        else
            ways[way % WAYS](in, r);
    }
}

/* In memory of just its size, so that a sanitizer sees the first byte too far. */
static void run(const struct input *in)
{
    uint8_t *exact = ek_realloc(NULL, in->length, 1);
    ek_fuzz_require(exact != NULL, "no memory");
    memcpy(exact, in->bytes, in->length);
    LLVMFuzzerTestOneInput(exact, in->length);
    ek_free(exact);
}

static void run_file(const struct input *all, size_t count, size_t i, const char *name,
                     long mutations)
{
    struct input work = {ek_realloc(NULL, SIZE_MAX_BYTES, 1), 0};
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

static void read_file(const char *folder, const char *name, struct input *out)
{
    char path[600];
    struct ek_buf b;
    struct ek_error e = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ek_buf_init(&b, SIZE_MAX_BYTES);
    ek_fuzz_require(!ek_file_read(path, &b, &e), e.message);
    out->bytes = ek_realloc(NULL, b.length, 1);
    ek_fuzz_require(out->bytes != NULL, "no memory");
    if (b.length)
        memcpy(out->bytes, b.data, b.length);
    out->length = b.length;
    ek_buf_release(&b);
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
    struct input *all = ek_calloc((size_t)count, sizeof *all);
    ek_fuzz_require(all != NULL, "no memory");
    for (int i = 0; i < count; i++)
        read_file(argv[1], names[i]->d_name, &all[i]);
    signal(SIGABRT, report);
    for (int i = 0; i < count; i++)
        if (argc < 4 || !strcmp(argv[3], names[i]->d_name))
            run_file(all, (size_t)count, (size_t)i, names[i]->d_name, mutations);
    for (int i = 0; i < count; i++) {
        ek_free(all[i].bytes);
        free(names[i]);
    }
    ek_free(all);
    free(names);
    printf("%d passed, 0 failed\n", count);
    return 0;
}
