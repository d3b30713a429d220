/* Checkpoint records as a capture in write order: golden files. */
#ifndef EK_TESTS_STATE_CAPTURE_H
#define EK_TESTS_STATE_CAPTURE_H

#include "base/buf.h"
#include "base/file.h"
#include "lists/capture.h"
#include "evenkeel.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

struct state_capture {
    struct ek_capture_writer *to;
    int64_t offset;
};

/* An ek_write_fn. */
static inline int state_capture_put(void *to, const char *key, const void *bytes, size_t length)
{
    struct state_capture *g = to;
    char prefixed[64];
    int n = snprintf(prefixed, sizeof prefixed, "scored/0:%s", key);
    const struct ek_record r = {0, g->offset++, -1, prefixed, (size_t)n, bytes, length};
    return ek_capture_write(g->to, &r, NULL);
}

/* Return the state of the records in a capture. */
static inline struct ek_state *state_capture_read(const char *path)
{
    struct ek_capture_reader *in;
    struct ek_record r;
    struct ek_state *state;
    int more;
    ck_assert_int_eq(ek_state_new(&state, NULL), EK_OK);
    ck_assert_int_eq(ek_capture_open(&in, path, 0, NULL), EK_OK);
    while (!ek_capture_next(in, &r, &more, NULL) && more) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)r.key_length, (const char *)r.key);
        ck_assert_int_eq(ek_state_add(state, strchr(key, ':') + 1, r.bytes, r.length, NULL), EK_OK);
    }
    ek_capture_close(in);
    return state;
}

/* Save a guard as build/NAME; its size must equal that of the golden file. Return the state in the
 * golden file. */
static inline struct ek_state *state_capture_golden(struct ek_guard *g, const char *note,
                                                    const char *name)
{
    struct state_capture to = {.offset = 0};
    struct ek_buf written, golden;
    char own[64], path[64];
    snprintf(own, sizeof own, "build/%s", name);
    snprintf(path, sizeof path, "tests/format/golden/%s", name);
    ek_buf_init(&written, 0);
    ek_buf_init(&golden, 0);
    ck_assert_int_eq(ek_capture_create(&to.to, own, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_save(g, 0, note, strlen(note), state_capture_put, &to, NULL), EK_OK);
    ck_assert_int_eq(ek_capture_finish(to.to, NULL), EK_OK);
    ck_assert_int_eq(ek_file_read(own, &written, NULL), EK_OK);
    ck_assert_msg(ek_file_read(path, &golden, NULL) == EK_OK, "no %s, compare %s", path, own);
    ck_assert_uint_eq(written.length, golden.length);
    ek_buf_release(&written);
    ek_buf_release(&golden);
    return state_capture_read(path);
}

#endif
