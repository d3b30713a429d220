/* Benchmarks: ours and its peers take turns in one run, so that ratios mean something on a noisy
 * machine.
 *
 * How to add one: write tests/bench/bench_NAME.c with `void bench_NAME(struct ek_bench *b)`; the
 * build finds it by its name. Prepare the data, then call ek_bench_case once per case with ours and
 * every peer or physical limit:
 *
 *     static void decode(void *context) { ... one run over all the data ... }
 *
 *     void bench_codec(struct ek_bench *b)
 *     {
 *         struct work w;                       // data, 2,000 messages of 20 x 136 values
 *         const struct ek_contender all[] = {
 *             {NULL, decode, &w},              // ours comes first and has no peer name
 *             {"msgpack-c", decode_peer, &w},
 *             {"limit: memcpy", copy, &w},
 *         };
 *         ek_bench_case(b, "136 features, 20 items, bin", "ns/value", 2000. * 20 * 136, all, 3);
 *     }
 *
 * Spell cases like `136 features, 8 segments, row-major`: data first, then the way. What cannot be
 * timed by a run (bytes, a measurement of another process) goes through ek_bench_record. Every
 * number lands in the table on stdout and as one JSON line in the result file. A check of the
 * result belongs into a test, not here; but keep what a run computes alive (ek_bench_use), or the
 * compiler removes it. `make bench BENCH=codec` runs one.
 */
#ifndef EK_TESTS_BENCH_H
#define EK_TESTS_BENCH_H

#include <stddef.h>

struct ek_bench;
struct ek_manifest;
struct ek_profile;
struct ek_list;
struct ek_rng;

struct ek_contender {
    const char *peer;    /* NULL: ours, which must come first */
    void (*run)(void *); /* one run over all the data, from a state that each run leaves again */
    void *context;
};

/* Times all contenders in turns, best of the rounds. `amount` is the number of things of the unit
 * in one run. A unit `ns/...` or `us/...` is a cost, `.../s` a rate. */
void ek_bench_case(struct ek_bench *b, const char *name, const char *unit, double amount,
                   const struct ek_contender *contenders, int count);

/* A number measured otherwise. `peer` NULL: ours, `ours` is not looked at; else `ours` is our value
 * for the ratio. Units other than rates count as costs. */
void ek_bench_record(struct ek_bench *b, const char *name, const char *unit, double value,
                     const char *peer, double ours);

/* Best time of one run in seconds, for cases that need more than one number. */
double ek_bench_seconds(struct ek_bench *b, void (*run)(void *), void *context);

/* Keeps what `p` points to alive. */
static inline void ek_bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* A manifest of that many routable item features and one query feature; free it as any other. */
struct ek_manifest *ek_bench_manifest(int features);

/* The profile of that many lists, each as `fill` makes it for the manifest's item features. */
struct ek_profile *ek_bench_profile(const struct ek_manifest *m, int lists,
                                    void (*fill)(struct ek_list *q, int features, struct ek_rng *r),
                                    struct ek_rng *r);

/* Never returns NULL: ends the program, with a word, when memory is gone. */
void *ek_bench_memory(size_t count, size_t size);

#endif
