/* Mutations of safetensors files: 8 bytes of length, a JSON header, arrays. */
#include "base/rng.h"
#include "tests/fuzz/mutate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX = 8, HEADER_MAX = 1 << 16, NUMBER = 24 };

struct file {
    uint8_t *data;
    size_t size, most, header;
};

static bool read_file(struct file *f)
{
    uint64_t length = 0;
    if (f->size < PREFIX)
        return false;
    for (int i = PREFIX; i--;)
        length = length << 8 | f->data[i];
    f->header = (size_t)length;
    return length <= f->size - PREFIX && length <= HEADER_MAX;
}

/* Replace `cut` bytes of the header at `at` by `fill`, and update its length. */
static void splice(struct file *f, size_t at, size_t cut, const void *fill, size_t filled)
{
    if (f->size - cut + filled > f->most)
        return;
    memmove(f->data + at + filled, f->data + at + cut, f->size - at - cut);
    memcpy(f->data + at, fill, filled);
    f->size += filled - cut;
    f->header += filled - cut;
    for (int i = 0; i < PREFIX; i++)
        f->data[i] = (uint8_t)((uint64_t)f->header >> 8 * i);
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Select a run of digits uniformly. */
static bool any_number(const struct file *f, struct ek_rng *r, size_t *at, size_t *length)
{
    uint64_t seen = 0;
    for (size_t i = PREFIX; i < PREFIX + f->header; i++) {
        if (!is_digit(f->data[i]) || is_digit(f->data[i - 1]))
            continue;
        if (ek_rng_uniform_int(r, ++seen))
            continue;
        *at = i;
        for (*length = 0; i + *length < PREFIX + f->header && is_digit(f->data[i + *length]);)
            ++*length;
    }
    return seen > 0;
}

static void change_number(struct file *f, struct ek_rng *r)
{
    static const char *const edges[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "1e3",
                                        "0.5",
                                        "65536",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775807",
                                        "18446744073709551616"};
    size_t at, length, from, copied;
    char number[NUMBER];
    if (!any_number(f, r, &at, &length))
        return;
    uint64_t way = ek_rng_uniform_int(r, 3);
    if (way == 0 && length < NUMBER - 2) { /* plus or minus one */
        long long value = 0;
        for (size_t i = 0; i < length && i < 15; i++)
            value = value * 10 + (f->data[at + i] - '0');
        int n =
            snprintf(number, sizeof number, "%lld", value + (ek_rng_uniform_int(r, 2) ? 1 : -1));
        splice(f, at, length, number, (size_t)n);
    } else if (way == 1 && any_number(f, r, &from, &copied) && copied < NUMBER) {
        memcpy(number, f->data + from, copied);
        splice(f, at, length, number, copied);
    } else {
        const char *edge = edges[ek_rng_uniform_int(r, sizeof edges / sizeof *edges)];
        splice(f, at, length, edge, strlen(edge));
    }
}

static void change_header(struct file *f)
{
    static uint8_t header[HEADER_MAX];
    size_t room = f->most - (f->size - f->header), length = f->header;
    memcpy(header, f->data + PREFIX, length);
    length = LLVMFuzzerMutate(header, length, room < HEADER_MAX ? room : HEADER_MAX);
    splice(f, PREFIX, f->header, header, length);
}

/* Replace a value of an array by an unusual one. */
static void change_value(struct file *f, struct ek_rng *r)
{
    static const float odd[] = {0,      -0.f,      1,          -1,        1e38f,
                                1e-45f, 1.f / 0.f, -1.f / 0.f, 0.f / 0.f, 65536};
    static const double wide[] = {0, -1, 1e308, 5e-324, 1. / 0., 0. / 0., 1e18};
    size_t begin = PREFIX + f->header, values = (f->size - begin) / sizeof(double);
    if (!values)
        return;
    uint8_t *at = f->data + begin + sizeof(double) * ek_rng_uniform_int(r, values);
    if (ek_rng_uniform_int(r, 2))
        memcpy(at + 4 * ek_rng_uniform_int(r, 2),
               &odd[ek_rng_uniform_int(r, sizeof odd / sizeof *odd)], 4);
    else
        memcpy(at, &wide[ek_rng_uniform_int(r, sizeof wide / sizeof *wide)], sizeof *wide);
}

size_t ek_fuzz_mutate_tensors(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct file f = {data, size, most, 0};
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    if (!ek_rng_uniform_int(&r, 6) || !read_file(&f))
        return LLVMFuzzerMutate(data, size, most);
    for (uint64_t steps = 1 + ek_rng_uniform_int(&r, 3); steps; steps--) {
        uint64_t way = ek_rng_uniform_int(&r, 8);
        if (way < 3)
            change_number(&f, &r);
        else if (way < 5)
            change_header(&f);
        else
            change_value(&f, &r);
    }
    return f.size;
}
