/* Control API: calls that change state, POST /api/v1/pause, resume, reload, ..., and the checks of
 * the headers Host and Origin.
 *
 * A call requires a bearer token of `http.token_file`, the content type application/json, and an
 * allowed Origin, if any. The body is a JSON object; the name of the token takes precedence over
 * "actor". The response is a JSON object: the decision as in events, or "error" if nothing changed.
 */
#ifndef EK_DAEMON_HTTP_CONTROL_API_H
#define EK_DAEMON_HTTP_CONTROL_API_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/config/auth.h"
#include "daemon/config/config.h"
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

/* Parsed body. Strings are valid until released. */
struct ek_api_body {
    struct ek_order order; /* the value is not NULL if the segment is not */
    bool reset_state;
    bool unknown_cell; /* the guard has no cell for the segment */
    void *body;        /* parsed JSON; owns the strings */
};

/* Parse a body into *w, whose strings are views of it; an empty one has no keys. A segment is
 * {"arm": "B"}, or null for all traffic. knows, needs: allowed and required keys, of enum
 * ek_api_key. Return 0, EK_ENOMEM, or EK_EUSAGE with error and remedy. Release *w in any case. */
int ek_api_body_read(struct ek_api_body *w, const void *body, size_t length, unsigned knows,
                     unsigned needs, struct ek_error *e);
void ek_api_body_release(struct ek_api_body *w);

enum { EK_API_BODY_BYTES_MAX = 64 << 10 };

/* Targets of the calls. */
struct ek_api {
    struct ek_stage *stage;
    struct ek_reload_service *reload_service; /* NULL: no files to reload, as in watch and demo */
    struct ek_tokens *tokens;                 /* NULL: all calls are forbidden */
};

/* Return whether calls are executed, a static string: "accepted"; "no_token_file" if the process
 * lacks `http.token_file`; "read_only" if it never has one, as in watch and demo. */
const char *ek_api_commands(const struct ek_api *api);

struct ek_api_request {
    const char *path;
    const char *authorization, *content_type, *origin, *host; /* headers; NULL: absent */
    const struct ek_text_list *hosts; /* `http.allowed_hosts`, allowed origins; NULL: none */
    const void *body;
    size_t length;
    bool cut; /* the body exceeds EK_API_BODY_BYTES_MAX */
};

/* Execute a call and append the response. Return its status: 200, 202, 400, 401, 403, 404, 409,
 * 413, 415 or 500. Any thread. */
unsigned ek_api_post(const struct ek_api *api, const struct ek_api_request *r, struct ek_buf *out);
/* Append the result of the last call of a path. Return 200, 405 if it has none, 409 or 500. Any
 * thread. */
unsigned ek_api_get(const struct ek_api *api, const char *path, struct ek_buf *out);
/* Return the methods of a path for the Allow header, a static string; NULL: not a call. */
const char *ek_api_methods(const char *path);

/* Host and Origin checks, against DNS rebinding: a foreign name resolves to this server, so its
 * page has the same origin and could read everything; but its requests have the foreign name as
 * Host. Any thread. */
/* Return true if the Host header is allowed: an address, localhost, `listen`, or a name of
 * `http.allowed_hosts`. NULL (no header, never from browsers) is allowed. Without names, all hosts
 * are allowed, unless `listen` is a loopback address. */
bool ek_http_host_is_allowed(const char *host, const char *listen,
                             const struct ek_text_list *names);
/* Return true if the Origin header is allowed: equal to the Host header, or a name of
 * `http.allowed_hosts` with any port, since a proxy may send another Host. */
bool ek_http_origin_is_allowed(const char *origin, const char *host,
                               const struct ek_text_list *names);

#endif
