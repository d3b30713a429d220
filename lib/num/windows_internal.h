/* Memory layout of the event-time windows (num/windows.h): closed windows as packed bytes, and
 * their sum, shared by windows.c and windows_serialize.c. */
#ifndef EK_NUM_WINDOWS_INTERNAL_H
#define EK_NUM_WINDOWS_INTERNAL_H

#include "num/windows.h"

/* Packed bytes: of one feature since the start, or of all features in a window. */
struct ek_window_bytes {
    uint8_t *data; /* NULL: none */
    uint32_t length, capacity;
};

struct ek_closed_window {
    int64_t number;
    uint64_t lists; /* 0: empty entry */
    struct ek_window_bytes bytes;
    uint32_t *end; /* [features], end of each feature; NULL before the first window */
};

struct ek_windows {
    int features, retention;
    struct ek_sketch_set *current;  /* sealed part: unpacked features of the newest closed window */
    int64_t number;                 /* of the current window */
    uint64_t lists;                 /* of the current window */
    uint64_t weight, sealed_weight; /* lists that a sampled one stands for: current, sealed part */
    struct ek_closed_window *ring;  /* [kept] */
    uint64_t closings;
    /* [features], all closed windows except the unpacked features of the newest */
    struct ek_window_bytes *lifetime;
    uint64_t life_lists;
    struct ek_sketch *scratch; /* scratch */
    struct ek_buf packed;      /* scratch */
    size_t closed_bytes;       /* bytes of closed windows and their sums, when last computed */
};

/* Free the memory of closed windows and sums and leave them empty. Either may be NULL. */
void ek_closed_windows_release(struct ek_closed_window *ring, int kept,
                               struct ek_window_bytes *life, int features);
/* Add a feature of the current window to `out`, which may be the scratch sketch if that is empty.
 */
void ek_windows_get_current(const struct ek_windows *w, int feature, struct ek_sketch *out);
/* Append bytes to `b`. Return 0, or EK_ENOMEM or EK_ELIMIT without a change. */
int ek_window_bytes_add(struct ek_window_bytes *b, const uint8_t *bytes, size_t length);
/* Add a packed feature of a closed window to `out`. */
void ek_closed_window_get(const struct ek_closed_window *c, int feature, struct ek_sketch *out);
/* Close the current window, which must have lists. The newest closed window must be completely
 * packed. Return 0, or EK_ENOMEM without a change. */
int ek_windows_close(struct ek_windows *w);

#endif
