/* time_sketch: timing of this sketch over a file of values, like peers in other languages.
 *
 *     time_sketch make FILE ROWS    136 features, lognormal (ln x: mean 3, deviation 1.5)
 *     time_sketch FILE SEGMENTS SECONDS
 *
 * The file: "EKF1", u32 rows, u32 features, then rows x features float32, all little-endian.
 * Segments take twenty rows each in turn. Prints the best pass in ns per value, the number of
 * passes, the values in the sketches, and the median of the first feature in the first segment.
 */
#include "base/rng.h"
#include "num/sketch.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"
#include "tests/measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, LIST = 20 };

struct header {
    char mark[4];
    uint32_t rows, features;
};

static FILE *opened(const char *path, const char *mode)
{
    FILE *f = fopen(path, mode);
    if (!f) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return f;
}

static int make(const char *path, int64_t rows)
{
    const struct header h = {{'E', 'K', 'F', '1'}, (uint32_t)rows, FEATURES};
    FILE *f = opened(path, "wb");
    struct ek_rng r;
    size_t written = fwrite(&h, sizeof h, 1, f);
    ek_rng_seed(&r, 1);
    for (int64_t i = 0; i < rows * FEATURES; i++) {
        float x = (float)exp(3 + 1.5 * ek_rng_normal(&r));
        written += fwrite(&x, sizeof x, 1, f);
    }
    return fclose(f) || written != (size_t)rows * FEATURES + 1;
}

static float *read_values(const char *path, struct header *h)
{
    FILE *f = opened(path, "rb");
    if (fread(h, sizeof *h, 1, f) != 1 || memcmp(h->mark, "EKF1", 4) != 0)
        h->rows = h->features = 0;
    size_t count = (size_t)h->rows * h->features;
    float *x = ek_bench_memory(count + 1, sizeof *x);
    if (!count || fread(x, sizeof *x, count, f) != count) {
        fprintf(stderr, "%s: no file of values\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(f);
    return x;
}

static void pass(struct ek_sketch_set **set, int segments, const float *x, const struct header *h)
{
    for (uint32_t r = 0; r < h->rows; r += LIST)
        ek_sketch_set_add(set[r / LIST % (uint32_t)segments], x + (size_t)r * h->features,
                          (int)(h->rows - r < LIST ? h->rows - r : LIST));
}

static void tell(struct ek_sketch_set **set, int segments, const struct header *h, double best,
                 int passes)
{
    struct ek_sketch *one;
    uint64_t held = 0;
    double median = NAN;
    if (ek_sketch_new(&one))
        abort();
    for (int s = 0; s < segments; s++)
        for (uint32_t f = 0; f < h->features; f++) {
            ek_sketch_clear(one);
            ek_sketch_set_get(set[s], (int)f, one);
            held += ek_sketch_total(one);
            if (!s && !f)
                median = ek_sketch_quantile(one, .5);
        }
    printf("%.6g %d %" PRIu64 " %.6g\n", best * 1e9 / ((double)h->rows * h->features), passes, held,
           median);
    ek_sketch_free(one);
}

int main(int argc, char **argv)
{
    struct header h;
    if (argc == 4 && !strcmp(argv[1], "make"))
        return make(argv[2], ek_bench_number(argv[3]));
    if (argc != 4) {
        fputs("usage: time_sketch make FILE ROWS | FILE SEGMENTS SECONDS\n", stderr);
        return 2;
    }
    int segments = (int)ek_bench_number(argv[2]), passes = 0;
    double best = INFINITY, until = ek_measure_seconds() + (double)ek_bench_number(argv[3]);
    float *x = read_values(argv[1], &h);
    struct ek_sketch_set **set = ek_bench_memory((size_t)segments, sizeof *set);
    for (int s = 0; s < segments; s++)
        if (ek_sketch_set_new(&set[s], (int)h.features, NULL))
            abort();
    while (passes < 2 || ek_measure_seconds() < until) {
        double began = ek_measure_seconds();
        pass(set, segments, x, &h);
        best = fmin(best, ek_measure_seconds() - began);
        passes++;
    }
    tell(set, segments, &h, best, passes);
    for (int s = 0; s < segments; s++)
        ek_sketch_set_free(set[s]);
    free(set);
    free(x);
    return 0;
}
