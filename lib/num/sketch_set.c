/* Rows are turned into hot indexes at once and buffered; a full buffer is flushed in blocks of
 * eight features, so that eight independent counters are in flight and their pages stay in the
 * cache. The 16-bit counters need no test per update: no group of features takes more than 65,535
 * rows between two drains. Cold counters are blocks of 256 keys, handed out when a drain first
 * needs one. */
#include "base/alloc.h"
#include "base/lazy.h"
#include "num/sketch_internal.h"

#include <string.h>

enum {
    BUFFER_ROWS = 256,
    HALF = EK_KEY_LANES / 2,
    DRAIN_ROWS = UINT16_MAX,
    CHUNK = 1 << EK_HOT_CHUNK_SHIFT,
    CHUNKS = EK_SKETCH_KEYS / CHUNK,
    TURN_BLOCKS = EK_HOT_TURN / EK_SKETCH_BLOCK,
};

struct ek_sketch_set {
    int features, groups; /* groups of 16 lanes; the last one overlaps when features % 16 != 0 */
    int buffered;
    uint64_t rows;
    ek_sketch_keys_fn *to_keys;
    uint16_t *hot;    /* [features][EK_SKETCH_KEYS] */
    uint16_t *keys;   /* [groups][BUFFER_ROWS][EK_KEY_LANES] */
    uint64_t *cold;   /* [cold_used][EK_SKETCH_BLOCK] */
    uint32_t *slot;   /* [features][EK_SKETCH_BLOCKS], 1 + place in cold, 0: none */
    uint32_t *chunks; /* [groups][EK_KEY_LANES]: hot chunks written since the last drain */
    int *since;       /* [groups]: at least the rows since the last drain */
    uint32_t cold_used;
    void *memory;
    size_t bytes;
};

/* Hands out `count` * `size` bytes of one mapping, each part on a page of its own. */
static size_t place(size_t *end, size_t count, size_t size)
{
    enum { PAGE = 4096 };
    size_t start = *end;
    *end += (count * size + PAGE - 1) / PAGE * PAGE;
    return start;
}

static int map_parts(struct ek_sketch_set *s)
{
    size_t features = (size_t)s->features, groups = (size_t)s->groups, end = 0;
    size_t hot = place(&end, features * EK_SKETCH_KEYS, sizeof *s->hot);
    size_t keys = place(&end, groups * BUFFER_ROWS * EK_KEY_LANES, sizeof *s->keys);
    size_t cold = place(&end, features * EK_SKETCH_KEYS, sizeof *s->cold);
    size_t slot = place(&end, features * EK_SKETCH_BLOCKS, sizeof *s->slot);
    size_t chunks = place(&end, groups * EK_KEY_LANES, sizeof *s->chunks);
    size_t since = place(&end, groups, sizeof *s->since);
    char *m = ek_lazy_new(end);
    if (!m)
        return EK_ENOMEM;
    s->memory = m;
    s->bytes = end;
    s->hot = (uint16_t *)(m + hot);
    s->keys = (uint16_t *)(m + keys);
    s->cold = (uint64_t *)(m + cold);
    s->slot = (uint32_t *)(m + slot);
    s->chunks = (uint32_t *)(m + chunks);
    s->since = (int *)(m + since);
    return EK_OK;
}

/* Groups begin with different debts, so that their drains do not fall together. */
static void stagger(struct ek_sketch_set *s)
{
    for (int g = 0; g < s->groups; g++)
        s->since[g] = (int)((int64_t)g * (DRAIN_ROWS - BUFFER_ROWS) / s->groups);
}

int ek_sketch_set_new(struct ek_sketch_set **out, int features, struct ek_error *e)
{
    if (features < 1 || features > EK_SKETCH_FEATURES_MAX)
        return ek_fail(e, EK_ELIMIT, "a sketch set has 1 to %d features, not %d",
                       EK_SKETCH_FEATURES_MAX, features);
    struct ek_sketch_set *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for a sketch set");
    s->features = features;
    s->groups = (features + EK_KEY_LANES - 1) / EK_KEY_LANES;
    s->to_keys = ek_sketch_keys_of(ek_isa_best());
    if (map_parts(s)) {
        ek_free(s);
        return ek_fail(e, EK_ENOMEM, "no memory for a sketch set of %d features", features);
    }
    stagger(s);
    *out = s;
    return EK_OK;
}

void ek_sketch_set_free(struct ek_sketch_set *s)
{
    if (s)
        ek_lazy_free(s->memory, s->bytes);
    ek_free(s);
}

