/* Byte mutations for drivers without libFuzzer. */
#include "tests/fuzz/bytes.h"

#include "tests/fuzz/mutate.h"

#include <string.h>

enum { STEPS_MAX = 6, PIECE_MAX = 64 };

static void flip(struct ek_fuzz_input *in, struct ek_rng *r)
{
    if (in->length)
        in->bytes[ek_rng_uniform_int(r, in->length)] ^= (uint8_t)(1u << ek_rng_uniform_int(r, 8));
}

/* Lengths, tags and characters at which decoders branch. */
static void plant(struct ek_fuzz_input *in, struct ek_rng *r)
{
    static const uint8_t odd[] = {0x00, 0x01, 0x7f, 0x80, 0x9f, 0xbf, 0xc0, 0xc1,
                                  0xc4, 0xc6, 0xca, 0xcb, 0xcf, 0xd9, 0xdc, 0xdd,
                                  0xde, 0xdf, 0xff, '\n', ' ',  ':',  '-',  '"'};
    if (in->length)
        in->bytes[ek_rng_uniform_int(r, in->length)] = odd[ek_rng_uniform_int(r, sizeof odd)];
}

static void cut_out(struct ek_fuzz_input *in, struct ek_rng *r)
{
    size_t from = ek_rng_uniform_int(r, in->length + 1);
    size_t piece = ek_rng_uniform_int(r, PIECE_MAX);
    if (piece > in->length - from)
        piece = in->length - from;
    memmove(in->bytes + from, in->bytes + from + piece, in->length - from - piece);
    in->length -= piece;
}

static void repeat(struct ek_fuzz_input *in, struct ek_rng *r)
{
    size_t from = ek_rng_uniform_int(r, in->length + 1), to = ek_rng_uniform_int(r, in->length + 1);
    size_t piece = ek_rng_uniform_int(r, PIECE_MAX);
    uint8_t copy[PIECE_MAX];
    if (piece > in->length - from)
        piece = in->length - from;
    if (piece > in->most - in->length)
        return;
    memcpy(copy, in->bytes + from, piece);
    memmove(in->bytes + to + piece, in->bytes + to, in->length - to);
    memcpy(in->bytes + to, copy, piece);
    in->length += piece;
}

static void shorten(struct ek_fuzz_input *in, struct ek_rng *r)
{
    in->length = ek_rng_uniform_int(r, in->length + 1);
}

/* Join the head of this input with the tail of another. */
static void splice(struct ek_fuzz_input *in, struct ek_rng *r, const struct ek_fuzz_input *other)
{
    size_t head = ek_rng_uniform_int(r, in->length + 1),
           tail = ek_rng_uniform_int(r, other->length + 1);
    if (tail > in->most - head)
        return;
    memcpy(in->bytes + head, other->bytes + other->length - tail, tail);
    in->length = head + tail;
}

void ek_fuzz_mutate_bytes(struct ek_fuzz_input *in, struct ek_rng *r,
                          const struct ek_fuzz_input *all, size_t count)
{
    static void (*const ways[])(struct ek_fuzz_input *, struct ek_rng *) = {
        flip, flip, plant, plant, cut_out, repeat, shorten};
    enum { WAYS = sizeof ways / sizeof *ways };
    for (uint64_t steps = 1 + ek_rng_uniform_int(r, STEPS_MAX); steps; steps--) {
        size_t way = ek_rng_uniform_int(r, 2 * WAYS + 1);
        if (way < 2 * WAYS)
            ways[way % WAYS](in, r);
        else if (count)
            splice(in, r, &all[ek_rng_uniform_int(r, count)]);
    }
}

/* Mutate a piece of an input; the seed is a hash of its bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    struct ek_fuzz_input in = {data, size, most};
    struct ek_rng r;
    uint64_t seed = most;
    for (size_t i = 0; i < size; i++)
        seed = seed * 31 + data[i];
    ek_rng_seed(&r, seed);
    ek_fuzz_mutate_bytes(&in, &r, NULL, 0);
    return in.length;
}
