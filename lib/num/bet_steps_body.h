/* Kernels of bet_steps.h for any vector width. The including file defines EK_LANES and EK_KERNEL,
 * and EK_MIN and EK_MAX for vectors of min(EK_LANES, 8) numbers.
 *
 * The compiler vectorizes loops over a block only while each computes one thing; check the
 * instructions after merging two. Gathering arbitrary features into a block, with contiguous
 * evidence per feature, was slower: gather and scatter took as long as the arithmetic.
 */
enum { BET_WIDTH = EK_LANES < EK_BET_ROW ? EK_LANES : EK_BET_ROW };
typedef float bet_f __attribute__((vector_size(BET_WIDTH * 4)));
typedef int32_t bet_i __attribute__((vector_size(BET_WIDTH * 4)));
typedef uint8_t bet_bytes __attribute__((vector_size(BET_WIDTH)));
typedef float bet_row __attribute__((vector_size(BET_WIDTH * 4), aligned(4), may_alias));
typedef uint32_t bet_word __attribute__((may_alias));
typedef uint32_t bet_u __attribute__((vector_size(BET_WIDTH * 4)));
typedef uint32_t bet_unsigned __attribute__((vector_size(BET_WIDTH * 4), aligned(4), may_alias));
typedef int32_t bet_signed __attribute__((vector_size(BET_WIDTH * 4), aligned(4), may_alias));

#define BET_INLINE static inline __attribute__((always_inline))

static const uint32_t bet_bit[EK_BET_BLOCK] = {1,       1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                               1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                               1 << 12, 1 << 13, 1 << 14, 1 << 15};

/* Records of a block, transposed. */
struct bet_columns {
    float r[EK_BET_BLOCK], spread[EK_BET_BLOCK];
    uint32_t shares[EK_BET_BLOCK];
    int32_t usable[EK_BET_BLOCK];
};

typedef int32_t bet_four __attribute__((vector_size(16)));
typedef int32_t bet_record __attribute__((vector_size(16), aligned(4), may_alias));

/* Transpose four records at a time, which takes half the instructions of a plain loop. */
BET_INLINE void bet_rotate(struct bet_columns *c, const struct ek_list_stats *record)
{
    const bet_record *from = (const bet_record *)record;
    for (int i = 0; i < EK_BET_BLOCK; i += 4) {
        bet_four low = __builtin_shufflevector(from[i], from[i + 1], 0, 4, 1, 5);
        bet_four high = __builtin_shufflevector(from[i], from[i + 1], 2, 6, 3, 7);
        bet_four low2 = __builtin_shufflevector(from[i + 2], from[i + 3], 0, 4, 1, 5);
        bet_four high2 = __builtin_shufflevector(from[i + 2], from[i + 3], 2, 6, 3, 7);
        *(bet_record *)(c->r + i) = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
        *(bet_record *)(c->spread + i) = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
        *(bet_record *)(c->shares + i) = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
        *(bet_record *)(c->usable + i) = __builtin_shufflevector(high, high2, 2, 3, 6, 7) & 0xffff;
    }
}

/* Return the four shares twice, because lanes 16-19 and 20-23 bet on the same shares. */
BET_INLINE bet_i bet_shares_of(uint32_t once)
{
    uint64_t twice = once * 0x100000001u;
    bet_bytes bytes;
    memcpy(&bytes, &twice, sizeof bytes);
    return __builtin_convertvector(bytes, bet_i);
}

/* Shares are rounded down; a bet on a fall uses the next higher share, which is conservative. */
BET_INLINE void bet_on_shares(const struct ek_evalue_null *law, uint32_t shares, float *to)
{
    for (int i = 0; i < EK_BET_ROW; i += BET_WIDTH) {
        bet_f a = *(const bet_row *)&law->line[0][i], b = *(const bet_row *)&law->line[1][i];
        bet_i share = bet_shares_of(shares), unknown = share > EK_BET_SHARE_WHOLE;
        share -= (b < 0) & (share > 0);
        bet_f e = a + b * __builtin_convertvector(share, bet_f), one = {0};
        one += 1;
        *(bet_row *)(to + i) = (bet_f)((unknown & (bet_i)one) | (~unknown & (bet_i)e));
    }
}

