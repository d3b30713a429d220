#include "daemon/base/signals.h"

#include "base/portable.h"
#include "daemon/base/descriptor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if EK_PORTABLE
static volatile sig_atomic_t write_end = -1;

/* Write the number of the signal to the pipe. A full pipe is readable anyway. */
static void on_signal(int number)
{
    int problem = errno;
    char byte = (char)number;
    ssize_t ignored = write(write_end, &byte, 1);
    (void)ignored;
    errno = problem;
}

void ek_signals_begin(struct ek_signals *s, const int *numbers, int count)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    memset(s, 0, sizeof *s);
    (void)ek_pipe_open(s->ends); /* without a descriptor the signals are ignored */
    s->fd = s->ends[0];
    write_end = s->ends[1];
    for (s->count = 0; s->count < count; s->count++) {
        s->numbers[s->count] = numbers[s->count];
        sigaction(numbers[s->count], &action, &s->actions[s->count]);
    }
}

int ek_signals_read(const struct ek_signals *s)
{
    char byte = 0;
    return read(s->fd, &byte, 1) == 1 ? byte : 0;
}

void ek_signals_end(struct ek_signals *s)
{
    for (int i = 0; i < s->count; i++)
        sigaction(s->numbers[i], &s->actions[i], NULL);
    write_end = -1;
    ek_pipe_close(s->ends);
    s->fd = -1;
}
#else
#include <sys/signalfd.h>

void ek_signals_begin(struct ek_signals *s, const int *numbers, int count)
{
    sigset_t ours;
    memset(s, 0, sizeof *s);
    sigemptyset(&ours);
    for (int i = 0; i < count; i++)
        sigaddset(&ours, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &ours, &s->before);
    s->fd = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
}

int ek_signals_read(const struct ek_signals *s)
{
    struct signalfd_siginfo signal;
    return read(s->fd, &signal, sizeof signal) == sizeof signal ? (int)signal.ssi_signo : 0;
}

void ek_signals_end(struct ek_signals *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}
#endif
