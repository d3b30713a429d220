/* Fuzz inputs and byte mutations. Thread-safe with one input and generator per thread. */
#ifndef EK_TESTS_FUZZ_BYTES_H
#define EK_TESTS_FUZZ_BYTES_H

#include "base/rng.h"

#include <stddef.h>
#include <stdint.h>

struct ek_fuzz_input {
    uint8_t *bytes;
    size_t length, most; /* length <= most, the capacity of `bytes` */
};

/* Apply a few mutations. `all` [count] are other inputs to splice from. */
void ek_fuzz_mutate_bytes(struct ek_fuzz_input *in, struct ek_rng *r,
                          const struct ek_fuzz_input *all, size_t count);

#endif
