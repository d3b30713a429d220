#include "daemon/http/http_watch.h"

#include "base/alloc.h"

#include <pthread.h>
#include <sys/socket.h>

struct ek_watched {
    struct ek_watched *next, *before;
    int fd;
    int64_t until_ms;
};

struct ek_http_watch {
    pthread_mutex_t lock;
    struct ek_watched all; /* a ring around this one */
};

struct ek_http_watch *ek_http_watch_new(void)
{
    struct ek_http_watch *w = ek_calloc(1, sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->all.next = w->all.before = &w->all;
    return w;
}

void ek_http_watch_free(struct ek_http_watch *w)
{
    if (!w)
        return;
    pthread_mutex_destroy(&w->lock);
    ek_free(w);
}

struct ek_watched *ek_http_watch_begin(struct ek_http_watch *w, int fd, int64_t until_ms)
{
    struct ek_watched *one = ek_calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->fd = fd;
    one->until_ms = until_ms;
    one->next = &w->all;
    pthread_mutex_lock(&w->lock);
    one->before = w->all.before;
    one->before->next = w->all.before = one;
    pthread_mutex_unlock(&w->lock);
    return one;
}

void ek_http_watch_until(struct ek_http_watch *w, struct ek_watched *one, int64_t until_ms)
{
    if (!one)
        return;
    pthread_mutex_lock(&w->lock);
    one->until_ms = until_ms;
    pthread_mutex_unlock(&w->lock);
}

void ek_http_watch_end(struct ek_http_watch *w, struct ek_watched *one)
{
    if (!one)
        return;
    pthread_mutex_lock(&w->lock);
    one->next->before = one->before;
    one->before->next = one->next;
    pthread_mutex_unlock(&w->lock);
    ek_free(one);
}

size_t ek_http_watch_sweep(struct ek_http_watch *w, int64_t now_ms)
{
    size_t cut = 0;
    pthread_mutex_lock(&w->lock);
    for (struct ek_watched *one = w->all.next; one != &w->all; one = one->next) {
        if (now_ms < one->until_ms)
            continue;
        shutdown(one->fd, SHUT_RDWR);
        one->until_ms = EK_WATCH_NEVER;
        cut++;
    }
    pthread_mutex_unlock(&w->lock);
    return cut;
}
