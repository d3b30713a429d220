/* Safetensors files: named arrays plus texts under keys, for models and profiles.
 *
 * Layout: header length (uint64 little endian), JSON header, data. Types F32, F64, I32, I64, U8,
 * U16, U32, U64 in little endian. Reading checks that the arrays fill the data part without gap or
 * overlap, and that shapes and sizes agree; what the numbers mean (NaN, zero, sign) is the business
 * of whoever reads them. Writing is canonical: wide types first, then by name, the header padded to
 * 8 bytes, so that equal content gives equal bytes. yyjson reads the header. Owner: the caller,
 * ek_tensors_free; arrays live as long as it. Threads: read-only after loading, may be shared.
 */
#ifndef EK_ASSETS_TENSORS_H
#define EK_ASSETS_TENSORS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_TENSORS_HEAD = 9 };
enum { EK_TENSOR_DIMS_MAX = 4, EK_TENSORS_MAX = 16384, EK_TENSORS_HEADER_MAX = 64 << 20 };

enum ek_dtype { EK_F32, EK_F64, EK_I32, EK_I64, EK_U8, EK_U16, EK_U32, EK_U64 };

struct ek_tensor {
    char name[128];
    enum ek_dtype dtype;
    int dims;
    size_t shape[EK_TENSOR_DIMS_MAX];
    size_t count; /* product of the shape */
    void *data;   /* aligned to 64 */
};

struct ek_tensors;

int ek_tensors_new(struct ek_tensors **out);
void ek_tensors_free(struct ek_tensors *t);
/* Adds an array of zeros to be filled; NULL without memory, when the name is taken, empty or too
 * long, or when dims or the size is out of bounds. dims sizes follow. */
struct ek_tensor *ek_tensors_add(struct ek_tensors *t, const char *name, enum ek_dtype dtype,
                                 int dims, const size_t *shape);
/* Text under a key of __metadata__; copied. */
int ek_tensors_set_text(struct ek_tensors *t, const char *key, const char *text);
const char *ek_tensors_text(const struct ek_tensors *t, const char *key);

/* Whether bytes begin as such a file does, sound or not; EK_TENSORS_HEAD of them are enough. */
bool ek_tensors_begins(const void *bytes, size_t length);
/* From bytes in memory, all of which must be the file; `name` stands for it in errors. */
int ek_tensors_parse(struct ek_tensors **out, const char *name, const void *bytes, size_t length,
                     struct ek_error *e);
/* Appends the file's bytes to `out`. */
int ek_tensors_format(const struct ek_tensors *t, struct ek_buf *out, struct ek_error *e);
int ek_tensors_read(struct ek_tensors **out, const char *path, struct ek_error *e);
int ek_tensors_write(const struct ek_tensors *t, const char *path, struct ek_error *e);

size_t ek_tensors_count(const struct ek_tensors *t);
const struct ek_tensor *ek_tensors_at(const struct ek_tensors *t, size_t i);
/* NULL when there is none of that name. */
const struct ek_tensor *ek_tensors_find(const struct ek_tensors *t, const char *name);
/* The tensor `name` with exactly that type and shape; otherwise EK_EFORMAT naming what was expected
 * and what is there. */
int ek_tensors_expect(const struct ek_tensors *t, const char *name, enum ek_dtype dtype, int dims,
                      const size_t *shape, const struct ek_tensor **out, struct ek_error *e);

#endif
