/* Benchmarks that alternate between this project and its peers, so that ratios hold on a noisy
 * machine.
 *
 * How to add one: write tests/bench/bench_NAME.c with `void bench_NAME(struct ek_bench *b)`; the
 * build finds it by its name. Prepare the data, then call ek_bench_case once per case with this
 * project and every peer or physical limit:
 *
 *     static void decode(void *context) { ... one run over all the data ... }
 *
 *     void bench_codec(struct ek_bench *b)
 *     {
 *         struct work w;                       // data, 2,000 messages of 20 x 136 values
 *         const struct ek_contender all[] = {
 *             {NULL, decode, &w},              // this project: first, without a peer name
 *             {"msgpack-c", decode_peer, &w},
 *             {"limit: memcpy", copy, &w},
 *         };
 *         ek_bench_case(b, "136 features, 20 items, bin", "ns/value", 2000. * 20 * 136, all, 3);
 *     }
 *
 * Spell cases like `136 features, 8 segments, row-major`: data first, then the method. Use
 * ek_bench_record for values that a run cannot time (bytes, a measurement of another process).
 * Every value is printed in the table on stdout and as one JSON line in the result file. Put checks
 * of results into tests. Pass results to ek_bench_use, or the compiler removes the computation.
 * `make bench BENCH=codec` runs one.
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
    const char *peer;    /* NULL: this project, which must be first */
    void (*run)(void *); /* one run over all data; restores its initial state */
    void *context;
};

/* Measure the processor time of all contenders in turns and keep the best round. `amount` is the
 * number of units in one run. A unit `ns/...` or `us/...` is a cost, `.../s` a rate. */
void ek_bench_case(struct ek_bench *b, const char *name, const char *unit, double amount,
                   const struct ek_contender *contenders, int count);

/* Record an external measurement. `peer` NULL: the value of this project, and `ours` is ignored;
 * else `ours` is its value for the ratio. Units other than rates count as costs. */
void ek_bench_record(struct ek_bench *b, const char *name, const char *unit, double value,
                     const char *peer, double ours);

/* Return the best time of one run in seconds, for cases that need more than one value. */
double ek_bench_seconds(struct ek_bench *b, void (*run)(void *), void *context);

/* Keep the compiler from removing the computation of *p. */
static inline void ek_bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Return a manifest of that many routable item features and one query feature. The caller frees it.
 */
struct ek_manifest *ek_bench_manifest(int features);

/* Return the profile of that many lists, each filled by `fill` for the manifest's item features. */
struct ek_profile *ek_bench_profile(const struct ek_manifest *m, int lists,
                                    void (*fill)(struct ek_list *q, int features, struct ek_rng *r),
                                    struct ek_rng *r);

/* Never return NULL: end the program with a message on failure. */
void *ek_bench_memory(size_t count, size_t size);

#endif
