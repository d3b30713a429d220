/* Mutations that keep the form of an input, so that what lies behind the form is reached as well.
 *
 * A target calls one from its LLVMFuzzerCustomMutator; each takes the bytes at hand in part as they
 * are, by LLVMFuzzerMutate, which is libFuzzer's or, where there is none, that of bytes.c. All work
 * in place on `size` of at most `most` bytes, return the new size, and do the same for the same
 * seed (and, under libFuzzer, the same state of it). What is not of their form is changed as bytes.
 * Threads: one.
 */
#ifndef EK_TESTS_FUZZ_MUTATE_H
#define EK_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
/* A target may have its own. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
    __attribute__((weak));

enum { EK_FUZZ_WORDS_MAX = 600 };

/* What a format has words for. */
struct ek_fuzz_words {
    const char *key[EK_FUZZ_WORDS_MAX], *value[EK_FUZZ_WORDS_MAX];
    size_t keys, values;
};

/* Passed over when there are too many. */
void ek_fuzz_key(struct ek_fuzz_words *w, const char *key);
void ek_fuzz_value(struct ek_fuzz_words *w, const char *value);
/* Each word of a text with one space between; NULL has none. */
void ek_fuzz_keys(struct ek_fuzz_words *w, const char *words);
void ek_fuzz_values(struct ek_fuzz_words *w, const char *words);

/* MessagePack: trees change by whole values, lengths and counts stay right. The keys are those that
 * new pairs of maps get. */
size_t ek_fuzz_mutate_msgpack(uint8_t *data, size_t size, size_t most, unsigned seed,
                              const struct ek_fuzz_words *w);
/* Text whose lines are `key: value`, indented: YAML as people write it. */
size_t ek_fuzz_mutate_lines(uint8_t *data, size_t size, size_t most, unsigned seed,
                            const struct ek_fuzz_words *w);
/* safetensors: the header stays as long as it says, its numbers and the arrays change. */
size_t ek_fuzz_mutate_tensors(uint8_t *data, size_t size, size_t most, unsigned seed);

#endif
