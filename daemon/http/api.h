/* Calls that change something: POST /api/v1/pause, resume, reload, ... apart from HTTP
 * itself.
 *
 * Only with a bearer token of `http.token_file`, as application/json, and never from a page of
 * somebody else's (Origin). The body is a JSON object (daemon/http/api_words.h); the name of a
 * token goes before the author. Every answer is a JSON object: what was decided, as an event has
 * it, or "error" when nothing was done.
 */
#ifndef EK_DAEMON_API_H
#define EK_DAEMON_API_H

#include "base/buf.h"
#include "daemon/config/config.h"
#include "daemon/stage/stage.h"
#include "daemon/stage/steward.h"
#include "daemon/config/token.h"

enum { EK_API_BODY_BYTES_MAX = 64 << 10 };

/* What calls may change. */
struct ek_api {
    struct ek_stage *stage;
    struct ek_steward *steward; /* NULL: nothing is reloaded */
    struct ek_tokens *tokens;   /* NULL: there is no file, nobody may */
};

struct ek_api_request {
    const char *path;
    const char *authorization, *content_type, *origin, *host; /* headers; NULL: not there */
    const struct ek_text_list *hosts; /* `http.hosts`, whose pages may call; NULL: none */
    const void *body;
    size_t length;
    bool cut; /* the body was longer than EK_API_BODY_BYTES_MAX */
};

/* Writes the answer to `out` and returns its status: 200, 202, 400, 401, 403, 404, 409, 413, 415 or
 * 500. Any thread. */
unsigned ek_api_post(const struct ek_api *api, const struct ek_api_request *r, struct ek_buf *out);
/* What came of the last call of that path; 200, 405 where nothing is told, 500. Any thread. */
unsigned ek_api_get(const struct ek_api *api, const char *path, struct ek_buf *out);
/* The methods that the path of a call has, as HTTP lists them; NULL: it is no such path. */
const char *ek_api_methods(const char *path);

#endif
