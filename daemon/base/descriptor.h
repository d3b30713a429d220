/* File descriptors that are closed on exec and never block. Threads: any. */
#ifndef EK_DAEMON_BASE_DESCRIPTOR_H
#define EK_DAEMON_BASE_DESCRIPTOR_H

/* Open a socket, as socket(2). Return its descriptor, or -1 with errno. */
int ek_socket_open(int family, int type, int protocol);
/* Open a pipe; ends[0] is for reading. Return 0, or -1 with errno and ends of -1. */
int ek_pipe_open(int ends[2]);
/* Close both ends; -1: not open. */
void ek_pipe_close(int ends[2]);

#endif