/* Update the share bets of features with changed shares; most shares equal those of the previous
 * list. */
BET_INLINE void bet_update_shares(struct ek_bet_list *l, int first, int n, const uint32_t *shares)
{
    uint32_t differs = 0;
    for (int i = 0; i < EK_BET_BLOCK; i++)
        differs |= shares[i] ^ l->shares[first + i];
    for (int i = 0; differs && i < n; i++)
        if (shares[i] != l->shares[first + i]) {
            l->shares[first + i] = shares[i];
            bet_on_shares(&l->law[first + i], shares[i], &l->most[first + i][2 * EK_BET_ROW]);
        }
}

BET_INLINE int bet_size_class(int usable)
{
    return (usable >= 6) + (usable >= 13);
}

/* Look up inv_sd and spread_hi. The first branch is for lists with equally many values of all
 * features, which are most. */
BET_INLINE void bet_sizes(const struct ek_bet_list *l, int first, const int32_t *usable,
                          float *inv_sd, float *spread_hi)
{
    int differs = 0, k = usable[0], last = EK_BET_COUNTS - 1;
    for (int i = 0; i < EK_BET_BLOCK; i++)
        differs |= usable[i] ^ k;
    const float *of = l->inv_sd_of + (k < last ? k : last) * l->padded + first;
    const float *hi = l->spread_hi + bet_size_class(k) * l->padded + first;
    if (!differs) {
        memcpy(inv_sd, of, EK_BET_BLOCK * sizeof *of);
        memcpy(spread_hi, hi, EK_BET_BLOCK * sizeof *hi);
        return;
    }
    for (int i = 0; i < EK_BET_BLOCK; i++) {
        k = usable[i];
        inv_sd[i] = l->inv_sd_of[(k < last ? k : last) * l->padded + first + i];
        spread_hi[i] = l->spread_hi[bet_size_class(k) * l->padded + first + i];
    }
}

/* Indexes of the spread ranks and caps of the level bets. */
struct bet_sides {
    int32_t up[EK_BET_BLOCK], down[EK_BET_BLOCK], class[EK_BET_BLOCK], cap[EK_BET_BLOCK];
};

/* Separate loops, so that each is vectorized. */
BET_INLINE void bet_find_sides(struct bet_sides *s, const struct ek_bet_list *l,
                               const struct bet_columns *c, const float *spread_hi)
{
    float spread[EK_BET_BLOCK];
    for (int i = 0; i < EK_BET_BLOCK; i++)
        spread[i] = c->usable[i] >= 3 ? c->spread[i] : 0;
    for (int i = 0; i < EK_BET_BLOCK; i++) {
        s->up[i] = ek_spread_place_up(ek_spread_bin(spread[i] - EK_DEAD_BAND_SPREAD_LN));
        s->down[i] = ek_spread_bin(spread[i] + EK_DEAD_BAND_SPREAD_LN);
    }
    for (int i = 0; i < EK_BET_BLOCK; i++)
        s->class[i] = bet_size_class(c->usable[i]);
    for (int i = 0; i < EK_BET_BLOCK; i++) {
        int32_t k = c->usable[i], apart = c->spread[i] > spread_hi[i];
        int32_t company = (k == 2) & (spread_hi[i] < l->spread_unknown) & !apart;
        int32_t few = EK_CAP_LONELY * !company;
        s->cap[i] = k >= 3 ? EK_CAP_INCOHERENT * apart : few;
    }
}

