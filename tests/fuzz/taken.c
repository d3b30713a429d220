#include "tests/fuzz/fuzz.h"

static size_t taken;

void ek_fuzz_take(void)
{
    taken++;
}

size_t ek_fuzz_taken(void)
{
    return taken;
}
