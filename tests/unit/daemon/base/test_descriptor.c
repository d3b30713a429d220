/* Descriptors are closed on exec and do not block, on every system. */
#define EK_PORTABLE 1
#include "daemon/base/descriptor.h"
#include "tests/check.h"

#define ek_socket_open ek_other_socket_open
#define ek_pipe_open   ek_other_pipe_open
#define ek_pipe_close  ek_other_pipe_close
#include "daemon/base/descriptor.c"
#undef ek_socket_open
#undef ek_pipe_open
#undef ek_pipe_close

static void assert_flags(int fd)
{
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    close(fd);
}

START_TEST(sockets)
{
    assert_flags(ek_socket_open(AF_INET, SOCK_STREAM, 0));
    assert_flags(ek_other_socket_open(AF_INET, SOCK_STREAM, 0));
    ck_assert_int_eq(ek_other_socket_open(-1, SOCK_STREAM, 0), -1);
    ck_assert_int_eq(errno, EAFNOSUPPORT);
}
END_TEST

START_TEST(pipes)
{
    int ends[2];
    char byte;
    ck_assert_int_eq(ek_pipe_open(ends), 0);
    ck_assert_int_eq(read(ends[0], &byte, 1), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_eq(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(fcntl(ends[1], F_GETFD), FD_CLOEXEC);
    ek_pipe_close(ends);
    ck_assert_int_eq(ends[0], -1);
    ek_pipe_close(ends);
}
END_TEST

Suite *suite_descriptor(void)
{
    return ek_suite("descriptor", sockets, pipes);
}
