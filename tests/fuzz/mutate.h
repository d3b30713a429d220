/* Structure-aware mutations, which reach the code after the parser.
 *
 * A target calls one from its LLVMFuzzerCustomMutator. Part of each mutation is by
 * LLVMFuzzerMutate, which is libFuzzer's or that of bytes.c. All work in place on `size` bytes with
 * capacity `most` and return the new size. They are deterministic for a seed (and, under libFuzzer,
 * its state). Input of another form is mutated as bytes. Single-threaded.
 */
#ifndef EK_TESTS_FUZZ_MUTATE_H
#define EK_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
/* Optional in a target. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
    __attribute__((weak));

enum { EK_FUZZ_WORDS_MAX = 600 };

/* Dictionary of a format. */
struct ek_fuzz_words {
    const char *key[EK_FUZZ_WORDS_MAX], *value[EK_FUZZ_WORDS_MAX];
    size_t keys, values;
};

/* Ignored if the dictionary is full. */
void ek_fuzz_key(struct ek_fuzz_words *w, const char *key);
void ek_fuzz_value(struct ek_fuzz_words *w, const char *value);
/* Add each word of a space-separated text; NULL has none. */
void ek_fuzz_keys(struct ek_fuzz_words *w, const char *words);
void ek_fuzz_values(struct ek_fuzz_words *w, const char *words);

/* Mutate MessagePack by whole values; lengths and counts stay valid. New map pairs use `keys`. */
size_t ek_fuzz_mutate_msgpack(uint8_t *data, size_t size, size_t most, unsigned seed,
                              const struct ek_fuzz_words *w);
/* Mutate text of indented `key: value` lines, such as YAML. */
size_t ek_fuzz_mutate_lines(uint8_t *data, size_t size, size_t most, unsigned seed,
                            const struct ek_fuzz_words *w);
/* Mutate the numbers and arrays of a safetensors file; its header length stays valid. */
size_t ek_fuzz_mutate_tensors(uint8_t *data, size_t size, size_t most, unsigned seed);

#endif
