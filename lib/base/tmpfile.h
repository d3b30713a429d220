/* Files without a name: whoever is killed leaves nothing behind.
 *
 * Owner: the caller closes the descriptor. Failure is -1, and errno says why. Threads: no state;
 * the path is written to while a call lasts, and is as it was afterwards.
 */
#ifndef EK_BASE_TMPFILE_H
#define EK_BASE_TMPFILE_H

#include <sys/types.h>

/* In the folder of the path; access: O_RDWR, O_WRONLY. Not every file system has that. */
int ek_tmpfile_open(char *path, int access, mode_t mode);
/* The same to write and read, for its owner alone; where the file system has none, a file beside
 * the path that loses its name at once. */
int ek_tmpfile_spool(char *path);

#endif
