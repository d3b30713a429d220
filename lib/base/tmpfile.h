/* Unnamed temporary files, which leave no file behind if the process is killed.
 *
 * The caller closes the descriptor. Failure returns -1 with errno set. `path` is modified during a
 * call and restored.
 */
#ifndef EK_BASE_TMPFILE_H
#define EK_BASE_TMPFILE_H

#include <sys/types.h>

/* Open an unnamed file in the folder of `path`, with access O_RDWR or O_WRONLY. Return the
 * descriptor, or -1 with errno set, also if the file system does not support it. */
int ek_tmpfile_open(char *path, int access, mode_t mode);
/* Open an unnamed file for reading and writing in the folder of `path`, with mode 0600. If the file
 * system does not support it, create a named file and unlink it at once. Return the descriptor, or
 * -1 with errno set. */
int ek_tmpfile_spool(char *path);

#endif
