/* List statistics kernel for any vector width. The including file defines EK_LANES and EK_KERNEL
 * and includes list_moments_body.h first, for its vector types and block layout. */
static const float stats_nan = __builtin_nanf("");

static inline __attribute__((always_inline)) lanes_f stats_load(const float *p, int first)
{
    return *(const unaligned_f *)(p + first);
}

static inline __attribute__((always_inline)) lanes_f stats_select(lanes_i mask, lanes_f a, float b)
{
    lanes_f other = (lanes_f){0} + b;
    return (lanes_f)((mask & (lanes_i)a) | (~mask & (lanes_i)other));
}

/* Return the ln of positive normal numbers; same formula as the scalar reference. */
static inline __attribute__((always_inline)) lanes_f stats_ln(lanes_f x)
{
    lanes_i bits = (lanes_i)x;
    lanes_f m = (lanes_f)((bits & EK_BITS_MANTISSA) | 0x3f800000);
    lanes_i large = m > 1.41421356f;
    lanes_i exponent = (bits >> 23) - 127 - large;
    m = (lanes_f)((large & (lanes_i)(m * 0.5f)) | (~large & (lanes_i)m));
    lanes_f t = (m - 1) / (m + 1), t2 = t * t;
    lanes_f series = 1 + t2 * (1 / 3.0f + t2 * (0.2f + t2 * (1 / 7.0f + t2 * (1 / 9.0f))));
    return __builtin_convertvector(exponent, lanes_f) * 0.69314718f + 2 * t * series;
}

static inline __attribute__((always_inline)) lanes_f stats_spread(lanes_f sum, lanes_f squares,
                                                                  lanes_f k)
{
    lanes_f variance = (squares - sum * sum / k) / (k - 1);
    lanes_f spread =
        stats_select(variance > EK_VARIANCE_MIN, 0.5f * stats_ln(variance), EK_SPREAD_MIN);
    return stats_select(k >= 2, spread, stats_nan);
}

static inline __attribute__((always_inline)) lanes_i stats_share(lanes_f part, lanes_f whole)
{
    lanes_i known = whole > 0;
    lanes_i share = __builtin_convertvector(EK_SHARE_WHOLE * part / whole, lanes_i);
    return (known & share) | (~known & EK_SHARE_UNKNOWN);
}

_Static_assert(sizeof(struct ek_list_stats) == 4 * sizeof(int32_t) &&
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a record is written as four words");

static void stats_block(const struct ek_list_moments *s, int first, int rows, const float *pivot,
                        struct ek_list_stats *records)
{
    lanes_f k = stats_load(s->usable, first), missing = stats_load(s->missing, first);
    lanes_f sum = stats_load(s->ln, first), present = (float)rows - missing;
    lanes_f r = stats_select(k > 0, sum / k + stats_load(pivot, first), stats_nan);
    lanes_i shares = stats_share(missing, (lanes_f){0} + (float)rows) |
                     stats_share(stats_load(s->zero, first), present) << 8 |
                     stats_share(stats_load(s->negative, first), k) << 16 |
                     stats_share(stats_load(s->tied, first), present - 1) << 24;
    lanes_f spread = stats_spread(sum, stats_load(s->ln2, first), k);
    lanes_i bits = (lanes_i)r, bits_of_spread = (lanes_i)spread;
    lanes_i usable = __builtin_convertvector(stats_select(k < 65535, k, 65535), lanes_i);
    for (int i = 0; i < EK_LANES; i++) /* a record is four 32-bit words */
        memcpy(&records[first + i], (int32_t[4]){bits[i], bits_of_spread[i], shares[i], usable[i]},
               sizeof *records);
}

void EK_KERNEL(ek_list_stats)(const struct ek_list_moments *s, int rows, const float *pivot,
                              struct ek_list_stats *records)
{
    if (s->features < EK_LANES) {
        EK_NARROWER(ek_list_stats)(s, rows, pivot, records);
        return;
    }
    int first = 0;
    for (; first + EK_LANES <= s->features; first += EK_LANES)
        stats_block(s, first, rows, pivot, records);
    if (first < s->features)
        stats_block(s, s->features - EK_LANES, rows, pivot, records);
}
