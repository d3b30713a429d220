/* Report file: the page of an instance with its files and recorded API responses in one HTML file,
 * which loads nothing and sends nothing. */
#ifndef EK_DAEMON_HTTP_REPORT_PAGE_H
#define EK_DAEMON_HTTP_REPORT_PAGE_H

#include "base/buf.h"

/* Append the file. json [length]: the report as daemon/http/page/api.js reads it, valid JSON.
 * Return 0 or EK_ENOMEM. */
int ek_report_page(const char *json, size_t length, struct ek_buf *out);

#endif