/* Update lanes 0-15 of the features of a block. */
BET_INLINE void bet_update_sides(struct ek_bet_list *l, int first, int n,
                                 const struct bet_columns *c, const float *spread_hi)
{
    enum { UP = EK_BET_LEVEL_LANES, DOWN = EK_BET_ROW + UP, PAIR = EK_BET_ROW - UP };
    const struct ek_evalue_null *law = l->law + first;
    const float(*const cap)[EK_BET_ROW] = l->cap;
    const float *const *spread = l->spread + first;
    float(*const all)[EK_BET_LANES] = l->most + first;
    struct bet_sides s;
    bet_find_sides(&s, l, c, spread_hi);
    for (int i = 0; i < n; i++) {
        float *most = all[i];
        for (int lane = 0; lane < EK_BET_ROW; lane += BET_WIDTH)
            *(bet_row *)(most + lane) = *(bet_row *)(most + EK_BET_ROW + lane) =
                *(const bet_row *)&cap[s.cap[i]][lane];
        if (c->usable[i] < 3)
            continue;
        const uint8_t(*rank)[2] = law[i].spread[s.class[i]];
        memcpy(most + UP, &spread[i][rank[s.up[i]][0] * EK_BET_ROW + UP], PAIR * sizeof *most);
        memcpy(most + DOWN, &spread[i][rank[s.down[i]][1] * EK_BET_ROW + UP], PAIR * sizeof *most);
    }
}

BET_INLINE void bet_update_block(struct ek_bet_list *l, int first, int n,
                                 const struct ek_list_stats *record)
{
    struct bet_columns c;
    float inv_sd[EK_BET_BLOCK], spread_hi[EK_BET_BLOCK];
    bet_rotate(&c, record);
    bet_sizes(l, first, c.usable, inv_sd, spread_hi);
    for (int i = 0; i < EK_BET_BLOCK; i++) {
        l->r[first + i] = c.r[i];
        l->inv_sd[first + i] = c.usable[i] ? inv_sd[i] : 0;
    }
    for (int i = 0; i < n; i++)
        l->level[first + i] = c.usable[i] ? l->table[first + i] : l->nothing;
    bet_update_sides(l, first, n, &c, spread_hi);
    bet_update_shares(l, first, n, c.shares);
}

void EK_KERNEL(ek_bet_list)(struct ek_bet_list *l, const struct ek_list_stats *record)
{
    int first = 0, rest;
    for (; first + EK_BET_BLOCK <= l->features; first += EK_BET_BLOCK)
        bet_update_block(l, first, EK_BET_BLOCK, record + first);
    if ((rest = l->features - first) > 0) {
        struct ek_list_stats last[EK_BET_BLOCK];
        memset(last, 0, sizeof last);
        memcpy(last, record + first, (size_t)rest * sizeof *last);
        bet_update_block(l, first, rest, last);
    }
}

BET_INLINE float bet_clamp(float x, float most)
{
    x = x > -most ? x : -most;
    return x < most ? x : most;
}

/* Indexes of the ranks of the residual in the cell. */
struct bet_places {
    int32_t up[EK_BET_BLOCK], down[EK_BET_BLOCK];
};

BET_INLINE void bet_find(struct bet_places *p, const struct ek_bet_list *l,
                         const struct ek_bet_cell *c, int first, uint32_t mask, float *moved)
{
    const struct ek_bet_track track = c->track;
    const float *r = l->r + first, *all = c->all + first, *mu = c->mu + first;
    const float *inv_sds = l->inv_sd + first, *bands = c->band + first;
    const float *mosts = track.most + first;
    uint32_t *queries = c->queries + first;
    for (int i = 0; i < EK_BET_BLOCK; i++) {
        float residual = r[i] - all[i] - mu[i], inv_sd = inv_sds[i], band = bands[i];
        int32_t counts = (mask & bet_bit[i]) != 0;
        p->up[i] = ek_z_bin((residual - band) * inv_sd);
        p->down[i] = ek_z_place_down(ek_z_bin((-residual - band) * inv_sd));
        queries[i] += (uint32_t)counts;
        float rate = 1 / ((float)queries[i] + track.first);
        float step = (rate > track.slowest ? rate : track.slowest) *
                     bet_clamp(residual * inv_sd, track.clip) / inv_sd;
        float to = bet_clamp(mu[i] + step, mosts[i]);
        moved[i] = counts & (inv_sd > 0) ? to : mu[i];
    }
}

