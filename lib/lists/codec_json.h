/* JSON to msgpack conversion for the codec, and numbers to JSON. C interface of the only module
 * that includes simdjson.
 *
 * JSON messages use the msgpack decoder, so both encodings follow the same rules; positions map
 * back to the text. The whole text is validated, skipped parts too: UTF-8, escapes, numbers,
 * brackets. Numbers in arrays become float64. The value of a key becomes an integer if written as
 * one (no point, no exponent, not -0) and in -2^63 .. 2^64-1, else float64. Doubles are correctly
 * rounded; numbers out of range are errors. NaN and Infinity are not JSON. Memory is reused and
 * only grows. One thread at a time.
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

/* Reason that a text is not a JSON object. */
struct ek_json_fault {
    const char *what;
    size_t at; /* byte offset, SIZE_MAX if unknown */
};

enum { EK_JSON_NUMBER_BYTES = 32, EK_JSON_DEPTH_MAX = 1100 };

/* Return the length of the frame of a schema registry before an object: a zero byte and an id of 4
 * bytes, which no JSON text begins with; else 0. */
static inline size_t ek_json_frame(const void *text, size_t length)
{
    enum { FRAME_BYTES = 5 };
    return length > FRAME_BYTES && !*(const char *)text ? FRAME_BYTES : 0;
}
/* Parse `length` bytes that nest at most `depth` levels (at most EK_JSON_DEPTH_MAX), with
 * surrounding white space, and after a frame. *json is created if NULL and can be reused after an
 * error. Return 0, EK_ENOMEM, or EK_EFORMAT or EK_ELIMIT (depth) with *fault set. */
int ek_json_read(struct ek_json **json, const void *text, size_t length, int depth,
                 struct ek_json_fault *fault);
void ek_json_free(struct ek_json *json);

/* Return the parsed object as msgpack, and set *length. Valid until the next parse; `json` owns it.
 */
const uint8_t *ek_json_wire(const struct ek_json *json, size_t *length);
/* Set *place to the position in the text of the value at `offset` of the msgpack: a scalar, or the
 * bracket of a container. Keyed numbers, nulls and arrays are found by a search, others from the
 * value before them or from the last one found. Return false if there is none. */
bool ek_json_place(struct ek_json *json, size_t offset, struct ek_place *place);

/* Write the shortest decimal that parses to the same double. Return its length, or 0 if the value
 * is not finite. No nul is added. */
size_t ek_json_double(char out[EK_JSON_NUMBER_BYTES], double value);
/* Write a whole number below 1e21 without an exponent, which readers of integers reject, and any
 * other value as ek_json_double. */
size_t ek_json_plain(char out[EK_JSON_NUMBER_BYTES], double value);
/* Write the shortest decimal that parses to the same float. Return its length. Infinities become
 * 1e39, which parses as infinite; NaN returns 0. */
size_t ek_json_float(char out[EK_JSON_NUMBER_BYTES], float value);
/* Write the shortest decimal that parses to the same float, in the layout of printf's %g with that
 * many digits, at least six. Return its length. */
size_t ek_json_printed(char out[EK_JSON_NUMBER_BYTES], float value);

#ifdef __cplusplus
}
#endif

#endif
