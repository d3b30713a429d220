/* Listening of the HTTP server; test_stage_events.c covers its responses. */
#include "daemon/base/clock.h"
#include "daemon/http/server.h"
#include "daemon/base/process.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* No API behind it. */
static const struct ek_api NOBODY;

START_TEST(an_address_to_listen_on_is_checked)
{
    struct ek_http *http = NULL;
    struct ek_error e;
    static const char *const bad[] = {"9464", "localhost:port", "localhost:70000", "[::1]",
                                      "256.0.0.1:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(ek_http_start(&http, bad[i], NULL, &NOBODY, NULL, &e), EK_ECONFIG);
    ck_assert_ptr_null(http);
}
END_TEST

/* Check that a second server on the same port fails with an error that names it. */
static void assert_not_shared(const char *host)
{
    struct ek_http *first, *second = NULL;
    struct ek_error e;
    char at[64], expected[120];
    snprintf(at, sizeof at, "%s:0", host);
    ck_assert_msg(!ek_http_start(&first, at, NULL, &NOBODY, NULL, &e), "%s", e.message);
    ck_assert_int_gt(ek_http_port(first), 0);
    snprintf(at, sizeof at, "%s:%d", host, ek_http_port(first));
    snprintf(expected, sizeof expected, "cannot listen on %s: address already in use", at);
    ck_assert_int_eq(ek_http_start(&second, at, NULL, &NOBODY, NULL, &e), EK_EIO);
    ck_assert_str_eq(e.message, expected);
    ek_http_stop(first);
    ck_assert_msg(!ek_http_start(&second, at, NULL, &NOBODY, NULL, &e), "%s", e.message);
    ek_http_stop(second);
}

START_TEST(two_instances_do_not_share_a_port)
{
    assert_not_shared("127.0.0.1");
}
END_TEST

START_TEST(nor_a_port_of_ipv6)
{
    struct ek_http *http;
    if (ek_http_start(&http, "[::1]:0", NULL, &NOBODY, NULL, NULL)) {
        printf("skipped: there is no IPv6 here\n");
        return;
    }
    ek_http_stop(http);
    assert_not_shared("[::1]");
}
END_TEST

/* A rejected connection needs a moment to close: open several, of which one is accepted. */
static void be_let_in_and_turned_away(const struct ek_http *http)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)ek_http_port(http)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int links[2];
    for (int i = 0; i < 2; i++) {
        links[i] = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert(!connect(links[i], (struct sockaddr *)&at, sizeof at));
    }
    char byte;
    ck_assert_int_le(read(links[1], &byte, 1), 0);
    close(links[0]);
    close(links[1]);
}

/* Return the threads of this process, other than this one, without low priority. */
static int threads_that_insist(int own)
{
    int count = 0;
    DIR *all = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(all);
    for (struct dirent *d; (d = readdir(all));) {
        long thread = strtol(d->d_name, NULL, 10);
        if (thread && thread != gettid())
            count += getpriority(PRIO_PROCESS, (id_t)thread) <= own;
    }
    closedir(all);
    return count;
}

/* Each thread lowers its priority at its start. */
static void wait_until_none_insists(int own)
{
    int64_t until = ek_now_ms() + 30000;
    while (threads_that_insist(own) && ek_now_ms() < until)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    ck_assert_int_eq(threads_that_insist(own), 0);
}

START_TEST(whoever_answers_gives_way_to_those_that_rank)
{
    const struct ek_http_limits one = {4, 1, 1, 10000, NULL};
    struct ek_http *http;
    struct ek_error e;
    int own = getpriority(PRIO_PROCESS, 0);
    if (own >= 19) {
        printf("skipped: nothing is below what runs at the lowest priority\n");
        return;
    }
    ck_assert_msg(!ek_http_start(&http, "127.0.0.1:0", &one, &NOBODY, NULL, &e), "%s", e.message);
    be_let_in_and_turned_away(http);
    wait_until_none_insists(own);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), own);
    ek_http_stop(http);
}
END_TEST

/* Each test runs in a separate process. */
static void may_open(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {soft, hard};
    ck_assert(!setrlimit(RLIMIT_NOFILE, &limit));
}

START_TEST(room_is_made_for_as_many_connections_as_are_allowed)
{
    const struct ek_http_limits many = {150, 150, 1, 10000, NULL};
    struct rlimit limit;
    struct ek_http *http;
    struct ek_error e;
    may_open(100, 300);
    ck_assert_msg(!ek_http_start(&http, "127.0.0.1:0", &many, &NOBODY, NULL, &e), "%s", e.message);
    ck_assert(!getrlimit(RLIMIT_NOFILE, &limit));
    ck_assert_uint_eq(limit.rlim_cur, 150 + EK_FILES_RETAINED);
    ck_assert_uint_eq(limit.rlim_max, 300);
    ek_http_stop(http);
}
END_TEST

START_TEST(more_connections_than_files_that_may_be_open_are_refused)
{
    const struct ek_http_limits many = {1000, 1000, 1, 10000, NULL};
    struct ek_http *http = NULL;
    struct ek_error e;
    may_open(200, 1024);
    ck_assert_int_eq(ek_http_start(&http, "127.0.0.1:0", &many, &NOBODY, NULL, &e), EK_ECONFIG);
    ck_assert_str_eq(
        e.message,
        "'http.max_connections': 1000 connections and 128 other files exceed the limit of "
        "1024 open files; raise it (ulimit -n)");
    ck_assert_ptr_null(http);
}
END_TEST

/* Send garbage on many connections; libmicrohttpd answers it without a callback. */
static void send_nonsense(const struct ek_http *http, int fd[], int count)
{
    static const char nonsense[] = "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n";
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)ek_http_port(http)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < count; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert(!connect(fd[i], (const struct sockaddr *)&at, sizeof at));
    }
    for (int i = 0; i < count; i++)
        ck_assert_int_gt(send(fd[i], nonsense, sizeof nonsense - 1, MSG_NOSIGNAL), 0);
}

/* Regression: it crashed within about thirty of these. */
START_TEST(nonsense_that_comes_while_it_stops_does_no_harm)
{
    enum { STOPS = 60, CLIENTS = 8 };
    struct ek_http *http = NULL;
    struct ek_error e;
    int fd[CLIENTS];
    for (int i = 0; i < STOPS; i++) {
        ck_assert_msg(!ek_http_start(&http, "127.0.0.1:0", NULL, &NOBODY, NULL, &e), "%s",
                      e.message);
        send_nonsense(http, fd, CLIENTS);
        ek_http_stop(http);
        for (int k = 0; k < CLIENTS; k++)
            close(fd[k]);
    }
}
END_TEST

Suite *suite_http(void)
{
    return ek_suite("http", an_address_to_listen_on_is_checked, two_instances_do_not_share_a_port,
                    nor_a_port_of_ipv6, whoever_answers_gives_way_to_those_that_rank,
                    room_is_made_for_as_many_connections_as_are_allowed,
                    more_connections_than_files_that_may_be_open_are_refused,
                    nonsense_that_comes_while_it_stops_does_no_harm);
}
