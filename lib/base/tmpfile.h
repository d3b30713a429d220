/* Unnamed temporary files, which leave no file behind if the process is killed.
 *
 * The caller closes the descriptor. Failure returns -1 with errno set. `path` is modified during a
 * call and restored.
 */
#ifndef EK_BASE_TMPFILE_H
#define EK_BASE_TMPFILE_H

#include <sys/types.h>

/* Open an unnamed file in the folder of `path`, with access O_RDWR or O_WRONLY. Not every file
 * system supports it. */
int ek_tmpfile_open(char *path, int access, mode_t mode);
/* Open an unnamed file for reading and writing, with mode 0600. Falls back to a named file that is
 * unlinked at once. */
int ek_tmpfile_spool(char *path);

#endif