/* Feature of lane 0 of a group; the last group is moved back to end with the last feature. */
static int first_of(const struct ek_sketch_set *s, int group)
{
    int first = group * EK_KEY_LANES, last = s->features - EK_KEY_LANES;
    return first <= last ? first : last < 0 ? 0 : last;
}

/* First lane of a group that no earlier group has counted. */
static int lane_of(const struct ek_sketch_set *s, int group)
{
    return group * EK_KEY_LANES - first_of(s, group);
}

static int lanes_end(const struct ek_sketch_set *s)
{
    return s->features < EK_KEY_LANES ? s->features : EK_KEY_LANES;
}

static uint16_t *hot_of(const struct ek_sketch_set *s, int feature)
{
    return s->hot + (size_t)feature * EK_SKETCH_KEYS;
}

static uint64_t *cold_block(struct ek_sketch_set *s, int feature, int block)
{
    uint32_t *slot = s->slot + (size_t)feature * EK_SKETCH_BLOCKS + block;
    if (!*slot)
        *slot = ++s->cold_used;
    return s->cold + (size_t)(*slot - 1) * EK_SKETCH_BLOCK;
}

/* One block of 256 hot counters into the cold ones. */
static void drain_block(struct ek_sketch_set *s, int feature, int hot_block)
{
    uint16_t *hot = hot_of(s, feature) + hot_block * EK_SKETCH_BLOCK;
    uint16_t any = 0;
    for (int i = 0; i < EK_SKETCH_BLOCK; i++)
        any |= hot[i];
    if (!any)
        return;
    int block = (hot_block + EK_SKETCH_BLOCKS - TURN_BLOCKS) % EK_SKETCH_BLOCKS;
    uint64_t *cold = cold_block(s, feature, block);
    for (int i = 0; i < EK_SKETCH_BLOCK; i++)
        cold[i] += hot[i];
    memset(hot, 0, EK_SKETCH_BLOCK * sizeof *hot);
}

static void drain_lane(struct ek_sketch_set *s, int group, int lane)
{
    uint32_t *chunks = s->chunks + group * EK_KEY_LANES + lane;
    int feature = first_of(s, group) + lane;
    for (; *chunks; *chunks &= *chunks - 1) {
        int first = __builtin_ctz(*chunks) * (CHUNK / EK_SKETCH_BLOCK);
        for (int i = 0; i < CHUNK / EK_SKETCH_BLOCK; i++)
            drain_block(s, feature, first + i);
    }
}

static void drain_group(struct ek_sketch_set *s, int group)
{
    for (int lane = lane_of(s, group); lane < lanes_end(s); lane++)
        drain_lane(s, group, lane);
    s->since[group] = 0;
}

/* Eight neighbouring features, whose counters are a fixed distance apart. */
static void count_eight(uint16_t *restrict hot, const uint16_t *restrict keys, int rows)
{
    for (int r = 0; r < rows; r++, keys += EK_KEY_LANES) {
        hot[0 * EK_SKETCH_KEYS + keys[0]]++;
        hot[1 * EK_SKETCH_KEYS + keys[1]]++;
        hot[2 * EK_SKETCH_KEYS + keys[2]]++;
        hot[3 * EK_SKETCH_KEYS + keys[3]]++;
        hot[4 * EK_SKETCH_KEYS + keys[4]]++;
        hot[5 * EK_SKETCH_KEYS + keys[5]]++;
        hot[6 * EK_SKETCH_KEYS + keys[6]]++;
        hot[7 * EK_SKETCH_KEYS + keys[7]]++;
    }
}

static void count_lanes(uint16_t *hot, const uint16_t *keys, int rows, int lanes)
{
    for (int r = 0; r < rows; r++, keys += EK_KEY_LANES)
        for (int i = 0; i < lanes; i++)
            hot[i * EK_SKETCH_KEYS + keys[i]]++;
}

static void flush_group(struct ek_sketch_set *s, int group)
{
    const uint16_t *keys = s->keys + (size_t)group * BUFFER_ROWS * EK_KEY_LANES;
    int first = first_of(s, group), lane = lane_of(s, group), end = lanes_end(s);
    while (lane < end) {
        uint16_t *hot = hot_of(s, first + lane);
        int lanes = end - lane >= HALF ? HALF : end - lane;
        if (lanes == HALF)
            count_eight(hot, keys + lane, s->buffered);
        else
            count_lanes(hot, keys + lane, s->buffered, lanes);
        lane += lanes;
    }
    /* only now: a drain forgets which chunks were written, buffered rows included */
    s->since[group] += s->buffered;
    if (s->since[group] > DRAIN_ROWS - BUFFER_ROWS)
        drain_group(s, group);
}

