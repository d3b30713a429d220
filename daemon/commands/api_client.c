#include "daemon/commands/api_client.h"

#include "daemon/base/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const char SCHEME[] = "http://";

static int dial(const struct addrinfo *at)
{
    const struct timeval wait = {.tv_sec = EK_API_WAIT_SECONDS};
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (!connect(fd, at->ai_addr, at->ai_addrlen))
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

/* Host and port, without a path behind them. */
static int address_of(const char *url, char *address, size_t size, struct ek_error *e)
{
    bool scheme = !strncmp(url, SCHEME, sizeof SCHEME - 1);
    const char *at = scheme ? url + sizeof SCHEME - 1 : url;
    size_t length = strcspn(at, "/");
    if (strstr(at, "://") || (at[length] && at[length + 1]) || length >= size)
        return ek_fail(e, EK_EUSAGE, "'%s' is not like http://127.0.0.1:9464", url);
    snprintf(address, size, "%.*s", (int)length, at);
    return EK_OK;
}

static int reach(int *fd, const char *url, const char *address, struct ek_error *e)
{
    char host[EK_HOST_BYTES];
    const char *port;
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
    if (ek_address_split("url", address, host, &port, NULL))
        return ek_fail(e, EK_EUSAGE, "'%s' is not like http://127.0.0.1:9464", url);
    int problem = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (problem)
        return ek_fail(e, EK_EIO, "%s: %s", url, gai_strerror(problem));
    *fd = -1;
    for (const struct addrinfo *at = found; at && *fd < 0; at = at->ai_next)
        *fd = dial(at);
    problem = errno;
    freeaddrinfo(found);
    return *fd >= 0 ? EK_OK
                    : ek_fail(e, EK_EIO, "%s: nobody answers there: %s", url, strerror(problem));
}

static int write_request(struct ek_buf *out, const char *address, const char *path,
                         const char *token, const char *body)
{
    int rc = ek_buf_printf(out, "%s %s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n",
                           body ? "POST" : "GET", path, address);
    if (!rc && token)
        rc = ek_buf_printf(out, "Authorization: Bearer %s\r\n", token);
    if (!rc && body)
        rc = ek_buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                           strlen(body));
    return rc ? rc : ek_buf_printf(out, "\r\n%s", body ? body : "");
}

static int send_all(int fd, const struct ek_buf *request, const char *url, struct ek_error *e)
{
    for (size_t sent = 0; sent < request->length;) {
        ssize_t n = send(fd, request->data + sent, request->length - sent, MSG_NOSIGNAL);
        if (n < 0)
            return ek_fail(e, EK_EIO, "%s: %s", url, strerror(errno));
        sent += (size_t)n;
    }
    return EK_OK;
}

static int receive_all(int fd, struct ek_buf *out, const char *url, struct ek_error *e)
{
    char part[16384];
    ssize_t n;
    while ((n = recv(fd, part, sizeof part, 0)) > 0)
        if (ek_buf_add(out, part, (size_t)n))
            return ek_fail(e, EK_ELIMIT, "%s: the answer is too long", url);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return ek_fail(e, EK_EIO, "%s: no answer within %d seconds", url, EK_API_WAIT_SECONDS);
    return n < 0 ? ek_fail(e, EK_EIO, "%s: %s", url, strerror(errno)) : EK_OK;
}

/* Status and body of what came. */
static int part(struct ek_buf *came, unsigned *status, struct ek_buf *answer, const char *url,
                struct ek_error *e)
{
    const char *text = ek_buf_string(came), *body = text ? strstr(text, "\r\n\r\n") : NULL;
    if (!body || sscanf(text, "HTTP/1.%*[01] %3u", status) != 1)
        return ek_fail(e, EK_EIO, "%s: what answers there does not speak HTTP", url);
    body += 4;
    return ek_buf_add(answer, body, came->length - (size_t)(body - text))
               ? ek_fail(e, EK_ENOMEM, "no memory for an answer")
               : EK_OK;
}

int ek_api_call(const char *url, const char *path, const char *token, const char *body,
                unsigned *status, struct ek_buf *answer, struct ek_error *e)
{
    char address[EK_HOST_BYTES + 16];
    struct ek_buf request, came;
    int fd = -1, rc = address_of(url, address, sizeof address, e);
    if (!rc)
        rc = reach(&fd, url, address, e);
    if (rc)
        return rc;
    ek_buf_init(&request, 0);
    ek_buf_init(&came, EK_API_ANSWER_BYTES);
    if (write_request(&request, address, path, token, body))
        rc = ek_fail(e, EK_ENOMEM, "no memory for a request");
    if (!rc)
        rc = send_all(fd, &request, url, e);
    if (!rc)
        rc = receive_all(fd, &came, url, e);
    if (!rc)
        rc = part(&came, status, answer, url, e);
    close(fd);
    ek_buf_release(&request);
    ek_buf_release(&came);
    return rc;
}
