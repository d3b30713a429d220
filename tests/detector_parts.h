/* Detector state in one buffer. */
#ifndef EK_TESTS_DETECTOR_PARTS_H
#define EK_TESTS_DETECTOR_PARTS_H

#include "detect/detector_state.h"
#include "tests/check.h"

/* Serialize all parts of a detector, or read them into a new one. */
static inline void detector_parts_walk(struct ek_detector *d, struct ek_serialize *s)
{
    for (int part = EK_PART_CELLS; part <= EK_PART_ACCEPTS; part++) {
        enum ek_detector_part one = (enum ek_detector_part)part;
        int count = ek_detector_part_count(d, one);
        if (one == EK_PART_ACCEPTS)
            ek_serialize_int(s, &count, 0, 1);
        for (int n = 0; n < count && !s->rc; n++)
            ek_detector_part_serialize(d, one, n, s);
    }
    ck_assert_int_eq(s->rc, EK_OK);
}

/* Return all parts as bytes. The caller frees them with ek_buf_release. */
static inline struct ek_buf detector_parts_save(struct ek_detector *d)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    struct ek_serialize s = {.out = &bytes};
    detector_parts_walk(d, &s);
    return bytes;
}

static inline void detector_parts_restore(struct ek_detector *d, const struct ek_buf *bytes)
{
    struct ek_serialize s = {.at = bytes->data, .end = bytes->data + bytes->length};
    detector_parts_walk(d, &s);
    ck_assert_ptr_eq(s.at, s.end);
}

#endif
