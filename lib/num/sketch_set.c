/* A row is converted to hot indexes and buffered. A full buffer is flushed in blocks of eight
 * features: eight independent counters are in flight and their pages stay in the cache. Each group
 * of features has its own buffer. The buffers fill up at different times, so a list flushes one or
 * two of them. No group receives more than 65,535 rows between two drains, so 16-bit counters need
 * no test per update. Cold counters are blocks of 256 keys, allocated at the first drain that needs
 * them.
 *
 * The cold counters belong to the sealed part. Hot counters are drained once, at the first flush
 * after the seal or the first removal, and then count the new rows. A seal therefore needs no copy
 * and no second set, if no other drain is due before. EK_SKETCH_SEALED_ROWS guarantees that.
 */
#include "base/alloc.h"
#include "num/sketch_internal.h"

#include <string.h>

enum {
    BUFFER_ROWS = 640,
    HALF = EK_KEY_LANES / 2,
    DRAIN_ROWS = UINT16_MAX - BUFFER_ROWS, /* a later flush may add BUFFER_ROWS more */
    CHUNK = 1 << EK_HOT_CHUNK_SHIFT,
    CHUNK_BLOCKS = CHUNK / EK_SKETCH_BLOCK,
    PAGE = 4096
};

struct ek_sketch_set {
    int features, groups; /* groups of 16 lanes; the last one overlaps if features % 16 != 0 */
    uint64_t rows, sealed_rows;
    int sealed; /* first feature with a sealed part, else `features` */
    struct ek_sketch_kernels kernels;
    uint16_t *hot;       /* [features][EK_SKETCH_KEYS] */
    uint16_t *keys;      /* [groups][BUFFER_ROWS][EK_KEY_LANES] */
    uint64_t *cold;      /* [cold_used][EK_SKETCH_BLOCK] */
    uint32_t *slot;      /* [features][EK_SKETCH_BLOCKS], 1 + index in cold; 0: none */
    uint32_t *chunks;    /* [groups][EK_KEY_LANES], hot chunks written since the last drain */
    int *buffered;       /* [groups], rows in the buffer */
    int *due;            /* [groups], rows that trigger a flush */
    int *since;          /* [groups], upper bound of the rows since the last drain */
    uint8_t *hot_sealed; /* [groups], 1 while the hot counters belong to the sealed rows */
    uint32_t cold_used, cold_touched; /* blocks in use, and their maximum so far */
    uint32_t *hot_touched;            /* [groups][EK_KEY_LANES], chunks ever written */
    size_t hot_pages;                 /* of all features; a chunk is a page */
    void *memory;
    size_t bytes;
};

/* Reserve `count` * `size` bytes of the mapping on separate pages. Return their offset. */
static size_t place(size_t *end, size_t count, size_t size)
{
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
    size_t hot_touched = place(&end, groups * EK_KEY_LANES, sizeof *s->hot_touched);
    size_t rows = place(&end, 3 * groups, sizeof *s->since);
    size_t hot_sealed = place(&end, groups, sizeof *s->hot_sealed);
    char *m = ek_reserve_memory_new(end);
    if (!m)
        return EK_ENOMEM;
    s->memory = m;
    s->bytes = end;
    s->hot = (uint16_t *)(m + hot);
    s->keys = (uint16_t *)(m + keys);
    s->cold = (uint64_t *)(m + cold);
    s->slot = (uint32_t *)(m + slot);
    s->chunks = (uint32_t *)(m + chunks);
    s->hot_touched = (uint32_t *)(m + hot_touched);
    s->since = (int *)(m + rows);
    s->buffered = s->since + groups;
    s->due = s->buffered + groups;
    s->hot_sealed = (uint8_t *)(m + hot_sealed);
    return EK_OK;
}

/* Start groups at different counts, so that their flushes and drains do not coincide. No drain is
 * due before EK_SKETCH_SEALED_ROWS rows. */
static void stagger_flush(struct ek_sketch_set *s, int group)
{
    s->due[group] = BUFFER_ROWS - (int)((int64_t)group * BUFFER_ROWS / s->groups);
}

static void stagger_drain(struct ek_sketch_set *s, int group)
{
    s->since[group] =
        (int)((int64_t)group * (DRAIN_ROWS - EK_SKETCH_SEALED_ROWS - BUFFER_ROWS) / s->groups);
}

