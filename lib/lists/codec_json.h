/* JSON text turned into the msgpack that the codec reads, and numbers turned into JSON. The only
 * module that includes simdjson; what is here is C for its callers.
 *
 * A JSON message goes through the same reader as a msgpack one, so that both are judged by the same
 * rules: this gives the reader its bytes, and says where in the text a value stood. The whole text
 * is checked, parts that nobody asks for too: UTF-8, escapes, numbers, brackets. Numbers: those in
 * arrays become float64. The value of a key becomes an integer when it is written as one (no point,
 * no exponent, not -0) and lies in -2^63 .. 2^64-1, a float64 otherwise. Doubles are correctly
 * rounded; what lies beyond them is an error. NaN and Infinity are no JSON. Owner: the caller.
 * Memory is reused from text to text and grows only: nothing is asked for once it has grown to the
 * size of the texts. Threads: one at a time.
 */
#ifndef EK_LISTS_CODEC_JSON_H
#define EK_LISTS_CODEC_JSON_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ek_json;
struct ek_place;

/* Why a text is no JSON object. */
struct ek_json_fault {
    const char *what;
    size_t at; /* byte of the text, SIZE_MAX when nothing is known of the place */
};

enum { EK_JSON_NUMBER_BYTES = 32, EK_JSON_DEPTH_MAX = 1100 };

/* Reads `length` bytes of text that nest at most `depth` levels (at most EK_JSON_DEPTH_MAX), spaces
 * around the object included. *json is made when it is NULL. EK_EFORMAT, EK_ELIMIT (depth) with
 * *fault set, EK_ENOMEM; afterwards it can be used for the next text. */
int ek_json_read(struct ek_json **json, const void *text, size_t length, int depth,
                 struct ek_json_fault *fault);
void ek_json_free(struct ek_json *json);

/* The object as msgpack, valid until the next text. */
const uint8_t *ek_json_wire(const struct ek_json *json, size_t *length);
/* Where the number or null stood that is a key's value and begins at `offset` of the msgpack; false
 * when there is none. */
bool ek_json_place(const struct ek_json *json, size_t offset, struct ek_place *place);

/* Writes the shortest decimal that is read back as the same number, and returns its length, or 0
 * for what is not finite. An infinite float becomes 1e39, which is read back as infinite. */
size_t ek_json_double(char out[EK_JSON_NUMBER_BYTES], double value);
size_t ek_json_float(char out[EK_JSON_NUMBER_BYTES], float value);

#ifdef __cplusplus
}
#endif

#endif
