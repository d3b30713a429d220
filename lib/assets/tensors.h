/* Safetensors files: named arrays and strings by key, for models and profiles.
 *
 * Layout: header length (uint64 little-endian), JSON header, data. Types F32, F64, I32, I64, U8,
 * U16, U32, U64, little-endian. Reading checks that the arrays cover the data part without gap or
 * overlap, and that shapes match sizes. It does not check values (NaN, zero, sign). Writing is
 * canonical: arrays by descending type size, then by name, and a header padded to 8 bytes. Equal
 * content therefore gives equal bytes. All arrays, strings and returned pointers to arrays are
 * valid until ek_tensors_free; adding arrays does not move them. Read-only after loading, shareable
 * between threads.
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
    void *data;   /* aligned to 64 bytes */
};

struct ek_tensors;

/* Create an empty file in memory. Return 0 or EK_ENOMEM. */
int ek_tensors_new(struct ek_tensors **out);
void ek_tensors_free(struct ek_tensors *t);
/* Append an array of zeros with shape [dims]. Return it, owned by `t` and valid until
 * ek_tensors_free, or NULL if out of memory, if the name is taken, empty or too long, or if dims or
 * the size exceed their limits. */
struct ek_tensor *ek_tensors_add(struct ek_tensors *t, const char *name, enum ek_dtype dtype,
                                 int dims, const size_t *shape);
/* Set the string under a key of __metadata__; key and text are copied. Return 0 or EK_ENOMEM. */
int ek_tensors_set_text(struct ek_tensors *t, const char *key, const char *text);
/* Return the string under a key of __metadata__, valid until it is set again, or NULL if absent. */
const char *ek_tensors_text(const struct ek_tensors *t, const char *key);

/* Return whether bytes look like a safetensors file. EK_TENSORS_HEAD bytes suffice. */
bool ek_tensors_begins(const void *bytes, size_t length);
/* Parse a complete file in memory, which is not kept; `name` is the file name in errors. Return 0,
 * EK_EFORMAT for an invalid file, EK_ELIMIT beyond EK_TENSORS_MAX arrays, or EK_ENOMEM. The caller
 * frees *out. */
int ek_tensors_parse(struct ek_tensors **out, const char *name, const void *bytes, size_t length,
                     struct ek_error *e);
/* Append the bytes of the file to `out`. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of
 * `out`. */
int ek_tensors_format(const struct ek_tensors *t, struct ek_buf *out, struct ek_error *e);
/* Read a file; the caller frees *out. Return 0, EK_EIO, or an error of ek_tensors_parse. */
int ek_tensors_read(struct ek_tensors **out, const char *path, struct ek_error *e);
/* Write a file. Return 0, EK_EIO, or an error of ek_tensors_format; on error an existing file stays
 * unchanged. */
int ek_tensors_write(const struct ek_tensors *t, const char *path, struct ek_error *e);

/* Return the number of arrays. */
size_t ek_tensors_count(const struct ek_tensors *t);
/* Return array i, 0 .. count - 1, in the order of addition; valid until ek_tensors_free. */
const struct ek_tensor *ek_tensors_at(const struct ek_tensors *t, size_t i);
/* Return the array with this name, valid until ek_tensors_free, or NULL. */
const struct ek_tensor *ek_tensors_find(const struct ek_tensors *t, const char *name);
/* Set *out to the array with this name, valid until ek_tensors_free, which must have exactly this
 * type and shape. Return 0, or EK_EFORMAT with the expected and the actual type and shape. */
int ek_tensors_expect(const struct ek_tensors *t, const char *name, enum ek_dtype dtype, int dims,
                      const size_t *shape, const struct ek_tensor **out, struct ek_error *e);

#endif
