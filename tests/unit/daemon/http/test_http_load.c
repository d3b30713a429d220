/* Memory of HTTP responses in flight: their sum is bounded, and a slow client uses only its share.
 * The server runs in the test's thread, so the test is independent of timing. */
#include "daemon/http/server.h"
#include "tests/check.h"
#include "tests/must.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HALF = EK_HTTP_LOAD_BYTES_MAX / 2, PIECE = 64 << 10, PATIENCE = 100000 };

struct served {
    struct MHD_Daemon *server;
    uint16_t port;
    size_t load;
};

/* "/NUMBER" returns that many bytes, in memory of exactly that size. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **request)
{
    struct served *s = context;
    struct ek_buf body;
    unsigned status = MHD_HTTP_OK;
    size_t bytes = strtoul(url + 1, NULL, 10);
    (void)method, (void)version, (void)data, (void)size, (void)request;
    ek_buf_init(&body, bytes);
    must(ek_buf_reserve(&body, bytes));
    memset(body.data, 'x', body.length = bytes);
    enum MHD_Result result =
        ek_http_respond(connection, &status, "text/plain", NULL, &body, &s->load);
    ek_buf_release(&body);
    return result;
}

static void serve(struct served *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    memset(s, 0, sizeof *s);
    s->server = MHD_start_daemon(MHD_NO_FLAG, 0, NULL, NULL, answer, s, MHD_OPTION_SOCK_ADDR, &at,
                                 MHD_OPTION_END);
    ck_assert_ptr_nonnull(s->server);
    s->port = MHD_get_daemon_info(s->server, MHD_DAEMON_INFO_BIND_PORT)->port;
}

static int ask(const struct served *s, size_t bytes)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(s->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char line[60];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    snprintf(line, sizeof line, "GET /%zu HTTP/1.0\r\nHost: localhost\r\n\r\n", bytes);
    ck_assert_int_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
    return fd;
}

static void until_load(struct served *s, size_t load)
{
    for (int i = 0; s->load != load; i++) {
        ck_assert_int_lt(i, PATIENCE);
        MHD_run_wait(s->server, 10);
    }
}

/* Read the whole response. Return its status, and set its length with the head. */
static int taken(struct served *s, int fd, size_t *length)
{
    static char piece[PIECE];
    char head[16] = "";
    ssize_t got;
    for (*length = 0; (got = recv(fd, piece, sizeof piece, MSG_DONTWAIT));) {
        if (got < 0) {
            MHD_run_wait(s->server, 10);
            continue;
        }
        if (!*length)
            memcpy(head, piece, sizeof head - 1);
        *length += (size_t)got;
    }
    close(fd);
    return (int)strtol(head + strlen("HTTP/1.x "), NULL, 10);
}

static int status_of(struct served *s, size_t bytes)
{
    size_t length;
    return taken(s, ask(s, bytes), &length);
}

START_TEST(long_answers_are_32_mib_together_and_one_more_is_told_to_come_again)
{
    struct served s;
    size_t length;
    serve(&s);
    int first = ask(&s, HALF); /* never read */
    until_load(&s, HALF);
    ck_assert_int_eq(status_of(&s, HALF + 1), 503);
    ck_assert_uint_eq(s.load, HALF);
    int second = ask(&s, HALF);
    until_load(&s, EK_HTTP_LOAD_BYTES_MAX);
    ck_assert_int_eq(status_of(&s, EK_HTTP_SMALL_BYTES + 1), 503);
    ck_assert_int_eq(status_of(&s, EK_HTTP_SMALL_BYTES), 200); /* uses no budget */
    ck_assert_int_eq(taken(&s, first, &length), 200);
    ck_assert_uint_gt(length, HALF);
    until_load(&s, HALF);
    ck_assert_int_eq(status_of(&s, HALF - 1), 200);
    close(second); /* disconnects */
    until_load(&s, 0);
    MHD_stop_daemon(s.server);
}
END_TEST

Suite *suite_http_load(void)
{
    return ek_suite("http load",
                    long_answers_are_32_mib_together_and_one_more_is_told_to_come_again);
}
