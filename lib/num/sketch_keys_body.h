/* Index kernel of a sketch set for any vector width. The including file defines EK_LANES and
 * EK_KERNEL. */
typedef uint32_t lanes_u __attribute__((vector_size(EK_LANES * 4)));
typedef uint32_t unaligned_u __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));
typedef uint16_t lanes_h __attribute__((vector_size(EK_LANES * 2)));
typedef uint16_t unaligned_h __attribute__((vector_size(EK_LANES * 2), aligned(2), may_alias));

/* Return 1 << n for n below 31. SSE2 has no per-lane shift, so it uses the exponent of a float. */
static inline lanes_u EK_KERNEL(bit_of)(lanes_u n)
{
    enum { BIAS = 127, MANTISSA_BITS = 23 };
    if (EK_LANES > 4)
        return ((lanes_u){0} + 1u) << n;
    return (lanes_u) __builtin_convertvector((lanes_f)((n + BIAS) << MANTISSA_BITS), lanes_i);
}

void EK_KERNEL(ek_sketch_keys)(const float *x, size_t stride, int rows, uint16_t *keys,
                               uint32_t *chunks)
{
    const lanes_u nan = (lanes_u){0} + 0x7fc00000u;
    for (int part = 0; part < EK_KEY_LANES; part += EK_LANES) {
        lanes_u seen = {0};
        const float *row = x + part;
        uint16_t *to = keys + part;
        for (int r = 0; r < rows; r++, row += stride, to += EK_KEY_LANES) {
            lanes_u bits = *(const unaligned_u *)row;
            /* signed, because SSE2 has no unsigned comparison */
            lanes_u is_nan = (lanes_u)((lanes_i)(bits & 0x7fffffffu) > 0x7f800000);
            bits = (bits & ~is_nan) | (nan & is_nan);
            bits += (uint32_t)EK_HOT_ROUND << EK_SKETCH_SHIFT;
            seen |= EK_KERNEL(bit_of)(bits >> (EK_SKETCH_SHIFT + EK_HOT_CHUNK_SHIFT));
            *(unaligned_h *)to = __builtin_convertvector(bits >> EK_SKETCH_SHIFT, lanes_h);
        }
        *(unaligned_u *)(chunks + part) |= seen;
    }
}
