/* Access tokens of Amazon MSK, against those of aws-msk-iam-sasl-signer-python 1.0.2 (botocore
 * 1.44.8) at the same time with the same keys; and the sources of credentials. */
#include "daemon/kafka/aws_credentials.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char EXAMPLE_KEY[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/* Decode base64url. */
static void decode(const struct ek_buf *token, char *out, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    size_t length = 0;
    for (size_t i = 0; i < token->length; i++) {
        const char *digit = strchr(digits, token->data[i]);
        ck_assert_msg(digit && *digit && length + 1 < size, "byte %zu of the token", i);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4)
            out[length++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    out[length] = 0;
}

static void assert_token(const char *const texts[3], const char *region, int64_t now_ms,
                         const char *parameters, const char *signature)
{
    const struct ek_aws_credentials c = {.key_id = (char *)(uintptr_t)texts[0],
                                         .secret = (char *)(uintptr_t)texts[1],
                                         .session_token = (char *)(uintptr_t)texts[2]};
    char url[8000], expected[8000];
    struct ek_buf token;
    ek_buf_init(&token, 0);
    ck_assert(!ek_aws_token_sign(&c, region, now_ms, &token));
    decode(&token, url, sizeof url);
    snprintf(expected, sizeof expected,
             "https://kafka.%s.amazonaws.com/?Action=kafka-cluster%%3AConnect&X-Amz-Algorithm="
             "AWS4-HMAC-SHA256&X-Amz-Credential=%s&X-Amz-SignedHeaders=host&X-Amz-Signature=%s"
             "&User-Agent=evenkeel%%2F" EK_VERSION,
             region, parameters, signature);
    ck_assert_str_eq(url, expected);
    ek_buf_release(&token);
}

#define TEXTS(...) ((const char *const[3]){__VA_ARGS__})

START_TEST(a_token_is_that_of_the_signer_of_aws)
{
    assert_token(TEXTS("AKIDEXAMPLE", EXAMPLE_KEY, NULL), "eu-central-1", 1801396800999,
                 "AKIDEXAMPLE%2F20270131%2Feu-central-1%2Fkafka-cluster%2Faws4_request"
                 "&X-Amz-Date=20270131T120000Z&X-Amz-Expires=900",
                 "838d82f8e4f2f40e9c4e211d69fba6ec7dc7a9a88cc4e29bc415553f8ce74ad3");
    assert_token(TEXTS("AKIDEXAMPLE", "a+b/c==", NULL), "ap-northeast-1", 1709251199000,
                 "AKIDEXAMPLE%2F20240229%2Fap-northeast-1%2Fkafka-cluster%2Faws4_request"
                 "&X-Amz-Date=20240229T235959Z&X-Amz-Expires=900",
                 "0d282b343dc41984b58e6fda6a103ffff750a7f50fe030f9dde89acdd43a1131");
}
END_TEST

START_TEST(a_session_token_is_signed_too)
{
    char more[2000], same[1501] = "";
    assert_token(TEXTS("ASIDEXAMPLE", EXAMPLE_KEY, "IQoJb3+/=~x y"), "us-east-1", 1772323209000,
                 "ASIDEXAMPLE%2F20260301%2Fus-east-1%2Fkafka-cluster%2Faws4_request"
                 "&X-Amz-Date=20260301T000009Z&X-Amz-Expires=900"
                 "&X-Amz-Security-Token=IQoJb3%2B%2F%3D~x%20y",
                 "7eccd6622faad3558ce5cf83aebff884cd9feca61300c287da2263cefbbef8b2");
    memset(same, 'T', sizeof same - 1);
    snprintf(more, sizeof more,
             "ASIDEXAMPLE%%2F20311231%%2Fus-gov-west-1%%2Fkafka-cluster%%2Faws4_request"
             "&X-Amz-Date=20311231T235959Z&X-Amz-Expires=900&X-Amz-Security-Token=%s",
             same);
    assert_token(TEXTS("ASIDEXAMPLE", EXAMPLE_KEY, same), "us-gov-west-1", 1956527999000, more,
                 "45d639fe6f22a5bcf44734b2053f4bb5d243632f99c20d96c5749de6e907317c");
}
END_TEST

/* Unset all variables but those of the pairs "name", "value", ..., NULL. */
static void set_variables(const char *const *pairs)
{
    static const char *const NAMES[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_PROFILE",
                                        "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "HOME"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        unsetenv(NAMES[i]);
    for (; *pairs; pairs += 2)
        setenv(pairs[0], pairs[1], 1);
}
#define VARIABLES(...) set_variables((const char *const[]){__VA_ARGS__, NULL})

static void assert_read(const char *key_id, const char *secret, const char *session_token,
                        int64_t expires_ms)
{
    struct ek_aws_credentials c;
    struct ek_error e = {0};
    ck_assert_msg(!ek_aws_credentials_read(&c, &e), "%s", e.message);
    ck_assert_str_eq(c.key_id, key_id);
    ck_assert_str_eq(c.secret, secret);
    ck_assert_pstr_eq(c.session_token, session_token);
    ck_assert_int_eq(c.expires_ms, expires_ms);
    ek_aws_credentials_release(&c);
}

static void assert_fails(enum ek_code code, const char *part)
{
    struct ek_aws_credentials c;
    struct ek_error e = {0};
    char text[sizeof e];
    ck_assert_int_eq(ek_aws_credentials_read(&c, &e), code);
    ck_assert_msg(strstr(ek_error_text(&e, text, sizeof text), part) != NULL, "%s", text);
    ck_assert_ptr_null(c.key_id);
    ck_assert_ptr_null(c.secret);
}

START_TEST(credentials_are_those_of_the_environment)
{
    VARIABLES("AWS_ACCESS_KEY_ID", "A", "AWS_SECRET_ACCESS_KEY", "S");
    assert_read("A", "S", NULL, INT64_MAX);
    VARIABLES("AWS_ACCESS_KEY_ID", "A", "AWS_SECRET_ACCESS_KEY", "S", "AWS_SESSION_TOKEN", "T",
              "AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
    assert_read("A", "S", "T", INT64_MAX);
    ck_assert_ptr_null(ek_aws_region());
    VARIABLES("AWS_ACCESS_KEY_ID", "A", "AWS_DEFAULT_REGION", "eu-west-1");
    assert_fails(EK_ECONFIG, "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    ck_assert_str_eq(ek_aws_region(), "eu-west-1");
}
END_TEST

START_TEST(credentials_are_those_of_the_profile_in_the_file)
{
    static const char content[] = "# of tests\n[default]\r\n aws_access_key_id = A\r\n"
                                  "aws_secret_access_key=S=/+ \n[ other ]\naws_access_key_id=B\n"
                                  "aws_secret_access_key = R\naws_session_token =T\nregion = x\n"
                                  "[empty]\naws_access_key_id = C\n;aws_secret_access_key = Q\n";
    struct temporary file = temporary_file();
    FILE *f = fopen(file.path, "w");
    fputs(content, f);
    fclose(f);
    VARIABLES("AWS_SHARED_CREDENTIALS_FILE", file.path);
    assert_read("A", "S=/+", NULL, INT64_MAX);
    VARIABLES("AWS_SHARED_CREDENTIALS_FILE", file.path, "AWS_PROFILE", "other");
    assert_read("B", "R", "T", INT64_MAX);
    VARIABLES("AWS_SHARED_CREDENTIALS_FILE", file.path, "AWS_PROFILE", "empty");
    assert_fails(EK_ECONFIG, "in profile 'empty'");
    VARIABLES("AWS_SHARED_CREDENTIALS_FILE", file.path, "AWS_PROFILE", "absent");
    assert_fails(EK_ECONFIG, "in profile 'absent'");
    unlink(file.path);
    assert_fails(EK_EIO, file.path);
    VARIABLES("HOME", "/nowhere");
    assert_fails(EK_ECONFIG, "no AWS credentials");
    VARIABLES("HOME", "/nowhere", "AWS_PROFILE", "other");
    assert_fails(EK_EIO, "/nowhere/.aws/credentials");
}
END_TEST

/* Endpoint that answers one request. */
struct endpoint {
    int fd;
    const char *answer;
    char url[80], request[2000];
    pthread_t thread;
};

static void *serve(void *context)
{
    struct endpoint *p = context;
    int link = accept(p->fd, NULL, NULL);
    ck_assert(recv(link, p->request, sizeof p->request - 1, 0) > 0);
    send(link, p->answer, strlen(p->answer), MSG_NOSIGNAL);
    close(link);
    return NULL;
}

static void open_endpoint(struct endpoint *p, const char *answer)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    *p = (struct endpoint){.answer = answer, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    ck_assert(!bind(p->fd, (struct sockaddr *)&at, sizeof at) && !listen(p->fd, 1));
    ck_assert(!getsockname(p->fd, (struct sockaddr *)&at, &size));
    snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/v1?role=a", ntohs(at.sin_port));
    ck_assert(!pthread_create(&p->thread, NULL, serve, p));
}

static void close_endpoint(struct endpoint *p)
{
    pthread_join(p->thread, NULL);
    close(p->fd);
}

static void assert_answer_fails(const char *answer, enum ek_code code, const char *part)
{
    struct endpoint p;
    open_endpoint(&p, answer);
    VARIABLES("AWS_CONTAINER_CREDENTIALS_FULL_URI", p.url);
    assert_fails(code, part);
    close_endpoint(&p);
}

#define HEAD "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
#define ANSWER(more)                                                                               \
    HEAD "{\"AccessKeyId\": \"A\", \"SecretAccessKey\": \"S\", \"Token\": \"T\"" more "}"

START_TEST(credentials_are_those_of_the_container)
{
    struct endpoint p;
    struct temporary file = temporary_file();
    FILE *f = fopen(file.path, "w");
    fputs("the token\n", f);
    fclose(f);
    open_endpoint(&p, ANSWER(", \"Expiration\": \"2027-01-31T12:00:00Z\""));
    VARIABLES("AWS_CONTAINER_CREDENTIALS_FULL_URI", p.url, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
              file.path);
    setenv("http_proxy", "http://127.0.0.1:9", 1);
    assert_read("A", "S", "T", 1801396800000);
    close_endpoint(&p);
    ck_assert_msg(!strncmp(p.request, "GET /v1?role=a HTTP/1.1\r\n", 25), "%s", p.request);
    ck_assert_msg(strstr(p.request, "Authorization: the token\r\n") != NULL, "%s", p.request);
    unlink(file.path);
    assert_fails(EK_EIO, file.path);
}
END_TEST

START_TEST(an_invalid_answer_of_the_container_is_named)
{
    assert_answer_fails("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", EK_EIO, "status 403");
    assert_answer_fails(HEAD "A: S", EK_ECONFIG, "is not JSON");
    assert_answer_fails(HEAD "{\"AccessKeyId\": \"A\"}", EK_ECONFIG, "has no 'SecretAccessKey'");
    assert_answer_fails(ANSWER(""), EK_ECONFIG, "has no 'Expiration'");
    assert_answer_fails(ANSWER(", \"Expiration\": \"soon\""), EK_ECONFIG, "invalid 'Expiration'");
}
END_TEST

START_TEST(the_token_of_a_container_goes_to_no_other_machine)
{
    static const char *const urls[] = {"http://example.com/", "http://169.254.170.21/",
                                       "http://169.254.170.2.example.com/", "file:///etc/passwd",
                                       "http://169.254.170.2@example.com/"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        VARIABLES("AWS_CONTAINER_CREDENTIALS_FULL_URI", urls[i]);
        assert_fails(EK_ECONFIG, "AWS_CONTAINER_CREDENTIALS_FULL_URI needs https");
    }
}
END_TEST

Suite *suite_aws_token(void)
{
    return ek_suite(
        "aws_token", a_token_is_that_of_the_signer_of_aws, a_session_token_is_signed_too,
        credentials_are_those_of_the_environment, credentials_are_those_of_the_profile_in_the_file,
        credentials_are_those_of_the_container, an_invalid_answer_of_the_container_is_named,
        the_token_of_a_container_goes_to_no_other_machine);
}
