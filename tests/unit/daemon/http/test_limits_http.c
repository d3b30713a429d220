/* Limits on HTTP clients, in this process and over its sockets: one below, at and one above each.
 * tests/kafka/test_http.py covers those that need a broker. */
#include "base/file.h"
#include "daemon/http/server.h"
#include "daemon/http/event_stream.h"
#include "tests/must.h"
#include "tests/stage_scene.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS_MAX = 8, HEAD_BYTES = 4096, LATE_MS = 1000 };

static const char PING[] = "GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char STREAM[] = "GET /api/v1/events?stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char TOKENS[] = "tokens-limits.tmp";

struct served {
    struct scene s;
    struct ek_tokens *tokens;
    struct ek_http *http;
};

/* An idle stage without brokers. */
static void begin_alone(struct scene *s)
{
    memset(s, 0, sizeof *s);
    make_assets(s);
    must(ek_config_new(&s->config, NULL));
    set(s, "input.brokers", "127.0.0.1:9");
    set(s, "input.topics", "scored");
    set(s, "input.group", "g");
    set(s, "output.topic", "ranked");
    set(s, "output.dead_letter_topic", "ranked.dead");
}

static void open_served(struct served *v, int64_t connections, int64_t per_address, int64_t streams)
{
    const struct ek_http_limits limits = {connections, per_address, streams, WAIT_MS, NULL};
    struct ek_error e;
    begin_alone(&v->s);
    must(ek_file_write(TOKENS, "0123456789abcdef\n", NULL));
    must(ek_tokens_load(&v->tokens, TOKENS, NULL));
    unlink(TOKENS);
    must(ek_stage_new(&v->s.stage, v->s.config, &v->s.assets, NULL, NULL));
    const struct ek_api api = {v->s.stage, NULL, v->tokens};
    ck_assert_msg(!ek_http_start(&v->http, "127.0.0.1:0", &limits, &api, NULL, &e), "%s",
                  e.message);
}

static void close_served(struct served *v)
{
    ek_http_stop(v->http);
    ek_stage_free(v->s.stage);
    ek_tokens_free(v->tokens);
    end(&v->s);
}

/* Connect from this loopback address. */
static int link_from(const struct served *v, const char *address)
{
    const struct timeval patience = {WAIT_MS / 1000, 0};
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)ek_http_port(v->http)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    ck_assert(!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
    ck_assert(!bind(fd, (struct sockaddr *)&from, sizeof from));
    ck_assert(!connect(fd, (struct sockaddr *)&at, sizeof at));
    return fd;
}

/* Ignores write errors: the response shows a disconnect. */
static void say(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* Read until `last` or the end of the connection. Return the status, 0 without a response. */
static int answer(int fd, const char *last, char head[HEAD_BYTES])
{
    size_t length = 0;
    ssize_t got;
    *head = 0;
    while (length < HEAD_BYTES - 1 &&
           (got = recv(fd, head + length, HEAD_BYTES - 1 - length, 0)) > 0) {
        length += (size_t)got;
        head[length] = 0;
        if (last && strstr(head, last))
            break;
    }
    return strncmp(head, "HTTP/1.", 7) ? 0 : (int)strtol(head + strlen("HTTP/1.x "), NULL, 10);
}

static int ask(int fd, const char *text, const char *last)
{
    char head[HEAD_BYTES];
    say(fd, text, strlen(text));
    return answer(fd, last, head);
}

static int ping(int fd)
{
    return ask(fd, PING, "pong\n");
}

START_TEST(so_many_connections_are_served_and_one_more_in_place_of_the_longest_idle)
{
    enum { MOST = 4 };
    struct served v;
    int links[MOST + 1];
    open_served(&v, MOST, LINKS_MAX, 0);
    for (int i = 0; i < MOST; i++) {
        links[i] = link_from(&v, "127.0.0.1");
        ck_assert_int_eq(ping(links[i]), 200);
        nanosleep(&(struct timespec){0, 2000000}, NULL); /* times differ */
    }
    ck_assert_int_eq(ping(links[0]), 200); /* now the second has been idle for longest */
    links[MOST] = link_from(&v, "127.0.0.1");
    ck_assert_int_eq(ping(links[MOST]), 200);
    for (int i = 0; i <= MOST; i++) {
        ck_assert_int_eq(ping(links[i]), i == 1 ? 0 : 200);
        close(links[i]);
    }
    close_served(&v);
}
END_TEST

/* Clients that never complete a request, and streams, leave room for the probes of others. */
START_TEST(slow_clients_do_not_keep_probes_out)
{
    enum { MOST = 6, SLOW = 12, PROBES = 50, STREAMS = 2 };
    static const char part[] = "GET /ping HTTP/1.1\r\nX-Slow: ";
    struct served v;
    int slow[SLOW], streams[STREAMS];
    open_served(&v, MOST, SLOW, STREAMS);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = link_from(&v, "127.0.0.4");
        ck_assert_int_eq(ask(streams[i], STREAM, "\r\n"), 200);
    }
    for (int i = 0; i < SLOW; i++)
        slow[i] = link_from(&v, i % 2 ? "127.0.0.2" : "127.0.0.3");
    for (int n = 0; n < PROBES; n++) {
        for (int i = 0; i < SLOW; i++)
            say(slow[i], n ? "x" : part, n ? 1 : sizeof part - 1);
        close(slow[n % SLOW]); /* and come again */
        slow[n % SLOW] = link_from(&v, n % 2 ? "127.0.0.2" : "127.0.0.3");
        int probe = link_from(&v, "127.0.0.1");
        ck_assert_int_eq(ping(probe), 200);
        close(probe);
    }
    for (int i = 0; i < STREAMS; i++) {
        ck_assert_int_eq(poll(&(struct pollfd){.fd = streams[i], .events = POLLRDHUP}, 1, 0), 0);
        close(streams[i]);
    }
    for (int i = 0; i < SLOW; i++)
        close(slow[i]);
    close_served(&v);
}
END_TEST