int ek_sketch_set_new(struct ek_sketch_set **out, int features, struct ek_error *e)
{
    if (features < 1 || features > EK_SKETCH_FEATURES_MAX)
        return ek_fail(e, EK_ELIMIT, "a sketch set has 1 to %d features, not %d",
                       EK_SKETCH_FEATURES_MAX, features);
    struct ek_sketch_set *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->features = features;
    s->groups = (features + EK_KEY_LANES - 1) / EK_KEY_LANES;
    s->sealed = features;
    s->kernels = ek_sketch_kernels_get(ek_isa_best());
    if (map_parts(s)) {
        ek_free(s);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    for (int g = 0; g < s->groups; g++) {
        stagger_flush(s, g);
        stagger_drain(s, g);
    }
    *out = s;
    return EK_OK;
}

void ek_sketch_set_free(struct ek_sketch_set *s)
{
    if (s)
        ek_reserve_memory_free(s->memory, s->bytes);
    ek_free(s);
}

/* Return the feature of lane 0. The last group is shifted back to end with the last feature. */
static int first_of(const struct ek_sketch_set *s, int group)
{
    int first = group * EK_KEY_LANES, last = s->features - EK_KEY_LANES;
    return first <= last ? first : last < 0 ? 0 : last;
}

/* Return the first lane that no earlier group counts. */
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
    if (s->cold_used > s->cold_touched)
        s->cold_touched = s->cold_used;
    return s->cold + (size_t)(*slot - 1) * EK_SKETCH_BLOCK;
}

static int is_empty(const uint16_t *hot)
{
    uint16_t any = 0;
    for (int i = 0; i < EK_SKETCH_BLOCK; i++)
        any |= hot[i];
    return !any;
}

/* Add one block of hot counters to the cold ones and clear it. */
static void drain_block(struct ek_sketch_set *s, int feature, int hot_block)
{
    uint16_t *hot = hot_of(s, feature) + hot_block * EK_SKETCH_BLOCK;
    if (is_empty(hot))
        return;
    s->kernels.add_hot(cold_block(s, feature, ek_sketch_hot_to_block(hot_block)), hot);
    memset(hot, 0, EK_SKETCH_BLOCK * sizeof *hot);
}

/* Keeps s->chunks, because buffered rows have already set their bits. */
static void drain_group(struct ek_sketch_set *s, int group)
{
    for (int lane = lane_of(s, group); lane < lanes_end(s); lane++) {
        uint32_t chunks = s->chunks[group * EK_KEY_LANES + lane];
        for (; chunks; chunks &= chunks - 1)
            for (int i = 0; i < CHUNK_BLOCKS; i++)
                drain_block(s, first_of(s, group) + lane, __builtin_ctz(chunks) * CHUNK_BLOCKS + i);
    }
}

/* Drain a group's sealed hot counters, so that they count the rows since the seal. */
static void unseal_hot(struct ek_sketch_set *s, int group)
{
    if (!s->hot_sealed[group])
        return;
    drain_group(s, group);
    s->hot_sealed[group] = 0;
    stagger_drain(s, group);
}

static void empty_hot(struct ek_sketch_set *s, int group)
{
    drain_group(s, group);
    memset(s->chunks + group * EK_KEY_LANES, 0, EK_KEY_LANES * sizeof *s->chunks);
    s->since[group] = 0;
}

/* Return the bytes outside hot and cold counters; each part has separate pages. */
static size_t fixed_bytes(int features)
{
    size_t f = (size_t)features, groups = (f + EK_KEY_LANES - 1) / EK_KEY_LANES, end = 0;
    place(&end, groups * BUFFER_ROWS * EK_KEY_LANES, sizeof(uint16_t));
    place(&end, f * EK_SKETCH_BLOCKS, sizeof(uint32_t));
    place(&end, groups * EK_KEY_LANES, sizeof(uint32_t));
    place(&end, groups * EK_KEY_LANES, sizeof(uint32_t));
    place(&end, 3 * groups, sizeof(int));
    place(&end, groups, sizeof(uint8_t));
    return sizeof(struct ek_sketch_set) + end;
}

size_t ek_sketch_set_bytes(const struct ek_sketch_set *s)
{
    size_t cold = (size_t)s->cold_touched * EK_SKETCH_BLOCK * sizeof *s->cold;
    return fixed_bytes(s->features) + s->hot_pages * PAGE + (cold + PAGE - 1) / PAGE * PAGE;
}

/* Count eight adjacent features; their counters are a fixed distance apart. */
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

/* Update the statistics of written pages. Only a flush writes hot counters. */
static void note_hot(struct ek_sketch_set *s, int group)
{
    const uint32_t *chunks = s->chunks + group * EK_KEY_LANES;
    uint32_t *touched = s->hot_touched + group * EK_KEY_LANES;
    for (int lane = lane_of(s, group); lane < lanes_end(s); lane++) {
        s->hot_pages += (size_t)__builtin_popcount(chunks[lane] & ~touched[lane]);
        touched[lane] |= chunks[lane];
    }
}

