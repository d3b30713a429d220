/* Addition of one block of counters for any vector width. The including file defines EK_LANES and
 * EK_KERNEL. */
typedef uint64_t wide_u __attribute__((vector_size(EK_LANES * 4), aligned(8), may_alias));
typedef uint16_t hot_h __attribute__((vector_size(EK_LANES), aligned(2), may_alias));
enum { EK_KERNEL(WIDE_LANES) = EK_LANES / 2 };

void EK_KERNEL(ek_sketch_add_wide)(uint64_t *to, const uint64_t *from)
{
    for (int i = 0; i < EK_SKETCH_BLOCK; i += EK_KERNEL(WIDE_LANES))
        *(wide_u *)(to + i) += *(const wide_u *)(from + i);
}

void EK_KERNEL(ek_sketch_add_hot)(uint64_t *to, const uint16_t *from)
{
    for (int i = 0; i < EK_SKETCH_BLOCK; i += EK_KERNEL(WIDE_LANES))
        *(wide_u *)(to + i) += __builtin_convertvector(*(const hot_h *)(from + i), wide_u);
}
