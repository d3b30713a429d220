/* Private part of struct ek_tensors, and the table of data types. Names are unique and every array
 * has data. */
#ifndef EK_ASSETS_TENSORS_INTERNAL_H
#define EK_ASSETS_TENSORS_INTERNAL_H

#include "assets/tensors.h"

struct ek_tensors_text {
    char *key, *text;
};

struct ek_tensors {
    struct ek_tensor **arrays;
    size_t count, capacity;
    struct ek_tensors_text *texts;
    size_t text_count;
};

struct ek_dtype_row {
    const char *name;
    size_t size; /* bytes */
};

/* Return the name and size of a type, a static row. */
const struct ek_dtype_row *ek_dtype_row(enum ek_dtype d);

#endif
