/* Calls that change something: POST /api/v1/pause, resume, accept, revert, apart from HTTP itself.
 *
 * Only with a bearer token of `http.token_file`, as application/json, and never from a page of
 * somebody else's (Origin). The body is a JSON object (daemon/api_words.h); the name of a token
 * goes before the author. Every answer is a JSON object: what was decided, as an event has it, or
 * "error" when nothing was done.
 */
#ifndef EK_DAEMON_API_H
#define EK_DAEMON_API_H

#include "base/buf.h"
#include "daemon/stage.h"
#include "daemon/token.h"

enum { EK_API_BODY_BYTES = 64 << 10 };

struct ek_api_request {
    const char *path;
    const char *authorization, *content_type, *origin, *host; /* headers; NULL: not there */
    const void *body;
    size_t length;
    bool cut; /* the body was longer than EK_API_BODY_BYTES */
};

/* Writes the answer to `out` and returns its status: 200, 400, 401, 403, 404, 409, 413, 415
 * or 500. tokens NULL: there is no file, nobody may. Any thread. */
unsigned ek_api_post(struct ek_stage *stage, struct ek_tokens *tokens,
                     const struct ek_api_request *r, struct ek_buf *out);
/* Whether it is the path of such a call. */
bool ek_api_has(const char *path);

#endif
