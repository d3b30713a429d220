/* Codec of a small manifest and a decoded message, for tests of any encoding. */
#ifndef EK_TESTS_READING_H
#define EK_TESTS_READING_H

#include "base/alloc.h"
#include "lists/codec.h"
#include "schema/manifest.h"

#include <check.h>
#include <string.h>

static const char READING_FEATURES[] = "features:\n"
                                       "  - {name: price, index: 1, role: item, routable: true}\n"
                                       "  - {name: rating, index: 2, role: item}\n"
                                       "  - {name: nights, index: 3, role: query}\n"
                                       "derived_query_features: [log_list_size]\n";

struct reading {
    struct ek_manifest *manifest;
    struct ek_codec *codec;
    struct ek_list q;
    struct ek_buf message, out;
    struct ek_error e;
    uint8_t *bytes; /* the message, in memory of exactly its size for the sanitizers */
    size_t length;
};

static inline struct reading reading_of(const char *features, const struct ek_mapping *mapping,
                                        const struct ek_codec_limits *limits)
{
    struct reading r = {0};
    ck_assert_int_eq(
        ek_manifest_parse(&r.manifest, "features.yaml", features, strlen(features), &r.e), EK_OK);
    ck_assert_int_eq(ek_codec_new(&r.codec, r.manifest, mapping, limits, &r.e), EK_OK);
    ek_list_init(&r.q);
    ek_buf_init(&r.message, 0);
    ek_buf_init(&r.out, 0);
    return r;
}

static inline void reading_end(struct reading *r)
{
    ek_list_release(&r->q);
    ek_buf_release(&r->message);
    ek_buf_release(&r->out);
    ek_codec_free(r->codec);
    ek_manifest_free(r->manifest);
    ek_free(r->bytes);
}

static inline int reading_take(struct reading *r, const void *bytes, size_t length)
{
    uint8_t *exact = ek_realloc(NULL, length, 1);
    ck_assert_ptr_nonnull(exact);
    if (length)
        memcpy(exact, bytes, length);
    ek_free(r->bytes);
    r->bytes = exact;
    r->length = length;
    return ek_codec_decode(r->codec, exact, length, &r->q, &r->e);
}

/* Compare a decoding result with the expected one. */
static inline void reading_gave(const struct reading *r, const char *text, int rc)
{
    ck_assert_msg(rc == EK_OK, "%s\n%s", text, r->e.message);
}

static inline void reading_failed(const struct reading *r, const char *text, int rc, int code,
                                  const char *message)
{
    ck_assert_msg(rc == code, "%s\ngave %d, not %d: %s", text, rc, code, r->e.message);
    ck_assert_str_eq(r->e.message, message);
}

static inline void is_text(struct ek_text view, const char *text)
{
    ck_assert_uint_eq(view.length, strlen(text));
    ck_assert_mem_eq(view.text, text, view.length);
}

#endif
