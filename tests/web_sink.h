/* Single-threaded web server that records requests and sends a fixed answer, or none.
 *
 * It serves one request per connection. Read the recorded requests after it is closed.
 */
#ifndef EK_TESTS_WEB_SINK_H
#define EK_TESTS_WEB_SINK_H

#include "tests/check.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WEB_SINK_BYTES = 64 << 10, WEB_SINK_LINKS = 16 };

struct web_sink {
    char url[64];
    const char *answer; /* NULL: never answer */
    volatile bool endless;
    int fd, end[2], link[WEB_SINK_LINKS], links;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    int requests;
    char got[WEB_SINK_BYTES]; /* heads and bodies */
    size_t length;
};

static inline bool web_sink_whole(const char *text)
{
    const char *body = strstr(text, "\r\n\r\n"), *said = strstr(text, "Content-Length: ");
    return body && said && strlen(body + 4) >= strtoul(said + 16, NULL, 10);
}

static inline void web_sink_take(struct web_sink *w, int link)
{
    static const char more[1000] = {'x'};
    char text[16 << 10] = "";
    size_t length = 0;
    while (!web_sink_whole(text)) {
        ssize_t got = recv(link, text + length, sizeof text - 1 - length, 0);
        if (got <= 0)
            break;
        text[length += (size_t)got] = 0;
    }
    pthread_mutex_lock(&w->lock);
    w->requests++;
    if (w->length + length < sizeof w->got)
        memcpy(w->got + w->length, text, length);
    w->length += length;
    pthread_cond_broadcast(&w->came);
    pthread_mutex_unlock(&w->lock);
    if (w->answer)
        send(link, w->answer, strlen(w->answer), MSG_NOSIGNAL);
    while (w->endless && send(link, more, sizeof more, MSG_NOSIGNAL) > 0)
        ;
}

static inline void *web_sink_run(void *context)
{
    struct web_sink *w = context;
    for (;;) {
        struct pollfd at[] = {{.fd = w->fd, .events = POLLIN}, {.fd = w->end[0], .events = POLLIN}};
        poll(at, 2, -1);
        if (at[1].revents)
            return NULL;
        int link = accept(w->fd, NULL, NULL);
        if (link < 0)
            continue;
        web_sink_take(w, link);
        if (w->answer || w->links == WEB_SINK_LINKS)
            close(link);
        else
            w->link[w->links++] = link;
    }
}

static inline void web_sink_open(struct web_sink *w, const char *answer)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    memset(w, 0, sizeof *w);
    w->answer = answer;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->came, NULL);
    w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(!bind(w->fd, (struct sockaddr *)&at, sizeof at) && !listen(w->fd, 8));
    ck_assert(!getsockname(w->fd, (struct sockaddr *)&at, &size) && !pipe(w->end));
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    ck_assert(!pthread_create(&w->thread, NULL, web_sink_run, w));
}

static inline void web_sink_wait(struct web_sink *w, int requests)
{
    pthread_mutex_lock(&w->lock);
    while (w->requests < requests)
        pthread_cond_wait(&w->came, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static inline void web_sink_close(struct web_sink *w)
{
    ck_assert(write(w->end[1], "", 1) == 1);
    pthread_join(w->thread, NULL);
    for (int i = 0; i < w->links; i++)
        close(w->link[i]);
    close(w->fd);
    close(w->end[0]);
    close(w->end[1]);
}

#endif
