/* The error line of a command. */
#include "daemon/base/command.h"

#include "tests/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket keeps writes apart. */
START_TEST(an_error_is_written_whole)
{
    int pair[2], saved = dup(STDERR_FILENO);
    struct ek_error e;
    char line[1000];
    ek_fail(&e, EK_ECONFIG, "%s: %0300d", "a long path", 7);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    dup2(pair[0], STDERR_FILENO);
    int status = ek_cli_fail(&e);
    dup2(saved, STDERR_FILENO);
    ssize_t length = recv(pair[1], line, sizeof line - 1, MSG_DONTWAIT);
    ck_assert_int_eq(status, EK_EXIT_CONFIG);
    ck_assert_int_eq(length, (ssize_t)strlen("evenkeel: a long path: ") + 300 + 1);
    close(pair[0]);
    close(pair[1]);
    close(saved);
}
END_TEST

Suite *suite_command(void)
{
    return ek_suite("command", an_error_is_written_whole);
}
