#include "daemon/kafka/aws_credentials.h"

#include "base/alloc.h"
#include "base/date.h"
#include "base/file.h"
#include "daemon/base/http_client.h"
#include "daemon/base/url.h"
#include "yaml/json_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANSWER_BYTES_MAX = 64 << 10,
    FILE_BYTES_MAX = 1 << 20,
    TIMEOUT_MS = 10000,
    POLL_MS = 1000,
    NAME_BYTES = 128 /* of a profile */
};

/* Return a variable of the environment, or NULL if unset or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *ek_aws_region(void)
{
    const char *region = variable("AWS_REGION");
    return region ? region : variable("AWS_DEFAULT_REGION");
}

void ek_aws_credentials_release(struct ek_aws_credentials *c)
{
    ek_free(c->key_id);
    ek_free(c->secret);
    ek_free(c->session_token);
    *c = (struct ek_aws_credentials){0};
}

static int set_text(char **to, const char *text, size_t length)
{
    ek_free(*to);
    *to = ek_strndup(text, length);
    return *to ? EK_OK : EK_ENOMEM;
}

static int set_credentials(struct ek_aws_credentials *out, const char *key_id, const char *secret,
                           const char *session_token, struct ek_error *e)
{
    if (set_text(&out->key_id, key_id, strlen(key_id)) ||
        set_text(&out->secret, secret, strlen(secret)) ||
        (session_token && set_text(&out->session_token, session_token, strlen(session_token))))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return EK_OK;
}

/* ------------------------------------------------------------ credentials file */

/* Remove spaces at both ends. */
static char *trim(char *text)
{
    static const char SPACE[] = " \t\r";
    text += strspn(text, SPACE);
    for (size_t n = strlen(text); n && strchr(SPACE, text[n - 1]);)
        text[--n] = 0;
    return text;
}

/* Read `name = value` of the profile. Return 0 or EK_ENOMEM. */
static int read_setting(struct ek_aws_credentials *out, char *line)
{
    char *equal = strchr(line, '=');
    if (!equal)
        return EK_OK;
    *equal = 0;
    const char *name = trim(line), *value = trim(equal + 1);
    char **to = !strcmp(name, "aws_access_key_id")       ? &out->key_id
                : !strcmp(name, "aws_secret_access_key") ? &out->secret
                : !strcmp(name, "aws_session_token")     ? &out->session_token
                                                         : NULL;
    return to ? set_text(to, value, strlen(value)) : EK_OK;
}

/* Read the lines of the profile. Return 0 or EK_ENOMEM. */
static int read_profile(struct ek_aws_credentials *out, char *text, const char *profile)
{
    char *rest = text, *line;
    bool is_inside = false;
    int rc = EK_OK;
    while (!rc && (line = strsep(&rest, "\n"))) {
        line = trim(line);
        size_t length = strlen(line);
        if (*line == '[' && line[length - 1] == ']') {
            line[length - 1] = 0;
            is_inside = !strcmp(trim(line + 1), profile);
        } else if (is_inside && *line != '#' && *line != ';') {
            rc = read_setting(out, line);
        }
    }
    return rc;
}