START_TEST(so_many_connections_of_an_address_are_served_and_one_more_is_closed)
{
    enum { MOST = 3 };
    struct served v;
    int links[MOST];
    open_served(&v, LINKS_MAX, MOST, 0);
    for (int i = 0; i < MOST; i++) {
        links[i] = link_from(&v, "127.0.0.1");
        ck_assert_int_eq(ping(links[i]), 200);
    }
    int beyond = link_from(&v, "127.0.0.1"), other = link_from(&v, "127.0.0.2");
    ck_assert_int_eq(ping(beyond), 0);
    ck_assert_int_eq(ping(other), 200);
    close(beyond);
    close(other);
    for (int i = 0; i < MOST; i++) {
        ck_assert_int_eq(ping(links[i]), 200);
        close(links[i]);
    }
    close_served(&v);
}
END_TEST

START_TEST(so_many_follow_the_events_and_one_more_is_told_to_come_again)
{
    enum { MOST = 2 };
    struct served v;
    int links[MOST + 1];
    open_served(&v, LINKS_MAX, LINKS_MAX, MOST);
    for (int i = 0; i <= MOST; i++) {
        links[i] = link_from(&v, "127.0.0.1");
        ck_assert_int_eq(ask(links[i], STREAM, "\r\n"), i < MOST ? 200 : 503);
    }
    for (int i = 0; i <= MOST; i++)
        close(links[i]);
    close_served(&v);
}
END_TEST

/* Return the status of one request on a new connection, and set `head`. */
static int status_of(const struct served *v, const struct ek_buf *text, char head[HEAD_BYTES])
{
    int fd = link_from(v, "127.0.0.1");
    say(fd, (const char *)text->data, text->length);
    int status = answer(fd, NULL, head);
    close(fd);
    return status;
}

static void fill(struct ek_buf *b, char with, size_t count)
{
    must(ek_buf_reserve(b, count));
    memset((char *)b->data + b->length, with, count);
    b->length += count;
}

/* Send a URI with query of that many bytes. */
static int of_uri(const struct served *v, size_t bytes)
{
    char head[HEAD_BYTES];
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "GET /ping?"));
    fill(&b, 'x', bytes - strlen("/ping?"));
    must(ek_buf_text(&b, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    int status = status_of(v, &b, head);
    ek_buf_release(&b);
    return status;
}

/* Send a request of that many bytes, mostly one header. */
static int of_headers(const struct served *v, size_t bytes)
{
    char head[HEAD_BYTES];
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: "));
    fill(&b, 'x', bytes - b.length - strlen("\r\n\r\n"));
    must(ek_buf_text(&b, "\r\n\r\n"));
    int status = status_of(v, &b, head);
    ek_buf_release(&b);
    return status;
}

START_TEST(a_path_has_8_kib)
{
    struct served v;
    open_served(&v, LINKS_MAX, LINKS_MAX, 0);
    ck_assert_int_eq(of_uri(&v, EK_HTTP_URI_BYTES_MAX - 1), 200);
    ck_assert_int_eq(of_uri(&v, EK_HTTP_URI_BYTES_MAX), 200);
    ck_assert_int_eq(of_uri(&v, EK_HTTP_URI_BYTES_MAX + 1), 414);
    close_served(&v);
}
END_TEST

/* The library's own overhead is measured: the largest request that fits. */
START_TEST(a_request_with_its_headers_fits_into_32_kib_or_is_refused)
{
    enum { OWN_BYTES = 4 << 10 };
    struct served v;
    size_t good = EK_HTTP_CONNECTION_BYTES_MAX - OWN_BYTES, bad = EK_HTTP_CONNECTION_BYTES_MAX + 1;
    open_served(&v, LINKS_MAX, LINKS_MAX, 0);
    ck_assert_int_eq(of_headers(&v, good), 200);
    ck_assert_int_eq(of_headers(&v, bad), 431);
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        int status = of_headers(&v, middle);
        /* near the end the request fits but no response does */
        ck_assert_msg(status == 200 || status == 431 || !status, "%zu bytes: %d", middle, status);
        if (status == 200)
            good = middle;
        else
            bad = middle;
    }
    ck_assert_int_eq(of_headers(&v, good - 1), 200);
    ck_assert_int_ne(of_headers(&v, bad + 1), 200);
    close_served(&v);
}
END_TEST

