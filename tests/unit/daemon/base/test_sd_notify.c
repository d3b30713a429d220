/* sd_notify sends one datagram to a path or an abstract name, and never fails its caller. */
#include "daemon/base/process.h"
#include "tests/check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Bind a socket and set `address` to its name. */
static int listener(char mark, char address[64])
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(address, 64, "%c%s/ek-notify-%d", mark, mark == '/' ? "tmp" : "", (int)getpid());
    memcpy(at.sun_path, address, strlen(address));
    if (mark == '@')
        at.sun_path[0] = 0;
    else
        unlink(address);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address));
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, size), 0);
    return fd;
}

START_TEST(one_datagram_is_heard)
{
    static const char marks[] = "/@";
    for (const char *mark = marks; *mark; mark++) {
        char address[64], heard[32];
        int fd = listener(*mark, address);
        ck_assert(ek_sd_notify(address, "READY=1"));
        ck_assert_int_eq(recv(fd, heard, sizeof heard, MSG_DONTWAIT), 7);
        ck_assert_mem_eq(heard, "READY=1", 7);
        ck_assert_int_lt(recv(fd, heard, sizeof heard, MSG_DONTWAIT), 0);
        close(fd);
        if (*mark == '/')
            unlink(address);
    }
}
END_TEST

START_TEST(nobody_listens)
{
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[0] = '/';
    longer[sizeof longer - 1] = 0;
    const char *const addresses[] = {NULL,       "",          "/",          "@",
                                     "relative", "vsock:2:1", "/not/there", longer};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        ck_assert(!ek_sd_notify(addresses[i], "READY=1"));
}
END_TEST

Suite *suite_sd_notify(void)
{
    return ek_suite("supervisor", one_datagram_is_heard, nobody_listens);
}
