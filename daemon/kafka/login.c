#include "daemon/kafka/login.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/base/http_client.h"
#include "daemon/base/url.h"
#include "daemon/kafka/aws_credentials.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    TIMEOUT_MS = 10000,
    POLL_MS = 1000,
    ANSWER_BYTES_MAX = 1 << 20,
    SCOPE_BYTES = 2000,
    LIFETIME_S = 300, /* of a token without `expires_in` */
    TOKEN_BYTES_MAX = 1 << 20,
    EXTENSIONS_MAX = 16,
    ID_BYTES = 40,
    CREDENTIAL_BYTES = 4096
};

/* Those from USER on are properties of librdkafka, too. */
enum { METHOD, URL, CLIENT, SECRET, SCOPE, EXTENSIONS, CA_FILE, REGION, USER, PASSWORD, SETTINGS };
static const char *const NAMES[SETTINGS] = {
    [METHOD] = "sasl.oauthbearer.method",
    [URL] = "sasl.oauthbearer.token.endpoint.url",
    [CLIENT] = "sasl.oauthbearer.client.id",
    [SECRET] = "sasl.oauthbearer.client.secret",
    [SCOPE] = "sasl.oauthbearer.scope",
    [EXTENSIONS] = "sasl.oauthbearer.extensions",
    [CA_FILE] = "https.ca.location",
    [REGION] = "sasl.oauthbearer.aws.region",
    [USER] = "sasl.username",
    [PASSWORD] = "sasl.password",
};

