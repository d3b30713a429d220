/* Compression of memory in the gzip format. */
#ifndef EK_BASE_FILE_GZIP_H
#define EK_BASE_FILE_GZIP_H

#include "base/buf.h"

/* Append the bytes to `out`, compressed with the highest level and without a time, so equal input
 * gives equal output. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of `out`. */
int ek_gzip(const void *bytes, size_t length, struct ek_buf *out);

#endif