static int read_file(struct ek_aws_credentials *out, const char *path, const char *profile,
                     struct ek_error *e)
{
    struct ek_buf content;
    ek_buf_init(&content, FILE_BYTES_MAX);
    int rc = ek_file_read(path, &content, e);
    char *text = rc ? NULL : (char *)(uintptr_t)ek_buf_string(&content);
    if (!rc && (!text || read_profile(out, text, profile)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_release(&content);
    if (!rc && (!out->key_id || !*out->key_id || !out->secret || !*out->secret))
        rc = ek_fail(e, EK_ECONFIG,
                     "'%s' has no aws_access_key_id and aws_secret_access_key in profile '%.*s'; "
                     "set AWS_PROFILE to one that has",
                     path, NAME_BYTES, profile);
    return rc;
}

/* Return the path of the credentials file, or NULL if there is none. A file that AWS_PROFILE or
 * AWS_SHARED_CREDENTIALS_FILE asks for is one also if it cannot be read. */
static const char *find_file(char *path, size_t size)
{
    const char *named = variable("AWS_SHARED_CREDENTIALS_FILE"), *home = variable("HOME");
    if (named)
        return named;
    if (!home)
        return NULL;
    snprintf(path, size, "%s/.aws/credentials", home);
    FILE *f = fopen(path, "r");
    if (f)
        fclose(f);
    return f || variable("AWS_PROFILE") ? path : NULL;
}

/* ------------------------------------------------------------ container */

/* Append the address of the endpoint. Return false, with *out unchanged, if there is none. */
static bool find_endpoint(struct ek_buf *out)
{
    const char *path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
               *url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (path)
        ek_buf_printf(out, "http://169.254.170.2%s", path);
    else if (url)
        ek_buf_text(out, url);
    return path || url;
}

/* As the SDKs of AWS: a token must not be sent in plain text to another machine. */
static bool is_permitted(const char *url)
{
    static const char *const HOSTS[] = {"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
    if (ek_url_check(url))
        return false;
    if (!strncmp(url, "https://", 8) || ek_url_is_loopback(url))
        return true;
    for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++) {
        size_t length = strlen(HOSTS[i]);
        if (!strncmp(url + 7, HOSTS[i], length) && strchr("/:?", url[7 + length]))
            return true;
    }
    return false;
}

static int get_text(yyjson_val *root, const char *name, const char **out, struct ek_error *e)
{
    *out = yyjson_get_str(yyjson_obj_get(root, name));
    return *out && **out ? EK_OK
                         : ek_fail(e, EK_ECONFIG, "the answer of the container has no '%s'", name);
}

static int read_document(struct ek_aws_credentials *out, yyjson_val *root, struct ek_error *e)
{
    const char *key_id, *secret, *session_token, *expires;
    int rc = get_text(root, "AccessKeyId", &key_id, e);
    if (!rc)
        rc = get_text(root, "SecretAccessKey", &secret, e);
    if (!rc)
        rc = get_text(root, "Token", &session_token, e);
    if (!rc)
        rc = get_text(root, "Expiration", &expires, e);
    if (!rc && ek_parse_time_ms(expires, strlen(expires), &out->expires_ms))
        rc = ek_fail(e, EK_ECONFIG, "the answer of the container has an invalid 'Expiration'");
    return rc ? rc : set_credentials(out, key_id, secret, session_token, e);
}

static int read_answer(struct ek_aws_credentials *out, const struct ek_buf *body,
                       struct ek_error *e)
{
    yyjson_doc *doc = NULL;
    struct ek_json_error why;
    int rc = ek_json_parse(&doc, (const char *)body->data, body->length, false, &why);
    rc = rc == EK_ENOMEM ? ek_fail(e, rc, "out of memory")
         : rc            ? ek_fail(e, EK_ECONFIG, "the answer of the container is not JSON")
                         : read_document(out, yyjson_doc_get_root(doc), e);
    yyjson_doc_free(doc);
    return rc;
}

/* Set *token to the authorization of the endpoint, read to `buf` if it is in a file, or NULL. */
static int read_authorization(struct ek_buf *buf, const char **token, struct ek_error *e)
{
    const char *path = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    *token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (!path)
        return EK_OK;
    int rc = ek_file_read(path, buf, e);
    char *text = rc ? NULL : (char *)(uintptr_t)ek_buf_string(buf);
    if (text)
        text[strcspn(text, "\r\n")] = 0;
    *token = text;
    return rc || text ? rc : ek_fail(e, EK_ENOMEM, "out of memory");
}

static int request(const char *url, const char *authorization, struct ek_buf *body,
                   struct ek_error *e)
{
    struct ek_http *h = NULL;
    struct ek_http_response r = {0};
    const struct ek_http_request q = {.url = url,
                                      .authorization = authorization,
                                      .no_proxy = true,
                                      .timeout_ms = TIMEOUT_MS,
                                      .body_out = body};
    int rc = ek_http_new(&h, 1, e);
    if (!rc && !ek_http_begin(h, 0, &q))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    while (!rc && !ek_http_next(h, &r))
        ek_http_wait(h, POLL_MS);
    ek_http_free(h);
    if (!rc && (!r.status || r.fault != EK_HTTP_NONE))
        return ek_fail(e, EK_EIO, "the container does not answer: %.200s", r.text);
    if (!rc && r.status != 200)
        return ek_fail(e, EK_EIO, "the container answers with status %d", r.status);
    return rc;
}

static int read_container(struct ek_aws_credentials *out, const char *url, struct ek_error *e)
{
    struct ek_buf body, buf;
    const char *authorization;
    if (!is_permitted(url))
        return ek_fail(e, EK_ECONFIG,
                       "AWS_CONTAINER_CREDENTIALS_FULL_URI needs https, or an address of loopback, "
                       "ECS or EKS");
    ek_buf_init(&body, ANSWER_BYTES_MAX);
    ek_buf_init(&buf, ANSWER_BYTES_MAX);
    int rc = read_authorization(&buf, &authorization, e);
    if (!rc)
        rc = request(url, authorization, &body, e);
    if (!rc)
        rc = read_answer(out, &body, e);
    ek_buf_release(&buf);
    ek_buf_release(&body);
    return rc;
}

/* ------------------------------------------------------------ chain */

static int read_chain(struct ek_aws_credentials *out, struct ek_buf *url, struct ek_error *e)
{
    const char *key_id = variable("AWS_ACCESS_KEY_ID"), *secret = variable("AWS_SECRET_ACCESS_KEY"),
               *profile = variable("AWS_PROFILE");
    char home[4096];
    if (key_id && secret)
        return set_credentials(out, key_id, secret, variable("AWS_SESSION_TOKEN"), e);
    const char *path = find_file(home, sizeof home);
    if (path)
        return read_file(out, path, profile ? profile : "default", e);
    if (!find_endpoint(url))
        return ek_fail(e, EK_ECONFIG,
                       "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                       "AWS_SHARED_CREDENTIALS_FILE; ECS and EKS set "
                       "AWS_CONTAINER_CREDENTIALS_*");
    const char *text = ek_buf_string(url);
    return text ? read_container(out, text, e) : ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_aws_credentials_read(struct ek_aws_credentials *out, struct ek_error *e)
{
    struct ek_buf url;
    *out = (struct ek_aws_credentials){.expires_ms = INT64_MAX};
    ek_buf_init(&url, ANSWER_BYTES_MAX);
    int rc = read_chain(out, &url, e);
    ek_buf_release(&url);
    if (rc)
        ek_aws_credentials_release(out);
    return rc;
}