/* Settings of clients, kept until exit: librdkafka stores only their id. */
struct access {
    uint64_t id;
    struct ek_property setting[SETTINGS]; /* no value: not set */
    struct access *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct access *all;
static const char CONFIG[] = "sasl.oauthbearer.config", PREFIX[] = "evenkeel-login-";

static int find_setting(const char *name)
{
    int i = 0;
    while (i < SETTINGS && strcmp(NAMES[i], name) != 0)
        i++;
    return i;
}

bool ek_login_handles(const char *name)
{
    return find_setting(name) < USER;
}

/* ----------------------------------------------------------------- tokens */

struct token {
    struct ek_buf text;
    int64_t expires_ms; /* since 1970 */
};

static int read_document(const struct ek_http_response *r, yyjson_val *root, struct token *t,
                         struct ek_error *e)
{
    yyjson_val *error = yyjson_obj_get(root, "error"),
               *token = yyjson_obj_get(root, "access_token"),
               *lifetime = yyjson_obj_get(root, "expires_in");
    if (r->status != 200)
        return ek_fail(e, EK_EIO, "status %d%s%.60s", r->status, yyjson_is_str(error) ? ", " : "",
                       yyjson_is_str(error) ? yyjson_get_str(error) : "");
    if (!yyjson_is_str(token))
        return ek_fail(e, EK_EFORMAT, "the answer has no 'access_token'");
    double seconds = yyjson_is_num(lifetime) ? yyjson_get_num(lifetime) : LIFETIME_S;
    t->expires_ms =
        ek_wall_ms() + (int64_t)(seconds > 0 && seconds < 1e9 ? seconds : LIFETIME_S) * 1000;
    return ek_buf_text(&t->text, yyjson_get_str(token)) ? ek_fail(e, EK_ENOMEM, "out of memory")
                                                        : EK_OK;
}

static int read_answer(const struct ek_http_response *r, const struct ek_buf *body, struct token *t,
                       struct ek_error *e)
{
    yyjson_doc *doc = NULL;
    struct ek_json_error why;
    int rc = ek_json_parse(&doc, (const char *)body->data, body->length, false, &why);
    rc = rc == EK_ENOMEM ? ek_fail(e, rc, "out of memory")
                         : read_document(r, rc ? NULL : yyjson_doc_get_root(doc), t, e);
    yyjson_doc_free(doc);
    return rc;
}

static int post_request(const struct access *a, const char *secret, struct ek_http *h,
                        struct token *t, struct ek_error *e)
{
    char scope[SCOPE_BYTES] = "", form[SCOPE_BYTES + 100]; /* check_scope: it fits */
    struct ek_http_response response;
    struct ek_buf body;
    if (a->setting[SCOPE].value)
        ek_url_escape(a->setting[SCOPE].value, scope, sizeof scope);
    int length = snprintf(form, sizeof form, "grant_type=client_credentials%s%s",
                          *scope ? "&scope=" : "", scope);
    ek_buf_init(&body, ANSWER_BYTES_MAX);
    const struct ek_http_request request = {.url = a->setting[URL].value,
                                            .ca_file = a->setting[CA_FILE].value,
                                            .user = a->setting[CLIENT].value,
                                            .password = secret,
                                            .body = form,
                                            .body_type = "application/x-www-form-urlencoded",
                                            .length = (size_t)length,
                                            .timeout_ms = TIMEOUT_MS,
                                            .body_out = &body};
    if (!ek_http_begin(h, 0, &request)) {
        ek_buf_release(&body);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    while (!ek_http_next(h, &response))
        ek_http_wait(h, POLL_MS);
    int rc = response.status && response.fault == EK_HTTP_NONE
                 ? read_answer(&response, &body, t, e)
                 : ek_fail(e, EK_EIO, "%s", response.text);
    ek_buf_release(&body);
    return rc;
}

static int request_token(const struct access *a, struct ek_http *h, struct token *t,
                         struct ek_error *e)
{
    char *secret = NULL;
    int rc = ek_property_read(&a->setting[SECRET], &secret, e);
    if (!rc)
        rc = post_request(a, secret, h, t, e);
    ek_free(secret);
    return rc;
}

static bool is_aws(const struct access *a)
{
    return !strcmp(a->setting[METHOD].value, EK_OAUTH_AWS);
}

static int sign_token(const struct access *a, struct token *t, struct ek_error *e)
{
    struct ek_aws_credentials credentials;
    int64_t now_ms = ek_wall_ms();
    int rc = ek_aws_credentials_read(&credentials, e);
    if (rc)
        return rc;
    t->expires_ms = now_ms + (int64_t)EK_AWS_TOKEN_S * 1000;
    if (credentials.expires_ms < t->expires_ms)
        t->expires_ms = credentials.expires_ms;
    if (ek_aws_token_sign(&credentials, a->setting[REGION].value, now_ms, &t->text))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    ek_aws_credentials_release(&credentials);
    return rc;
}

static int fetch_token(const struct access *a, struct token *t, struct ek_error *e)
{
    struct ek_http *h = NULL;
    if (is_aws(a))
        return sign_token(a, t, e);
    int rc = ek_http_new(&h, 1, e);
    if (!rc)
        rc = request_token(a, h, t, e);
    ek_http_free(h);
    return rc;
}

/* Split "a=b,c=d" in place into names and values. Return their number. */
static size_t split_extensions(char *text, const char *out[2 * EXTENSIONS_MAX])
{
    size_t count = 0;
    for (char *p = text; p && *p && count < 2 * EXTENSIONS_MAX;) {
        char *end = strchr(p, ','), *equal = strchr(p, '=');
        if (!equal || (end && equal > end))
            break;
        if (end)
            *end++ = 0;
        *equal = 0;
        out[count++] = p;
        out[count++] = equal + 1;
        p = end;
    }
    return count;
}

static const struct access *find_access(const char *config)
{
    struct access *a = NULL;
    size_t prefix = sizeof PREFIX - 1;
    uint64_t id;
    if (!config || strncmp(config, PREFIX, prefix) != 0 ||
        ek_parse_u64(config + prefix, strlen(config + prefix), &id))
        return NULL;
    pthread_mutex_lock(&lock);
    for (a = all; a && a->id != id;)
        a = a->next;
    pthread_mutex_unlock(&lock);
    return a;
}

static void set_token(rd_kafka_t *client, const struct access *a, struct token *t)
{
    const char *own = a->setting[EXTENSIONS].value;
    char why[300] = "out of memory", *copy = own ? ek_strdup(own) : NULL;
    const char *extensions[2 * EXTENSIONS_MAX];
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR__FAIL;
    const char *text = ek_buf_string(&t->text);
    if (text && (copy || !own))
        err = rd_kafka_oauthbearer_set_token(
            client, text, t->expires_ms, is_aws(a) ? "evenkeel" : a->setting[CLIENT].value,
            extensions, split_extensions(copy, extensions), why, sizeof why);
    if (err)
        rd_kafka_oauthbearer_set_token_failure(client, why);
    ek_free(copy);
}

static void refresh(rd_kafka_t *client, const char *config, void *context)
{
    const struct access *a = find_access(config);
    struct token t;
    struct ek_error e;
    (void)context;
    if (!a)
        return;
    ek_buf_init(&t.text, TOKEN_BYTES_MAX);
    if (fetch_token(a, &t, &e)) {
        char text[sizeof e + 60], why[sizeof e];
        snprintf(text, sizeof text, "%s%s", is_aws(a) ? "" : "no token from the token endpoint: ",
                 ek_error_text(&e, why, sizeof why));
        rd_kafka_oauthbearer_set_token_failure(client, text);
    } else {
        set_token(client, a, &t);
    }
    ek_buf_release(&t.text);
}

/* ----------------------------------------------------------------- passwords */

/* Set *out to the present value of a setting, or to that of the client. */
static int read_credential(rd_kafka_t *client, const struct ek_property *p, const char *name,
                           char **out, struct ek_error *e)
{
    char text[CREDENTIAL_BYTES] = "";
    size_t size = sizeof text;
    if (p->value)
        return ek_property_read(p, out, e);
    rd_kafka_conf_get(rd_kafka_conf(client), name, text, &size);
    *out = ek_strdup(text);
    return *out ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

static const struct access *find_client(rd_kafka_t *client)
{
    char id[ID_BYTES];
    size_t size = sizeof id;
    bool has = rd_kafka_conf_get(rd_kafka_conf(client), CONFIG, id, &size) == RD_KAFKA_CONF_OK;
    return has ? find_access(id) : NULL;
}

int ek_login_renew(rd_kafka_t *client, struct ek_error *e)
{
    const struct access *a = find_client(client);
    char *user = NULL, *password = NULL;
    if (!a || !(a->setting[USER].source || a->setting[PASSWORD].source))
        return EK_OK;
    int rc = read_credential(client, &a->setting[USER], NAMES[USER], &user, e);
    if (!rc)
        rc = read_credential(client, &a->setting[PASSWORD], NAMES[PASSWORD], &password, e);
    if (!rc)
        rd_kafka_error_destroy(rd_kafka_sasl_set_credentials(client, user, password));
    ek_free(user);
    ek_free(password);
    return rc;
}

/* ----------------------------------------------------------------- settings */

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool has_settings(const struct access *a, const struct ek_property *const own[SETTINGS])
{
    static const struct ek_property none;
    for (int i = 0; i < SETTINGS; i++) {
        const struct ek_property *p = own[i] ? own[i] : &none, *q = &a->setting[i];
        if (!is_same(p->value, q->value) || !is_same(p->source, q->source) ||
            !is_same(p->folder, q->folder))
            return false;
    }
    return true;
}

static void free_access(struct access *a)
{
    for (int i = 0; i < SETTINGS; i++)
        ek_property_release(&a->setting[i]);
    ek_free(a);
}

/* Store a copy of the settings unless an equal one is stored. Return its id, 0 if out of memory.
 * Called with the lock. */
static uint64_t add_access(const struct ek_property *const own[SETTINGS])
{
    struct ek_error unwanted;
    struct access *a = all;
    while (a && !has_settings(a, own))
        a = a->next;
    if (a)
        return a->id;
    a = ek_calloc(1, sizeof *a);
    for (int i = 0; a && i < SETTINGS; i++)
        if (own[i] && ek_property_copy(&a->setting[i], own[i], &unwanted)) {
            free_access(a);
            a = NULL;
        }
    if (!a)
        return 0;
    a->id = all ? all->id + 1 : 1;
    a->next = all;
    all = a;
    return a->id;
}

static int check_region(const struct ek_property *p, struct ek_error *e)
{
    const char *region = p ? p->value : NULL;
    if (!region || !*region)
        return ek_fail(e, EK_ECONFIG,
                       "librdkafka property '%s' is " EK_OAUTH_AWS
                       ": set '%s' or the environment variable AWS_REGION",
                       NAMES[METHOD], NAMES[REGION]);
    if (region[strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        return ek_fail(e, EK_ECONFIG,
                       "the AWS region '%.40s' is invalid, expected one such as "
                       "eu-central-1",
                       region);
    return EK_OK;
}

static int check_scope(const char *scope, struct ek_error *e)
{
    char escaped[SCOPE_BYTES];
    return ek_url_escape(scope, escaped, sizeof escaped)
               ? EK_OK
               : ek_fail(e, EK_ECONFIG,
                         "librdkafka property '%s' is too long: percent-encoded it has more than "
                         "%d bytes",
                         NAMES[SCOPE], SCOPE_BYTES - 4);
}

/* Check the settings of a method. */
static int check_settings(const struct ek_property *const own[SETTINGS], struct ek_error *e)
{
    const char *method = own[METHOD]->value;
    if (!strcmp(method, EK_OAUTH_AWS))
        return check_region(own[REGION], e);
    if (strcmp(method, "oidc") != 0)
        return ek_fail(e, EK_ECONFIG,
                       "librdkafka property '%s' is '%.40s', expected oidc or " EK_OAUTH_AWS,
                       NAMES[METHOD], method);
    for (int i = URL; i <= SECRET; i++)
        if (!own[i] || !*own[i]->value)
            return ek_fail(e, EK_ECONFIG, "librdkafka property '%s' is oidc: set '%s'",
                           NAMES[METHOD], NAMES[i]);
    if (strncmp(own[URL]->value, "https://", 8) != 0 && strncmp(own[URL]->value, "http://", 7) != 0)
        return ek_fail(e, EK_ECONFIG,
                       "librdkafka property '%s' must start with https:// or http://", NAMES[URL]);
    return own[SCOPE] ? check_scope(own[SCOPE]->value, e) : EK_OK;
}

/* Return whether a password is used, and comes from a file. With OAUTHBEARER librdkafka would read
 * CONFIG. */
static bool has_password_file(const rd_kafka_conf_t *conf, const struct ek_property *user,
                              const struct ek_property *password)
{
    char mechanism[sizeof "OAUTHBEARER"] = "";
    size_t size = sizeof mechanism;
    rd_kafka_conf_get(conf, "sasl.mechanisms", mechanism, &size);
    return strcasecmp(mechanism, "OAUTHBEARER") != 0 &&
           ((user && user->source) || (password && password->source));
}

int ek_login_configure(rd_kafka_conf_t *conf, const struct ek_property_list *list,
                       struct ek_error *e)
{
    const struct ek_property *own[SETTINGS] = {NULL};
    struct ek_property region = {.name = (char *)(uintptr_t)NAMES[REGION],
                                 .value = (char *)(uintptr_t)ek_aws_region()};
    char config[ID_BYTES];
    for (size_t i = 0; i < list->count; i++) {
        int setting = find_setting(list->items[i].name);
        if (setting < SETTINGS)
            own[setting] = &list->items[i];
    }
    bool is_oauth = own[METHOD] != NULL;
    if (!is_oauth && !has_password_file(conf, own[USER], own[PASSWORD]))
        return EK_OK;
    if (!own[REGION] && region.value)
        own[REGION] = &region;
    int rc = is_oauth ? check_settings(own, e) : EK_OK;
    if (rc)
        return rc;
    pthread_mutex_lock(&lock);
    uint64_t id = add_access(own);
    pthread_mutex_unlock(&lock);
    if (!id)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    snprintf(config, sizeof config, "%s%" PRIu64, PREFIX, id);
    rd_kafka_conf_set(conf, CONFIG, config, NULL, 0);
    if (is_oauth)
        rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, refresh);
    return EK_OK;
}

void ek_login_start(rd_kafka_t *client)
{
    const struct access *a = find_client(client);
    if (a && a->setting[METHOD].value)
        rd_kafka_error_destroy(rd_kafka_sasl_background_callbacks_enable(client));
}
