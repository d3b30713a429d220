/* Pictures of a feature selection, and the SVG writer that they use. */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_PICTURE_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_PICTURE_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/tools/select/select_choose.h"

/* Pictures as SVG text: lines, boxes, points and labels in the colors of the page, light and dark.
 *
 * Units: pixels from the upper left. Strings are escaped. Classes are in the style of
 * select_picture.c: "axis", "grid", "bar", "mark", "main" (the subject), "faint", "warn"; for
 * labels also "title", "label", "small". Shapes with non-finite numbers are omitted. The first
 * error is kept until ek_svg_end, which releases.
 */
struct ek_svg {
    struct ek_buf text;
    int failed; /* first error, or EK_OK */
};

enum ek_anchor { EK_ANCHOR_START, EK_ANCHOR_MIDDLE, EK_ANCHOR_END };

/* Begin a picture of this size. title: for screen readers. End it with ek_svg_end. */
void ek_svg_begin(struct ek_svg *s, double width, double height, const char *title);
/* Draw a rectangle with a CSS class; omitted if a number is not finite. */
void ek_svg_box(struct ek_svg *s, const char *class, double x, double y, double width,
                double height);
/* Draw a line with a CSS class; omitted if a number is not finite. */
void ek_svg_line(struct ek_svg *s, const char *class, double x1, double y1, double x2, double y2);
/* Draw a text with a CSS class, escaped; omitted if a number is not finite. */
void ek_svg_text(struct ek_svg *s, const char *class, double x, double y, enum ek_anchor anchor,
                 const char *text);
/* Write the file and free the picture, always. Return 0, EK_ENOMEM or EK_EIO; on error no file is
 * replaced. */
int ek_svg_end(struct ek_svg *s, const char *path, struct ek_error *e);

/* Pictures of a selection, as SVG. */
/* Draw relevance (NFS: mean saliency) upwards against the largest similarity to another selected
 * feature. Selected features are marked and labeled. Return 0, EK_EIO or EK_ENOMEM; on error no
 * file is replaced. */
int ek_selection_scatter(const struct ek_selection *s, const struct ek_select_args *a,
                         const struct ek_manifest *m, const char *path, struct ek_error *e);
/* Draw the single-linkage tree of the features that vary; for a selection by clusters, with its
 * cut. Return 0, EK_EIO or EK_ENOMEM; on error no file is replaced. */
int ek_selection_dendrogram(const struct ek_selection *s, const struct ek_select_args *a,
                            const struct ek_manifest *m, const char *path, struct ek_error *e);

#endif
