/* C11 threads implemented on POSIX threads, which ThreadSanitizer instruments; librdkafka uses C11
 * threads. Linked only with SANITIZE=thread. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "one is the other");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "one is the other");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "one is the other");

struct start {
    thrd_start_t function;
    void *argument;
};

static void *begin(void *context)
{
    struct start s = *(struct start *)context;
    free(context);
    return (void *)(intptr_t)s.function(s.argument);
}

static int result(int problem)
{
    return !problem               ? thrd_success
           : problem == ETIMEDOUT ? thrd_timedout
           : problem == EBUSY     ? thrd_busy
                                  : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct start *s = malloc(sizeof *s);
    if (!s)
        return thrd_nomem;
    *s = (struct start){function, argument};
    return result(pthread_create((pthread_t *)thread, NULL, begin, s));
}

int thrd_join(thrd_t thread, int *value)
{
    void *returned = NULL;
    int problem = pthread_join(thread, &returned);
    if (value)
        *value = (int)(intptr_t)returned;
    return result(problem);
}

int thrd_detach(thrd_t thread)
{
    return result(pthread_detach(thread));
}

int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE
                                                         : PTHREAD_MUTEX_DEFAULT);
    int problem = pthread_mutex_init((pthread_mutex_t *)mutex, &how);
    pthread_mutexattr_destroy(&how);
    return result(problem);
}

void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex)
{
    return result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_trylock(mtx_t *mutex)
{
    return result(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

int mtx_unlock(mtx_t *mutex)
{
    return result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

int cnd_init(cnd_t *condition)
{
    return result(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy((pthread_cond_t *)condition);
}

int cnd_signal(cnd_t *condition)
{
    return result(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition)
{
    return result(pthread_cond_broadcast((pthread_cond_t *)condition));
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return result(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    return result(
        pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