/* Post a pause with a body of that many bytes; with in_parts, chunked without a length. */
static int of_body(const struct served *v, size_t bytes, bool in_parts, char head[HEAD_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                         "Authorization: Bearer 0123456789abcdef\r\n"
                         "Content-Type: application/json\r\n"));
    must(in_parts ? ek_buf_printf(&b, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", bytes)
                  : ek_buf_printf(&b, "Content-Length: %zu\r\n\r\n", bytes));
    must(ek_buf_text(&b, "{}"));
    fill(&b, ' ', bytes - 2);
    must(ek_buf_text(&b, in_parts ? "\r\n0\r\n\r\n" : ""));
    int status = status_of(v, &b, head);
    ek_buf_release(&b);
    return status;
}

START_TEST(a_call_has_64_kib)
{
    struct served v;
    char head[HEAD_BYTES];
    open_served(&v, LINKS_MAX, LINKS_MAX, 0);
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        ck_assert_int_eq(of_body(&v, EK_API_BODY_BYTES_MAX - 1, in_parts, head), 200);
        ck_assert_int_eq(of_body(&v, EK_API_BODY_BYTES_MAX, in_parts, head), 200);
        ck_assert_int_eq(of_body(&v, EK_API_BODY_BYTES_MAX + 1, in_parts, head), 413);
        ck_assert_msg(strstr(head, "the body exceeds 65536 bytes") != NULL, "%s", head);
    }
    close_served(&v);
}
END_TEST

/* Send headers that announce a body, and no body. */
static int announced(int fd, size_t bytes)
{
    char head[HEAD_BYTES], text[200];
    snprintf(text, sizeof text,
             "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
             bytes);
    say(fd, text, strlen(text));
    return answer(fd, "\r\n", head);
}

START_TEST(of_a_body_that_is_too_large_1_mib_is_read_and_more_is_not_waited_for)
{
    struct served v;
    char head[HEAD_BYTES];
    open_served(&v, LINKS_MAX, LINKS_MAX, 0);
    for (size_t bytes = EK_HTTP_READ_BYTES_MAX - 1; bytes <= EK_HTTP_READ_BYTES_MAX; bytes++)
        for (int in_parts = 0; in_parts < 2; in_parts++) {
            ck_assert_int_eq(of_body(&v, bytes, in_parts, head), 413);
            ck_assert_msg(strstr(head, "the body exceeds 65536 bytes") != NULL, "%s", head);
        }
    int fd = link_from(&v, "127.0.0.1");
    ck_assert_int_eq(announced(fd, EK_HTTP_READ_BYTES_MAX + 1), 413);
    close(fd);
    ck_assert_int_eq(of_body(&v, EK_HTTP_READ_BYTES_MAX + 1, true, head), 0);
    close_served(&v);
}
END_TEST

START_TEST(who_is_not_done_in_time_is_cut_off_then_and_not_before)
{
    int pair[2];
    char byte;
    ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    struct ek_http_timeouts *w = ek_http_timeouts_new();
    struct ek_http_timeout *one = ek_http_timeouts_start(w, pair[0], LATE_MS);
    ck_assert_uint_eq(ek_http_timeouts_expire(w, LATE_MS - 1), 0);
    ck_assert_int_eq(poll(&(struct pollfd){.fd = pair[1], .events = POLLIN}, 1, 0), 0);
    ek_http_timeouts_until(w, one, LATE_MS + 1); /* made progress */
    ck_assert_uint_eq(ek_http_timeouts_expire(w, LATE_MS), 0);
    ck_assert_uint_eq(ek_http_timeouts_expire(w, LATE_MS + 1), 1);
    ck_assert_int_eq(read(pair[1], &byte, 1), 0);
    ck_assert_uint_eq(ek_http_timeouts_expire(w, LATE_MS + 2), 0);
    ek_http_timeouts_stop(w, one);
    ek_http_timeouts_free(w);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

Suite *suite_limits_http(void)
{
    return ek_suite("limits http",
                    so_many_connections_are_served_and_one_more_in_place_of_the_longest_idle,
                    slow_clients_do_not_keep_probes_out,
                    so_many_connections_of_an_address_are_served_and_one_more_is_closed,
                    so_many_follow_the_events_and_one_more_is_told_to_come_again, a_path_has_8_kib,
                    a_request_with_its_headers_fits_into_32_kib_or_is_refused, a_call_has_64_kib,
                    of_a_body_that_is_too_large_1_mib_is_read_and_more_is_not_waited_for,
                    who_is_not_done_in_time_is_cut_off_then_and_not_before);
}
