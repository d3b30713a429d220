/* The page at `/`: the files of daemon/http/page/, built into the program.
 *
 * Each comes as it is and packed with gzip; the tag is a hash of the content, so a browser that has
 * the file of this very build asks only whether it still holds. Constant, any thread.
 */
#ifndef EK_DAEMON_HTTP_STATIC_FILES_H
#define EK_DAEMON_HTTP_STATIC_FILES_H

#include <stddef.h>

struct ek_static_file {
    const char *path, *type, *tag; /* "/", or "/page/NAME"; content type; ETag, in its quotes */
    const unsigned char *plain, *packed;
    size_t plain_bytes, packed_bytes;
};

/* NULL: it is none of the page's. */
const struct ek_static_file *ek_static_file_find(const char *path);

#endif
