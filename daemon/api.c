#include "daemon/api.h"

#include "base/parse.h"
#include "daemon/pause.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    OK = 200,
    BAD_REQUEST = 400,
    UNAUTHORIZED = 401,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    TOO_LARGE = 413,
    NO_JSON = 415,
    BROKEN = 500
};

/* What somebody says. Texts live as long as `body`. */
struct word {
    json_t *body;
    const char *author, *reason;
};

static const char *const KEYS[] = {"author", "reason"};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

static unsigned __attribute__((format(printf, 3, 4)))
refuse(struct ek_buf *out, unsigned status, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int rc = ek_buf_text(out, "{\"error\":");
    if (!rc)
        rc = ek_buf_json(out, text, strlen(text));
    return rc || ek_buf_text(out, "}\n") ? BROKEN : status;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    type += sizeof json - 1;
    return !*type || *type == ';' || *type == ' ';
}

/* A browser says from which page a call comes; ours have the host that is asked. */
static bool is_foreign(const struct ek_api_request *r)
{
    const char *host = r->origin ? strstr(r->origin, "://") : NULL;
    return r->origin && (!host || !r->host || strcasecmp(host + 3, r->host) != 0);
}

/* NULL, or what the caller may not; *name is that of the token. */
static unsigned let_in(const struct ek_tokens *tokens, const struct ek_api_request *r,
                       const char **name, struct ek_buf *out)
{
    static const char bearer[] = "Bearer ";
    if (!tokens)
        return refuse(out, FORBIDDEN,
                      "nothing can be changed over HTTP here: set 'http.token_file'");
    if (is_foreign(r))
        return refuse(out, FORBIDDEN, "calls from other pages are not taken");
    if (!r->authorization || strncasecmp(r->authorization, bearer, sizeof bearer - 1) != 0)
        return refuse(out, UNAUTHORIZED, "a token is needed: 'Authorization: Bearer TOKEN'");
    *name = ek_tokens_who(tokens, r->authorization + sizeof bearer - 1);
    return *name ? OK : refuse(out, UNAUTHORIZED, "the token is not in 'http.token_file'");
}

/* `key` of the body, if it has one; a text of at most so many bytes. */
static unsigned read_text(const json_t *body, const char *key, size_t most, const char **text,
                          struct ek_buf *out)
{
    const json_t *value = json_object_get(body, key);
    if (!value)
        return OK;
    if (!json_is_string(value))
        return refuse(out, BAD_REQUEST, "'%s' must be a text", key);
    *text = json_string_value(value);
    if (strlen(*text) > most)
        return refuse(out, BAD_REQUEST, "'%s' must have at most %zu bytes", key, most);
    return OK;
}

static unsigned check_keys(json_t *body, struct ek_buf *out)
{
    const char *key;
    json_t *value;
    json_object_foreach(body, key, value)
    {
        bool known = false;
        for (int i = 0; i < KEY_COUNT; i++)
            known |= !strcmp(key, KEYS[i]);
        if (known)
            continue;
        const char *near = ek_nearest_word(key, KEYS, KEY_COUNT);
        return near
                   ? refuse(out, BAD_REQUEST, "unknown key '%.60s', did you mean '%s'?", key, near)
                   : refuse(out, BAD_REQUEST, "unknown key '%.60s', there are author, reason", key);
    }
    return OK;
}

static unsigned read_word(const struct ek_api_request *r, struct word *w, struct ek_buf *out)
{
    json_error_t problem;
    if (r->cut)
        return refuse(out, TOO_LARGE, "the body has more than %d bytes", EK_API_BODY_BYTES);
    if (!is_json(r->content_type))
        return refuse(out, NO_JSON, "the body must be JSON: 'Content-Type: application/json'");
    if (!r->length)
        return OK;
    w->body = json_loadb(r->body, r->length, JSON_REJECT_DUPLICATES, &problem);
    if (!w->body)
        return refuse(out, BAD_REQUEST, "line %d, column %d: %s", problem.line, problem.column,
                      problem.text);
    if (!json_is_object(w->body))
        return refuse(out, BAD_REQUEST, "the body must be a JSON object");
    unsigned status = check_keys(w->body, out);
    if (status == OK)
        status = read_text(w->body, "author", EK_AUTHOR_BYTES, &w->author, out);
    return status == OK ? read_text(w->body, "reason", EK_REASON_BYTES, &w->reason, out) : status;
}

static unsigned pause_or_resume(struct ek_stage *s, bool pause, const struct word *w,
                                struct ek_buf *out)
{
    bool changed = ek_stage_pause(s, pause, w->author, w->reason);
    int rc = ek_buf_printf(out, "{\"changed\":%s,\"paused\":", changed ? "true" : "false");
    if (!rc)
        rc = ek_pause_json(ek_stage_paused(s), out);
    return rc || ek_buf_text(out, "}\n") ? BROKEN : OK;
}

static unsigned on_pause(struct ek_stage *s, const struct word *w, struct ek_buf *out)
{
    return pause_or_resume(s, true, w, out);
}

static unsigned on_resume(struct ek_stage *s, const struct word *w, struct ek_buf *out)
{
    return pause_or_resume(s, false, w, out);
}

static const struct call {
    const char *path;
    unsigned (*act)(struct ek_stage *s, const struct word *w, struct ek_buf *out);
} CALLS[] = {{"/api/v1/pause", on_pause}, {"/api/v1/resume", on_resume}};
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

static const struct call *find(const char *path)
{
    for (int i = 0; i < CALL_COUNT; i++)
        if (!strcmp(CALLS[i].path, path))
            return &CALLS[i];
    return NULL;
}

bool ek_api_has(const char *path)
{
    return find(path) != NULL;
}

unsigned ek_api_post(struct ek_stage *stage, const struct ek_tokens *tokens,
                     const struct ek_api_request *r, struct ek_buf *out)
{
    const struct call *call = find(r->path);
    struct word w = {0};
    const char *name = NULL;
    if (!call)
        return refuse(out, NOT_FOUND, "not found; there are: %s %s", CALLS[0].path, CALLS[1].path);
    unsigned status = let_in(tokens, r, &name, out);
    if (status == OK)
        status = read_word(r, &w, out);
    if (status == OK && *name)
        w.author = name;
    if (status == OK)
        status = call->act(stage, &w, out);
    json_decref(w.body);
    return status;
}
