/* What somebody says with a call that changes something: the keys of its body, a JSON object.
 *
 * Of the keys below a call knows some and needs some of those; any other one is a fault with its
 * hint. A segment is written as in rules and events: {"arm": "B"}, or null for all traffic. Texts
 * are good until _release. Threads: any.
 */
#ifndef EK_DAEMON_HTTP_CONTROL_API_H
#define EK_DAEMON_HTTP_CONTROL_API_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/config/config.h"
#include "daemon/config/auth.h"
#include "daemon/stage/reload.h"
#include "daemon/stage/stage.h"
#include "guard/operator_commands.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_api_key {
    EK_API_ACTOR = 1 << 0,
    EK_API_REASON = 1 << 1,
    EK_API_FEATURE = 1 << 2,
    EK_API_SEGMENT = 1 << 3,
    EK_API_VERSION = 1 << 4,
    EK_API_ACTION = 1 << 5,
    EK_API_UNTIL = 1 << 6,
    EK_API_RESET_STATE = 1 << 7
};

struct ek_api_body {
    struct ek_order order; /* its value is never NULL with a segment */
    bool reset_state;
    bool strange; /* the guard knows no list of that segment, as was found out */
    void *body;   /* what the texts live in */
};

/* knows, needs: of enum ek_api_key. An empty body says nothing. EK_EUSAGE: what is wrong with it,
 * and what to write. To be released either way. */
int ek_api_body_read(struct ek_api_body *w, const void *body, size_t length, unsigned knows,
                     unsigned needs, struct ek_error *e);
void ek_api_body_release(struct ek_api_body *w);

/* Calls that change something: POST /api/v1/pause, resume, reload, ... apart from HTTP
 * itself.
 *
 * Only with a bearer token of `http.token_file`, as application/json, and never from a page of
 * somebody else's (Origin). The body is a JSON object (daemon/http/control_api.h); the name of a
 * token goes before the author. Every answer is a JSON object: what was decided, as an event has
 * it, or "error" when nothing was done.
 */
enum { EK_API_BODY_BYTES_MAX = 64 << 10 };

/* What calls may change. */
struct ek_api {
    struct ek_stage *stage;
    struct ek_reload_service *reload_service; /* NULL: nothing is reloaded */
    struct ek_tokens *tokens;                 /* NULL: there is no file, nobody may */
};

struct ek_api_request {
    const char *path;
    const char *authorization, *content_type, *origin, *host; /* headers; NULL: not there */
    const struct ek_text_list *hosts; /* `http.allowed_hosts`, whose pages may call; NULL: none */
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
