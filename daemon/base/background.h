/* Threads that must not cost ranking anything: those that answer and tell people.
 *
 * Where processors are short each takes as much as another, so somebody who asks without end would
 * have half of what ranking needs. A thread that gives way gets a thirtieth of a processor while
 * others of this process want all of it, and as much as it likes while they do not.
 */
#ifndef EK_DAEMON_BACKGROUND_H
#define EK_DAEMON_BACKGROUND_H

/* The calling thread gives way from here on, and so do those that it starts. Where the system does
 * not let it, all stays as it was. */
void ek_background(void);

#endif
