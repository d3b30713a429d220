/* Where a trained re-ranker looks: saliency maps of many items, their mean and their groups.
 *
 * Lists of one item have no order and are left out. Of more than EK_NFS_MAPS_MAX items every so
 * many-th list is looked at. Owner: the caller, ek_nfs_look_release. Results do not depend on the
 * number of threads.
 */
#ifndef EK_CHOOSE_NFS_LOOK_H
#define EK_CHOOSE_NFS_LOOK_H

#include "offline/select/nfs_groups.h"
#include "offline/select/nfs_train.h"

enum { EK_NFS_MAPS_MAX = 200000 };

struct ek_nfs_look {
    struct ek_nfs_groups groups;
    double *saliency; /* [F] mean over the items */
    uint64_t items;
};

/* live [F]: the features that vary. EK_ENOMEM. */
int ek_nfs_look(struct ek_nfs_look *out, const struct ek_nfs_ranker *r, const struct ek_nfs_data *d,
                const bool *live, const struct ek_nfs_options *o, struct ek_error *e);
void ek_nfs_look_release(struct ek_nfs_look *l);

#endif
