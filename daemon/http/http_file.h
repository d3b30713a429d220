/* How a file of the page goes out: packed where the browser takes that, and not again when it has
 * it. */
#ifndef EK_DAEMON_HTTP_FILE_H
#define EK_DAEMON_HTTP_FILE_H

#include "daemon/http/page_files.h"

#include <microhttpd.h>

/* Answers a GET or HEAD: 200, or 304 for who names its tag. */
enum MHD_Result ek_http_file(struct MHD_Connection *connection, const struct ek_page_file *file);

#endif
