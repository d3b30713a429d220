/* JSON by Jansson, which does not always say whether text was wrong or memory ran out.
 *
 * Owner: the caller, who gives the value back with json_decref. Threads: none of its own.
 */
#ifndef EK_DAEMON_JANSSON_PARSE_H
#define EK_DAEMON_JANSSON_PARSE_H

#include <jansson.h>
#include <stddef.h>

/* `flags` are Jansson's. EK_OK; EK_ENOMEM; EK_EFORMAT, with what is wrong and where in `why`.
 * On failure *out is NULL. */
int ek_jansson_parse(json_t **out, const char *text, size_t length, size_t flags,
                     json_error_t *why);

#endif
