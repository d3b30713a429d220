/* HTTP requests over real connections to the real server, which must send a valid HTTP response and
 * keep serving other clients. At intervals the server is stopped during a request and restarted. */
#include "daemon/http/server.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/served.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { FIRST_MS = 20, MORE_MS = 1, PING_MS = 10000, ANSWER_MAX = 1 << 16, SENT_MAX = 1 << 16 };

static struct ek_http *http;
static int port;

static void serve(void)
{
    static char name[] = "ek.example", *const names[] = {name};
    static const struct ek_text_list hosts = {(char **)(uintptr_t)names, 1};
    static const struct ek_http_limits limits = {64, 64, 8, 1000, &hosts};
    struct ek_error e = {0};
    ek_fuzz_require(!ek_http_start(&http, "127.0.0.1:0", &limits, ek_fuzz_served(), NULL, &e),
                    e.message);
    port = ek_http_port(http);
}

/* Closes without lingering, so that no port stays in TIME_WAIT. */
static int reach(void)
{
    const struct linger none = {1, 0};
    const int on = 1;
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ek_fuzz_require(fd >= 0, "no socket");
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ek_fuzz_require(!connect(fd, (const struct sockaddr *)&at, sizeof at), "not reached");
    return fd;
}

/* Read until the end or a timeout, as an incomplete request has no response. The timeout is shorter
 * after the first bytes. */
static size_t hear(int fd, char answer[ANSWER_MAX], int first_ms)
{
    size_t length = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (length < ANSWER_MAX - 1 && poll(&p, 1, length ? MORE_MS : first_ms) > 0) {
        ssize_t got = recv(fd, answer + length, ANSWER_MAX - 1 - length, 0);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    answer[length] = 0;
    return length;
}

static void say(int fd, const void *bytes, size_t size)
{
    size_t sent = 0;
    while (sent < size) {
        ssize_t put = send(fd, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (put <= 0)
            break; /* enough was read */
        sent += (size_t)put;
    }
}

/* Return whether a request has the token outside its Authorization header, so that a response may
 * echo it. */
static bool tells_token(const char *bytes, size_t size)
{
    static const char token[] = EK_FUZZ_TOKEN, before[] = "Authorization: Bearer ";
    const size_t length = sizeof token - 1, start = sizeof before - 1;
    const char *at = bytes, *end = bytes + size;
    for (; (at = memmem(at, (size_t)(end - at), token, length)); at += length)
        if ((size_t)(at - bytes) < start || memcmp(at - start, before, start) != 0)
            return true;
    return false;
}

static void ask(const void *bytes, size_t size, char answer[ANSWER_MAX], int first_ms)
{
    int fd = reach();
    say(fd, bytes, size);
    shutdown(fd, SHUT_WR);
    size_t length = hear(fd, answer, first_ms);
    ek_fuzz_require(!length || !strncmp(answer, "HTTP/1.", 7), "an answer that is none of HTTP");
    ek_fuzz_require(!strstr(answer, EK_FUZZ_TOKEN) || tells_token(bytes, size),
                    "the token is told");
    close(fd);
}

/* Restart the server while a client waits for more. */
static void serve_anew(const void *bytes, size_t size)
{
    int fd = reach();
    say(fd, bytes, size);
    ek_http_stop(http);
    close(fd);
    serve();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char ping[] = "GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static char answer[ANSWER_MAX];
    static unsigned turns;
    if (!port)
        serve();
    size = size < SENT_MAX ? size : SENT_MAX;
    ask(data, size, answer, FIRST_MS);
    if (turns % 64 == 0)
        serve_anew(data, size);
    if (++turns % 64 == 0) {
        ask(ping, sizeof ping - 1, answer, PING_MS);
        ek_fuzz_require(!strncmp(answer, "HTTP/1.1 200", 12), "nobody is answered any more");
    }
    return 0;
}