static void flush(struct ek_sketch_set *s)
{
    for (int g = 0; g < s->groups && s->buffered; g++)
        flush_group(s, g);
    s->buffered = 0;
}

/* Fewer features than lanes: row by row, the other lanes stay unused. */
static void buffer_narrow(struct ek_sketch_set *s, const float *x, int rows)
{
    uint16_t *keys = s->keys + (size_t)s->buffered * EK_KEY_LANES;
    for (int r = 0; r < rows; r++, x += s->features, keys += EK_KEY_LANES)
        for (int f = 0; f < s->features; f++) {
            keys[f] = ek_sketch_hot_index(x[f]);
            s->chunks[f] |= 1u << (keys[f] >> EK_HOT_CHUNK_SHIFT);
        }
}

static void buffer_rows(struct ek_sketch_set *s, const float *x, int rows)
{
    if (s->features < EK_KEY_LANES) {
        buffer_narrow(s, x, rows);
    } else {
        for (int g = 0; g < s->groups; g++)
            s->to_keys(x + first_of(s, g), (size_t)s->features, rows,
                       s->keys + ((size_t)g * BUFFER_ROWS + (size_t)s->buffered) * EK_KEY_LANES,
                       s->chunks + g * EK_KEY_LANES);
    }
    s->buffered += rows;
}

int ek_sketch_set_add(struct ek_sketch_set *s, const float *x, int rows)
{
    if (rows < 0)
        return EK_EUSAGE;
    s->rows += (uint64_t)rows;
    while (rows > 0) {
        int room = BUFFER_ROWS - s->buffered, some = rows < room ? rows : room;
        buffer_rows(s, x, some);
        x += (size_t)some * (size_t)s->features;
        rows -= some;
        if (s->buffered == BUFFER_ROWS)
            flush(s);
    }
    return EK_OK;
}

/* Everything is in the cold counters afterwards. */
static void settle(struct ek_sketch_set *s)
{
    flush(s);
    for (int g = 0; g < s->groups; g++)
        for (int lane = lane_of(s, g); lane < lanes_end(s); lane++)
            drain_lane(s, g, lane);
}

void ek_sketch_set_get(struct ek_sketch_set *s, int feature, struct ek_sketch *out)
{
    int group = feature / EK_KEY_LANES;
    flush(s);
    drain_lane(s, group, feature - first_of(s, group));
    const uint32_t *slot = s->slot + (size_t)feature * EK_SKETCH_BLOCKS;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (slot[b])
            ek_sketch_add_block(out, b, s->cold + (size_t)(slot[b] - 1) * EK_SKETCH_BLOCK);
}

void ek_sketch_set_merge(struct ek_sketch_set *into, struct ek_sketch_set *from)
{
    settle(from);
    for (int f = 0; f < from->features; f++)
        for (int b = 0; b < EK_SKETCH_BLOCKS; b++) {
            uint32_t slot = from->slot[(size_t)f * EK_SKETCH_BLOCKS + b];
            if (!slot)
                continue;
            const uint64_t *add = from->cold + (size_t)(slot - 1) * EK_SKETCH_BLOCK;
            uint64_t *to = cold_block(into, f, b);
            for (int i = 0; i < EK_SKETCH_BLOCK; i++)
                to[i] += add[i];
        }
    into->rows += from->rows;
}

void ek_sketch_set_clear(struct ek_sketch_set *s)
{
    s->buffered = 0;
    for (int g = 0; g < s->groups; g++)
        for (int lane = 0; lane < lanes_end(s); lane++) {
            uint32_t *chunks = s->chunks + g * EK_KEY_LANES + lane;
            uint16_t *hot = hot_of(s, first_of(s, g) + lane);
            for (; *chunks; *chunks &= *chunks - 1)
                memset(hot + __builtin_ctz(*chunks) * CHUNK, 0, CHUNK * sizeof *hot);
        }
    memset(s->cold, 0, (size_t)s->cold_used * EK_SKETCH_BLOCK * sizeof *s->cold);
    memset(s->slot, 0, (size_t)s->features * EK_SKETCH_BLOCKS * sizeof *s->slot);
    s->cold_used = 0;
    s->rows = 0;
    stagger(s);
}

uint64_t ek_sketch_set_rows(const struct ek_sketch_set *s)
{
    return s->rows;
}
