/* Static files of the page at `/`, from daemon/http/page/.
 *
 * Each is stored plain and gzipped. The tag is a hash of the content, so a browser revalidates a
 * cached file without downloading it. Constants; any thread.
 */
#ifndef EK_DAEMON_HTTP_STATIC_FILES_H
#define EK_DAEMON_HTTP_STATIC_FILES_H

#include <stddef.h>

struct ek_static_file {
    const char *path, *type, *tag; /* path: "/" or "/page/NAME"; tag: quoted ETag */
    const unsigned char *plain, *packed;
    size_t plain_bytes, packed_bytes;
};

/* Return the file of a path, a constant, or NULL if there is none. */
const struct ek_static_file *ek_static_file_find(const char *path);

#endif
