/* List sums kernel for any vector width. The including file defines EK_LANES, EK_KERNEL and
 * EK_NARROWER.
 *
 * Lanes are features; the sums of one block of lanes stay in registers over all rows. The last
 * block overlaps the previous one if features do not fill it, so no access leaves the arrays. The
 * narrower kernel handles fewer features than lanes.
 */
typedef float lanes_f __attribute__((vector_size(EK_LANES * 4)));
typedef int32_t lanes_i __attribute__((vector_size(EK_LANES * 4)));
typedef float unaligned_f __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));
typedef int32_t unaligned_i __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));

struct block {
    lanes_f ln, ln2;
    lanes_i zero, missing, negative;
};

static inline __attribute__((always_inline)) void add_row(struct block *s, const float *row,
                                                          const unaligned_f *pivot)
{
    lanes_i bits = *(const unaligned_i *)row;
    lanes_i magnitude = bits & EK_BITS_MAGNITUDE;
    lanes_i x = magnitude - EK_BITS_SQRT_HALF;
    lanes_i mantissa = (x & EK_BITS_MANTISSA) + EK_BITS_SQRT_HALF;
    lanes_f exponent = __builtin_convertvector(x >> 23, lanes_f);
    lanes_f t = (lanes_f)mantissa - 1.f;
    lanes_f q = t * EK_LN_C7 + EK_LN_C6;
    q = q * t + EK_LN_C5;
    q = q * t + EK_LN_C4;
    q = q * t + EK_LN_C3;
    q = q * t + EK_LN_C2;
    lanes_f small = (q * t) * t + (exponent * EK_LN2_LOW + t);
    lanes_f ln = (exponent * EK_LN2_HIGH - *pivot) + small;

    lanes_i zero = magnitude < EK_BITS_NORMAL;
    lanes_i missing = magnitude >= EK_BITS_INF;
    lanes_i usable = ~(zero | missing);
    ln = (lanes_f)((lanes_i)ln & usable);
    s->ln += ln;
    s->ln2 += ln * ln;
    s->zero -= zero;
    s->missing -= missing;
    s->negative -= usable & (bits < 0);
}

static inline __attribute__((always_inline)) void store(float *to, lanes_f v)
{
    *(unaligned_f *)to = v;
}

/* Store the ties of a block: the fraction of equal pairs among the picked rows, times the present
 * values less one. present: number of values that are not missing. */
static void add_ties(struct ek_list_moments *to, int first, const float *x, lanes_i present)
{
    lanes_i pairs, picked;
    memset(&pairs, 0, sizeof pairs);
    memset(&picked, 0, sizeof picked);
    for (int a = 0; a < to->picks; a++) {
        const float *row = x + (size_t)to->pick[a] * (size_t)to->features + first;
        lanes_i bits = *(const unaligned_i *)row;
        lanes_i there = (bits & EK_BITS_MAGNITUDE) < EK_BITS_INF;
        picked -= there;
        for (int b = 0; b < a; b++)
            pairs -=
                there &
                (bits ==
                 *(const unaligned_i *)(x + (size_t)to->pick[b] * (size_t)to->features + first));
    }
    lanes_f of = __builtin_convertvector(picked * (picked - 1) / 2, lanes_f);
    lanes_f ties = __builtin_convertvector(pairs, lanes_f) *
                   __builtin_convertvector(present - 1, lanes_f) / of;
    store(to->tied + first, (lanes_f)((lanes_i)ties & (picked > 1)));
}

static void do_block(struct ek_list_moments *to, int first, const float *x, int rows,
                     const float *pivot)
{
    struct block s;
    memset(&s, 0, sizeof s);
    for (int r = 0; r < rows; r++)
        add_row(&s, x + (size_t)r * (size_t)to->features + first,
                (const unaligned_f *)(pivot + first));
    store(to->ln + first, s.ln);
    store(to->ln2 + first, s.ln2);
    store(to->zero + first, __builtin_convertvector(s.zero, lanes_f));
    store(to->missing + first, __builtin_convertvector(s.missing, lanes_f));
    store(to->negative + first, __builtin_convertvector(s.negative, lanes_f));
    add_ties(to, first, x, rows - s.missing);
    store(to->usable + first, __builtin_convertvector(rows - s.zero - s.missing, lanes_f));
}

void EK_KERNEL(ek_list_moments)(struct ek_list_moments *s, const float *x, int rows,
                                const float *pivot)
{
    if (s->features < EK_LANES) {
        EK_NARROWER(ek_list_moments)(s, x, rows, pivot);
        return;
    }
    ek_list_moments_pick(s, x, rows);
    int first = 0;
    for (; first + EK_LANES <= s->features; first += EK_LANES)
        do_block(s, first, x, rows, pivot);
    if (first < s->features)
        do_block(s, s->features - EK_LANES, x, rows, pivot);
}