static void flush_group(struct ek_sketch_set *s, int group)
{
    const uint16_t *keys = s->keys + (size_t)group * BUFFER_ROWS * EK_KEY_LANES;
    int first = first_of(s, group), lane = lane_of(s, group), end = lanes_end(s);
    int rows = s->buffered[group];
    unseal_hot(s, group);
    note_hot(s, group);
    while (lane < end) {
        uint16_t *hot = hot_of(s, first + lane);
        int lanes = end - lane >= HALF ? HALF : end - lane;
        if (lanes == HALF)
            count_eight(hot, keys + lane, rows);
        else
            count_lanes(hot, keys + lane, rows, lanes);
        lane += lanes;
    }
    s->buffered[group] = 0;
    s->due[group] = BUFFER_ROWS;
    s->since[group] += rows;
    if (s->since[group] > DRAIN_ROWS)
        empty_hot(s, group);
}

static void flush(struct ek_sketch_set *s)
{
    for (int g = 0; g < s->groups; g++) {
        if (s->buffered[g])
            flush_group(s, g);
        stagger_flush(s, g);
    }
}

/* Convert rows of fewer features than lanes; the other lanes stay unused. */
static void narrow_keys(const struct ek_sketch_set *s, const float *x, int rows, uint16_t *keys)
{
    for (int r = 0; r < rows; r++, x += s->features, keys += EK_KEY_LANES)
        for (int f = 0; f < s->features; f++) {
            keys[f] = ek_sketch_hot_index(x[f]);
            s->chunks[f] |= 1u << (keys[f] >> EK_HOT_CHUNK_SHIFT);
        }
}

static void buffer_group(struct ek_sketch_set *s, int group, const float *x, int rows)
{
    uint16_t *keys =
        s->keys + ((size_t)group * BUFFER_ROWS + (size_t)s->buffered[group]) * EK_KEY_LANES;
    if (s->features < EK_KEY_LANES)
        narrow_keys(s, x, rows, keys);
    else
        s->kernels.keys(x + first_of(s, group), (size_t)s->features, rows, keys,
                        s->chunks + group * EK_KEY_LANES);
    s->buffered[group] += rows;
}

static void add_to_group(struct ek_sketch_set *s, int group, const float *x, int rows)
{
    while (rows > 0) {
        int room = s->due[group] - s->buffered[group], some = rows < room ? rows : room;
        buffer_group(s, group, x, some);
        x += (size_t)some * (size_t)s->features;
        rows -= some;
        if (s->buffered[group] == s->due[group])
            flush_group(s, group);
    }
}

int ek_sketch_set_add(struct ek_sketch_set *s, const float *x, int rows)
{
    if (rows < 0)
        return EK_EUSAGE;
    if (s->sealed < s->features && s->rows + (uint64_t)rows > EK_SKETCH_SEALED_ROWS)
        return EK_EUSAGE;
    s->rows += (uint64_t)rows;
    for (int g = 0; g < s->groups; g++)
        add_to_group(s, g, x, rows);
    return EK_OK;
}

static void get_cold(const struct ek_sketch_set *s, int feature, struct ek_sketch *out)
{
    const uint32_t *slot = s->slot + (size_t)feature * EK_SKETCH_BLOCKS;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (slot[b]) {
            s->kernels.add_wide(out->count + b * EK_SKETCH_BLOCK,
                                s->cold + (size_t)(slot[b] - 1) * EK_SKETCH_BLOCK);
            ek_sketch_touch(out, b);
        }
}

static void get_hot(const struct ek_sketch_set *s, int feature, struct ek_sketch *out)
{
    int group = feature / EK_KEY_LANES, lane = feature - first_of(s, group);
    uint32_t chunks = s->chunks[group * EK_KEY_LANES + lane];
    for (; chunks; chunks &= chunks - 1)
        for (int i = 0; i < CHUNK_BLOCKS; i++) {
            int hot_block = __builtin_ctz(chunks) * CHUNK_BLOCKS + i;
            int block = ek_sketch_hot_to_block(hot_block);
            const uint16_t *hot = hot_of(s, feature) + hot_block * EK_SKETCH_BLOCK;
            if (is_empty(hot))
                continue;
            s->kernels.add_hot(out->count + block * EK_SKETCH_BLOCK, hot);
            ek_sketch_touch(out, block);
        }
}

static void get_buffered(const struct ek_sketch_set *s, int feature, struct ek_sketch *out)
{
    int group = feature / EK_KEY_LANES, lane = feature - first_of(s, group);
    const uint16_t *hot = s->keys + (size_t)group * BUFFER_ROWS * EK_KEY_LANES + lane;
    for (int r = 0; r < s->buffered[group]; r++, hot += EK_KEY_LANES) {
        int key = (*hot + EK_SKETCH_KEYS - EK_HOT_ROUND) % EK_SKETCH_KEYS;
        out->count[key]++;
        ek_sketch_touch(out, key / EK_SKETCH_BLOCK);
    }
}

