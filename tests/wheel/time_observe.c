/* Time of ek_guard_observe_values per value, for comparison with the Python package.
 *
 *     time_observe MANIFEST PROFILE RULES VALUES ITEMS FEATURES ROUNDS
 *
 * VALUES has float32 lists of ITEMS x FEATURES. Prints nanoseconds per value of each round. */
#include "evenkeel.h"
#include "tests/measure.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what)
{
    fprintf(stderr, "time_observe: %s\n", what);
    exit(1);
}

static float *read_values(const char *path, size_t *count)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        fail("no values");
    *count = (size_t)ftell(f) / sizeof(float);
    float *x = malloc(*count * sizeof *x);
    rewind(f);
    if (!x || fread(x, sizeof *x, *count, f) != *count)
        fail("no values");
    fclose(f);
    return x;
}

static void observe(struct ek_guard *g, float *x, size_t lists, size_t items, size_t features)
{
    const char *json;
    for (size_t i = 0; i < lists; i++) {
        const struct ek_array_list list = {.features = x + i * items * features,
                                           .items = items,
                                           .feature_count = features,
                                           .item_stride = features,
                                           .feature_stride = 1};
        if (ek_guard_observe_values(g, &list, (int64_t)ek_guard_list_count(g), NULL))
            fail("a list is invalid");
        while (ek_guard_next_event(g, &json) > 0)
            ;
    }
}

int main(int argc, char **argv)
{
    struct ek_assets *assets;
    struct ek_guard *guard;
    struct ek_error *e = ek_error_new();
    size_t count;
    if (argc != 8)
        fail("7 arguments are needed");
    size_t items = strtoul(argv[5], NULL, 10), features = strtoul(argv[6], NULL, 10);
    float *x = read_values(argv[4], &count);
    if (ek_assets_load(&assets, argv[1], argv[2], argv[3], NULL, e))
        fail(ek_error_message(e));
    ek_assets_write_features(assets);
    if (ek_guard_new(&guard, assets, e))
        fail(ek_error_message(e));
    for (long i = strtol(argv[7], NULL, 10); i; i--) {
        double start = ek_measure_seconds();
        observe(guard, x, count / (items * features), items, features);
        printf("%.4f\n", 1e9 * (ek_measure_seconds() - start) / (double)count);
    }
    ek_guard_free(guard);
    ek_assets_free(assets);
    ek_error_free(e);
    free(x);
    return 0;
}
