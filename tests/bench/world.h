/* Benchmark inputs: lists of a shop, with a manifest, a profile and a model.
 *
 * Each feature and list has a level (ln x around 9, deviation 0.3 between lists), each item a
 * deviation of 0.4 around it. Segment `arm` is A or B, ids differ between lists, and lists are 20
 * ms apart. Failures end the program.
 */
#ifndef EK_TESTS_BENCH_WORLD_H
#define EK_TESTS_BENCH_WORLD_H

#include "base/rng.h"
#include "assets/model.h"
#include "lists/list.h"

enum { EK_BENCH_ID = 12 }; /* bytes of an id and its terminator */
#define EK_BENCH_MISSING 0.05

struct ek_bench_list {
    struct ek_list q;
    char id[EK_BENCH_ID];
    char (*ids)[EK_BENCH_ID];
    int capacity;
    struct ek_rng r;
    int64_t number; /* of the next list */
    double missing; /* fraction of the values, 0 until set */
    bool wide;      /* items deviate by 1.5 */
};

void ek_bench_list_init(struct ek_bench_list *list, uint64_t seed);
void ek_bench_list_release(struct ek_bench_list *list);
/* Set list->q to the next list. */
void ek_bench_list_next(struct ek_bench_list *list, int features, int items);
/* Multiply features 3, 30, 57, 84 and 111, as far as present, by 100. */
void ek_bench_fault(struct ek_list *q);

/* Write the manifest of ek_bench_manifest as a file, with or without missing values. */
struct ek_buf;
void ek_bench_manifest_text(struct ek_buf *text, int features, bool missing);
struct ek_manifest *ek_bench_manifest_of(int features, bool missing);
/* Return a model with arbitrary weights, all features routable, layers of 64 and 32. The caller
 * frees it. */
struct ek_model *ek_bench_model(const struct ek_manifest *m);
/* Return a profile of the first lists of that seed, with the same `missing` and `wide` (NULL:
 * neither). The caller frees it. */
struct ek_profile *ek_bench_list_profile(const struct ek_manifest *m, uint64_t seed, int lists,
                                         int items, const struct ek_bench_list *kind);

/* Return an integer from the command line, or end the program if it is invalid. */
int64_t ek_bench_number(const char *text);

#endif
