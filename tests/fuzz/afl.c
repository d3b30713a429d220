/* AFL++ driver of a fuzz target in persistent mode with shared memory. Built only with
 * afl-clang-fast. */
#include "base/alloc.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { INPUTS = 10000 };

#ifdef __AFL_FUZZ_INIT
__AFL_FUZZ_INIT();
#endif

int main(void)
{
#ifdef __AFL_FUZZ_INIT
    __AFL_INIT();
    const uint8_t *shared = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(INPUTS)) {
        size_t length = (size_t)__AFL_FUZZ_TESTCASE_LEN;
        uint8_t *exact = ek_realloc(NULL, length, 1);
        ek_fuzz_require(exact != NULL, "no memory");
        memcpy(exact, shared, length);
        LLVMFuzzerTestOneInput(exact, length);
        ek_free(exact);
    }
#endif
    return 0;
}
