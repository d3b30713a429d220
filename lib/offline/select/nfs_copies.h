/* Features that put all items of a data set in the same order: copies, in whatever unit.
 *
 * Two features are copies when every item has both or neither, and the items that have them stand
 * in the same order by both, or in the opposite one, ties included: x, 100 x, ln x and -x. A
 * network shares what it learns among copies, and each seems to matter less than it does; so only
 * the first of them is looked at. Copies but for noise are not found here. NaN and infinities are
 * missing. A feature with fewer than two different values is no copy. Compared by hashes of 64
 * bits. Threads: no state.
 */
#ifndef EK_CHOOSE_NFS_COPIES_H
#define EK_CHOOSE_NFS_COPIES_H

#include "lists/dataset.h"

/* copy_of [F]: the first feature that f is a copy of, -1 for none. EK_ENOMEM. */
int ek_nfs_copies(const struct ek_dataset *d, int *copy_of, struct ek_error *e);

#endif
