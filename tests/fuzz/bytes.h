/* Inputs, and mutations of their bytes. Threads: any, with an input and a generator each. */
#ifndef EK_TESTS_FUZZ_BYTES_H
#define EK_TESTS_FUZZ_BYTES_H

#include "base/rng.h"

#include <stddef.h>
#include <stdint.h>

struct ek_fuzz_input {
    uint8_t *bytes;
    size_t length, most; /* length <= most, what `bytes` has room for */
};

/* A few changes; `all` [count] are other inputs that a piece may come from. */
void ek_fuzz_mutate_bytes(struct ek_fuzz_input *in, struct ek_rng *r,
                          const struct ek_fuzz_input *all, size_t count);

#endif