void ek_sketch_set_get(const struct ek_sketch_set *s, int feature, struct ek_sketch *out)
{
    if (s->sealed == s->features)
        get_cold(s, feature, out);
    if (!s->hot_sealed[feature / EK_KEY_LANES])
        get_hot(s, feature, out);
    get_buffered(s, feature, out);
    out->total += s->rows;
}

void ek_sketch_set_seal(struct ek_sketch_set *s)
{
    flush(s);
    memset(s->hot_sealed, 1, (size_t)s->groups * sizeof *s->hot_sealed);
    s->sealed_rows = s->rows;
    s->rows = 0;
    s->sealed = 0;
}

int ek_sketch_set_sealed(const struct ek_sketch_set *s)
{
    return s->sealed;
}

void ek_sketch_set_get_sealed(const struct ek_sketch_set *s, int feature, struct ek_sketch *out)
{
    if (feature < s->sealed)
        return;
    get_cold(s, feature, out);
    if (s->hot_sealed[feature / EK_KEY_LANES])
        get_hot(s, feature, out);
    out->total += s->sealed_rows;
}

void ek_sketch_set_remove_sealed(struct ek_sketch_set *s)
{
    uint32_t *slot = s->slot + (size_t)s->sealed * EK_SKETCH_BLOCKS;
    unseal_hot(s, s->sealed / EK_KEY_LANES);
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (slot[b])
            memset(s->cold + (size_t)(slot[b] - 1) * EK_SKETCH_BLOCK, 0,
                   EK_SKETCH_BLOCK * sizeof *s->cold);
    memset(slot, 0, EK_SKETCH_BLOCKS * sizeof *slot);
    if (++s->sealed == s->features)
        s->cold_used = 0;
}

static void merge_feature(struct ek_sketch_set *into, const struct ek_sketch_set *from, int feature)
{
    const uint32_t *slot = from->slot + (size_t)feature * EK_SKETCH_BLOCKS;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (slot[b])
            into->kernels.add_wide(cold_block(into, feature, b),
                                   from->cold + (size_t)(slot[b] - 1) * EK_SKETCH_BLOCK);
}

int ek_sketch_set_merge(struct ek_sketch_set *into, struct ek_sketch_set *from)
{
    if (into->features != from->features || into->sealed < into->features ||
        from->sealed < from->features)
        return EK_EUSAGE;
    flush(from);
    for (int g = 0; g < from->groups; g++)
        empty_hot(from, g);
    for (int f = 0; f < from->features; f++)
        merge_feature(into, from, f);
    into->rows += from->rows;
    return EK_OK;
}

int ek_sketch_set_add_sketch(struct ek_sketch_set *into, int feature, const struct ek_sketch *from)
{
    if (into->sealed < into->features)
        return EK_EUSAGE;
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (ek_sketch_touches(from, b))
            into->kernels.add_wide(cold_block(into, feature, b), from->count + b * EK_SKETCH_BLOCK);
    return EK_OK;
}

int ek_sketch_set_add_rows(struct ek_sketch_set *into, uint64_t rows)
{
    if (into->sealed < into->features)
        return EK_EUSAGE;
    into->rows += rows;
    return EK_OK;
}

void ek_sketch_set_clear(struct ek_sketch_set *s)
{
    for (int g = 0; g < s->groups; g++) {
        note_hot(s, g); /* buffered rows have marked their chunks, which are cleared here */
        for (int lane = 0; lane < lanes_end(s); lane++) {
            uint32_t *chunks = s->chunks + g * EK_KEY_LANES + lane;
            uint16_t *hot = hot_of(s, first_of(s, g) + lane);
            for (; *chunks; *chunks &= *chunks - 1)
                memset(hot + __builtin_ctz(*chunks) * CHUNK, 0, CHUNK * sizeof *hot);
        }
        s->hot_sealed[g] = 0;
        stagger_flush(s, g);
        stagger_drain(s, g);
        s->buffered[g] = 0;
    }
    memset(s->cold, 0, (size_t)s->cold_used * EK_SKETCH_BLOCK * sizeof *s->cold);
    memset(s->slot, 0, (size_t)s->features * EK_SKETCH_BLOCKS * sizeof *s->slot);
    s->cold_used = 0;
    s->rows = s->sealed_rows = 0;
    s->sealed = s->features;
}

uint64_t ek_sketch_set_rows(const struct ek_sketch_set *s)
{
    return s->rows;
}
