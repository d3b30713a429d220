#include "daemon/training/pool.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdbool.h>

struct ek_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t thread[EK_POOL_THREADS_MAX];
    int threads; /* started */
    void (*task)(void *arg, int i);
    void *arg;
    int next, count, running; /* parts not begun are next .. count-1 */
    bool closing;
};

/* Takes parts until there are none; the lock is held outside of parts. */
static void work(struct ek_pool *p)
{
    while (p->next < p->count) {
        int i = p->next++;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        p->task(p->arg, i);
        pthread_mutex_lock(&p->lock);
        p->running--;
    }
}

static void *serve(void *pool)
{
    struct ek_pool *p = pool;
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        work(p);
        if (!p->running)
            pthread_cond_signal(&p->end);
        pthread_cond_wait(&p->begin, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct ek_pool *ek_pool_new(int threads)
{
    struct ek_pool *p = ek_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begin, NULL);
    pthread_cond_init(&p->end, NULL);
    while (p->threads < threads - 1 && p->threads < EK_POOL_THREADS_MAX &&
           !pthread_create(&p->thread[p->threads], NULL, serve, p))
        p->threads++;
    return p;
}

void ek_pool_free(struct ek_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->begin);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->end);
    pthread_cond_destroy(&p->begin);
    pthread_mutex_destroy(&p->lock);
    ek_free(p);
}

void ek_pool_run(struct ek_pool *p, void (*task)(void *arg, int i), void *arg, int count)
{
    if (!p) {
        for (int i = 0; i < count; i++)
            task(arg, i);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->arg = arg;
    p->next = 0;
    p->count = count;
    pthread_cond_broadcast(&p->begin);
    work(p);
    while (p->running)
        pthread_cond_wait(&p->end, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
