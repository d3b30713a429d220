#include "base/file_gzip.h"

#include "base/error.h"

#include <limits.h>
#include <zlib.h>

/* zlib's value for the largest window with a gzip header; its highest memory level. */
enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 9, BLOCK_BYTES = 16384 };

int ek_gzip(const void *bytes, size_t length, struct ek_buf *out)
{
    z_stream z = {0};
    unsigned char block[BLOCK_BYTES];
    if (length > UINT_MAX || deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                          MEMORY_LEVEL, Z_DEFAULT_STRATEGY))
        return EK_ENOMEM;
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)length;
    int ended, rc;
    do {
        z.next_out = block;
        z.avail_out = sizeof block;
        ended = deflate(&z, Z_FINISH);
        rc = ek_buf_add(out, block, sizeof block - z.avail_out);
    } while (!rc && ended == Z_OK);
    deflateEnd(&z);
    return rc ? rc : ended == Z_STREAM_END ? EK_OK : EK_ENOMEM;
}
