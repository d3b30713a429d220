/* Benchmark program: [--seconds S] [--out FILE] [NAME...]. */
#include "tests/bench/bench.h"

#include "base/parse.h"
#include "tests/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTENDERS_MAX = 16, ROUNDS_MIN = 5 };
static const double round_seconds = 0.004; /* per contender; shorter runs are repeated */

struct ek_bench {
    const char *name;
    FILE *out;
    double seconds; /* per contender */
};

static double time_runs(const struct ek_contender *c, int repeats)
{
    double start = ek_measure_processor();
    for (int i = 0; i < repeats; i++)
        c->run(c->context);
    return (ek_measure_processor() - start) / repeats;
}

static void measure(const struct ek_bench *b, const struct ek_contender *c, int count, double *best)
{
    int repeats[CONTENDERS_MAX];
    for (int i = 0; i < count; i++) {
        time_runs(c + i, 1); /* warms caches and maps pages */
        best[i] = time_runs(c + i, 1);
        double desired = round_seconds / (best[i] + 1e-9);
        repeats[i] = desired > 1e6 ? 1000000 : desired < 1 ? 1 : (int)desired;
    }
    double until = ek_measure_seconds() + b->seconds * count;
    for (int round = 0; round < ROUNDS_MIN || ek_measure_seconds() < until; round++)
        for (int i = 0; i < count; i++) {
            double t = time_runs(c + i, repeats[i]);
            best[i] = t < best[i] ? t : best[i];
        }
}

static int is_rate(const char *unit)
{
    size_t length = strlen(unit);
    return length > 2 && !strcmp(unit + length - 2, "/s");
}

static double value_of(const char *unit, double seconds, double amount)
{
    if (is_rate(unit))
        return amount / seconds;
    double scale = !strncmp(unit, "ns/", 3) ? 1e9 : !strncmp(unit, "us/", 3) ? 1e6 : 1;
    return seconds * scale / amount;
}

void ek_bench_record(struct ek_bench *b, const char *name, const char *unit, double value,
                     const char *peer, double ours)
{
    double ratio = is_rate(unit) ? ours / value : value / ours;
    fprintf(b->out, "{\"bench\":\"%s\",\"case\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",", b->name,
            name, value, unit);
    if (peer)
        fprintf(b->out, "\"peer\":\"%s\",\"ratio\":%.4g}\n", peer, ratio);
    else
        fprintf(b->out, "\"peer\":null,\"ratio\":null}\n");
    if (peer)
        printf("%-10s   %-46s %10.4g %-12s %7.2f\n", "", peer, value, unit, ratio);
    else
        printf("%-10s %-48s %10.4g %s\n", b->name, name, value, unit);
    fflush(stdout);
}

void ek_bench_case(struct ek_bench *b, const char *name, const char *unit, double amount,
                   const struct ek_contender *contenders, int count)
{
    double best[CONTENDERS_MAX];
    if (count > CONTENDERS_MAX || contenders[0].peer) {
        fprintf(stderr, "bench '%s': ours comes first, at most %d contenders\n", b->name,
                CONTENDERS_MAX);
        exit(EXIT_FAILURE);
    }
    measure(b, contenders, count, best);
    double ours = value_of(unit, best[0], amount);
    for (int i = 0; i < count; i++)
        ek_bench_record(b, name, unit, value_of(unit, best[i], amount), contenders[i].peer, ours);
}

double ek_bench_seconds(struct ek_bench *b, void (*run)(void *), void *context)
{
    const struct ek_contender one = {NULL, run, context};
    double best;
    measure(b, &one, 1, &best);
    return best;
}

#define BENCH(name) void bench_##name(struct ek_bench *b);
#include EK_BENCHES
#undef BENCH

static const struct {
    const char *name;
    void (*run)(struct ek_bench *);
} benches[] = {
#define BENCH(name) {#name, bench_##name},
#include EK_BENCHES
#undef BENCH
};

static int run_named(struct ek_bench *b, const char *name)
{
    int found = 0;
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        if (name && strcmp(name, benches[i].name) != 0)
            continue;
        b->name = benches[i].name;
        benches[i].run(b);
        found = 1;
    }
    if (!found)
        fprintf(stderr, "bench: there is no '%s'\n", name);
    return found ? 0 : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct ek_bench b = {.seconds = 0.4};
    const char *path = "/dev/null";
    int i = 1, failed = 0;
    for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
        if (!strcmp(argv[i], "--out"))
            path = argv[i + 1];
        else if (strcmp(argv[i], "--seconds") != 0 ||
                 ek_parse_finite(argv[i + 1], EK_WHOLE, &b.seconds) != 0)
            break;
    }
    if (i < argc && !strncmp(argv[i], "--", 2)) {
        fprintf(stderr, "usage: bench [--seconds S] [--out FILE] [NAME...]\n");
        return 2;
    }
    b.out = fopen(path, "a");
    if (!b.out) {
        perror(path);
        return EXIT_FAILURE;
    }
    if (i == argc)
        failed = run_named(&b, NULL);
    for (; i < argc; i++)
        failed |= run_named(&b, argv[i]);
    failed |= fclose(b.out) != 0;
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