#define BET_ONE      0x3f800000u /* bits of 1 */
#define BET_FRACTION 0x007fffffu

BET_INLINE void bet_multiply(struct ek_bet_product *p, int lane, bet_f e)
{
    bet_f at_least = {0}, mantissa = *(const bet_row *)&p->mantissa[lane];
    at_least += EK_BET_MIN;
    bet_u bits = (bet_u)(mantissa * EK_MAX(e, at_least));
    *(bet_signed *)&p->exponent[lane] += (bet_i)(bits >> 23) - (int32_t)(BET_ONE >> 23);
    *(bet_unsigned *)&p->mantissa[lane] = (bits & BET_FRACTION) | BET_ONE;
}

BET_INLINE void bet_begin(struct ek_bet_product *p)
{
    for (int lane = 0; lane < EK_BET_LANES; lane++) {
        p->mantissa[lane] = BET_ONE;
        p->exponent[lane] = 0;
    }
}

/* Update one vector of r. product: NULL for none; constant in each call, so it adds no branch. */
BET_INLINE bet_f bet_step(bet_f e, const float *bet_scale, float *r, struct ek_bet_product *product,
                          int lane)
{
    e *= *(const bet_row *)bet_scale;
    if (product)
        bet_multiply(product, lane, e);
    e = (*(bet_row *)r + 1) * e;
    *(bet_row *)r = e;
    return e;
}

/* Update a block. products: constant, whether the cell has products. */
BET_INLINE void bet_step_block(const struct ek_bet_list *l, const struct ek_bet_cell *c, int block,
                               uint32_t mask, float *largest, float *moved, int products)
{
    enum { VECTORS = EK_BET_LANES / BET_WIDTH, SIDES = 2 * EK_BET_ROW / BET_WIDTH };
    const int first = block * EK_BET_BLOCK;
    const struct ek_evalue_null *law = l->law + first;
    const float *const *level = l->level + first;
    float(*const most)[EK_BET_LANES] = l->most + first, (*const r)[EK_BET_LANES] = c->r + first;
    const float(*const bet_scale)[EK_BET_LANES] = c->bet_scale + first;
    struct bet_places p;
    bet_f top[VECTORS] = {{0}};
    bet_find(&p, l, c, first, mask, moved);
    for (; mask; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        struct ek_bet_product *product = products ? &c->product[first + i] : NULL;
        if (products && !product->lists++)
            bet_begin(product);
        const float *row[2] = {level[i] + law[i].z[p.up[i]][0] * EK_BET_ROW,
                               level[i] + law[i].z[p.down[i]][1] * EK_BET_ROW};
        for (int j = 0; j < VECTORS; j++) {
            const int lane = j * BET_WIDTH;
            bet_f e = *(const bet_row *)&most[i][lane];
            if (j < SIDES)
                e = EK_MIN(*(const bet_row *)&row[lane / EK_BET_ROW][lane % EK_BET_ROW], e);
            top[j] = EK_MAX(top[j], bet_step(e, &bet_scale[i][lane], &r[i][lane], product, lane));
        }
    }
    memcpy(largest, top, sizeof top);
}

void EK_KERNEL(ek_bet_step)(const struct ek_bet_list *l, const struct ek_bet_cell *c, int block,
                            uint32_t mask, float *largest, float *moved)
{
    if (c->product)
        bet_step_block(l, c, block, mask, largest, moved, 1);
    else
        bet_step_block(l, c, block, mask, largest, moved, 0);
}
