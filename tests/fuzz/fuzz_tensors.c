/* Safetensors: an accepted file can be written and reads back equal. */
#include "assets/tensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

static void same(const struct ek_tensor *a, const struct ek_tensor *b)
{
    static const size_t sizes[] = {[EK_F32] = 4, [EK_F64] = 8, [EK_I32] = 4, [EK_I64] = 8,
                                   [EK_U8] = 1,  [EK_U16] = 2, [EK_U32] = 4, [EK_U64] = 8};
    ek_fuzz_require(b && a->dtype == b->dtype && a->dims == b->dims && a->count == b->count,
                    "a tensor came back otherwise");
    ek_fuzz_require(!memcmp(a->data, b->data, a->count * sizes[a->dtype]),
                    "a tensor came back with other values");
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return ek_fuzz_mutate_tensors(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_tensors *t, *again;
    struct ek_error e = {0};
    struct ek_buf out;
    if (ek_tensors_parse(&t, "input", data, size, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return 0;
    }
    ek_fuzz_take();
    ek_buf_init(&out, 0);
    ek_fuzz_require(!ek_tensors_format(t, &out, &e), e.message);
    ek_fuzz_require(!ek_tensors_parse(&again, "output", out.data, out.length, &e), e.message);
    ek_fuzz_require(ek_tensors_count(t) == ek_tensors_count(again), "a tensor is gone");
    for (size_t i = 0; i < ek_tensors_count(t); i++) {
        const struct ek_tensor *one = ek_tensors_at(t, i);
        same(one, ek_tensors_find(again, one->name));
    }
    ek_buf_release(&out);
    ek_tensors_free(again);
    ek_tensors_free(t);
    return 0;
}
