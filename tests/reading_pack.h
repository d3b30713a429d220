/* Decoding of messages written as text (tests/pack.h). */
#ifndef EK_TESTS_READING_PACK_H
#define EK_TESTS_READING_PACK_H

#include "tests/pack.h"
#include "tests/reading.h"

static inline int decode(struct reading *b, const char *text)
{
    ek_pack(&b->message, text);
    return reading_take(b, b->message.data, b->message.length);
}

static inline void accepts(struct reading *b, const char *text)
{
    reading_gave(b, text, decode(b, text));
}

static inline void refuses(struct reading *b, const char *text, int code, const char *message)
{
    reading_failed(b, text, decode(b, text), code, message);
}

#endif
