/* Pictures of a selection, as SVG. */
#ifndef EK_DAEMON_SELECT_PICTURE_H
#define EK_DAEMON_SELECT_PICTURE_H

#include "daemon/tools/select/select_choose.h"

/* Relevance (upwards; with NFS the mean saliency) against how like a feature is to another chosen
 * one. Chosen ones are marked and named. */
int ek_selection_scatter(const struct ek_selection *s, const struct ek_select_args *a,
                         const struct ek_manifest *m, const char *path, struct ek_error *e);
/* Single linkage of the features that vary; with a choice by clusters, where it was cut. */
int ek_selection_dendrogram(const struct ek_selection *s, const struct ek_select_args *a,
                            const struct ek_manifest *m, const char *path, struct ek_error *e);

#endif
