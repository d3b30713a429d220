/* What benchmarks are made of: lists of a shop, a manifest, a profile and a model for them.
 *
 * Lists: per feature and list a level (ln x around 9, deviation 0.3 between lists), per item a
 * deviation of 0.4 around it; segment `arm` is A or B, ids differ from list to list, 20 ms pass
 * between lists. What does not work ends the program.
 */
#ifndef EK_TESTS_BENCH_WORLD_H
#define EK_TESTS_BENCH_WORLD_H

#include "base/rng.h"
#include "assets/model.h"
#include "lists/list.h"

enum { EK_BENCH_ID = 12 }; /* bytes of an id and its end */
#define EK_BENCH_MISSING 0.05

struct ek_bench_list {
    struct ek_list q;
    char id[EK_BENCH_ID];
    char (*ids)[EK_BENCH_ID];
    int capacity;
    struct ek_rng r;
    int64_t number; /* of the next list */
    double missing; /* share of the values, 0 until it is set */
    bool wide;      /* items deviate by 1.5 */
};

void ek_bench_list_init(struct ek_bench_list *list, uint64_t seed);
void ek_bench_list_release(struct ek_bench_list *list);
/* The next list, in list->q. */
void ek_bench_list_next(struct ek_bench_list *list, int features, int items);
/* A fault: features 3, 30, 57, 84 and 111, as far as there are so many, come as 100 times x. */
void ek_bench_fault(struct ek_list *q);

/* The manifest of ek_bench_manifest as it stands in a file; values may be missing, or never are. */
struct ek_buf;
void ek_bench_manifest_text(struct ek_buf *text, int features, bool missing);
struct ek_manifest *ek_bench_manifest_of(int features, bool missing);
/* Weights of no meaning, all features routable, layers of 64 and 32; free it as any other. */
struct ek_model *ek_bench_model(const struct ek_manifest *m);
/* A profile of the first lists of that seed, of the same `missing` and `wide` (NULL: neither); free
 * it as any other. */
struct ek_profile *ek_bench_list_profile(const struct ek_manifest *m, uint64_t seed, int lists,
                                         int items, const struct ek_bench_list *kind);

/* A whole number from a command line; ends the program when it is none. */
int64_t ek_bench_number(const char *text);

#endif
