/* What the files of the windows share; internal. */
#ifndef EK_NUM_WINDOWS_INTERNAL_H
#define EK_NUM_WINDOWS_INTERNAL_H

#include "num/windows.h"

/* Bytes of one feature since the start, or those of all features of a window. */
struct ek_window_bytes {
    uint8_t *data; /* NULL: none yet */
    uint32_t length, capacity;
};

struct ek_closed_window {
    int64_t number;
    uint64_t lists; /* 0: no window */
    struct ek_window_bytes bytes;
    uint32_t *end; /* [features], where each ends; NULL before the first window */
};

struct ek_windows {
    int features, kept;
    struct ek_sketch_set *current; /* its sealed part: what of the newest closed window is left */
    int64_t number;                /* of the current window */
    uint64_t lists;                /* of the current window */
    struct ek_closed_window *ring; /* [kept] */
    uint64_t closings;
    /* [features], all closed windows but what is left of the newest */
    struct ek_window_bytes *life;
    uint64_t life_lists;
    struct ek_sketch *one; /* scratch */
    struct ek_buf packed;  /* scratch */
    size_t weighed;        /* bytes of closed windows and their sums, when last counted */
};

/* Frees what closed windows and their sums hold, and leaves them empty; either may be NULL. */
void ek_closed_windows_release(struct ek_closed_window *ring, int kept,
                               struct ek_window_bytes *life, int features);
/* Puts bytes behind those that are there. EK_ENOMEM, EK_ELIMIT leave it as it was. */
int ek_window_bytes_add(struct ek_window_bytes *b, const uint8_t *bytes, size_t length);
/* Adds a feature of a closed window, which is packed, to `out`. */
void ek_closed_window_get(const struct ek_closed_window *c, int feature, struct ek_sketch *out);
/* Closes the current window, which has lists, while nothing of the newest closed one is unpacked.
 * EK_ENOMEM: nothing has changed. */
int ek_windows_close(struct ek_windows *w);

#endif
