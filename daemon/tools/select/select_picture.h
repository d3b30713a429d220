/* Pictures as SVG text: lines, boxes, points and words, in the colours of the page, light and dark.
 *
 * Units: pixels from the upper left. Texts are escaped. Classes are those of the style in
 * select_picture.c: "axis", "grid", "bar", "mark", "main" (what it is about), "faint", "warn";
 * words also "title", "label", "small". Numbers that are not finite leave the shape out. The first
 * failure stays and is told at the end. Owner: the caller; ek_svg_end releases.
 */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_PICTURE_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_PICTURE_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/tools/select/select_choose.h"

struct ek_svg {
    struct ek_buf text;
    int failed; /* the first code that is not EK_OK */
};

enum ek_anchor { EK_ANCHOR_START, EK_ANCHOR_MIDDLE, EK_ANCHOR_END };

/* `title` is what screen readers say. */
void ek_svg_begin(struct ek_svg *s, double width, double height, const char *title);
void ek_svg_box(struct ek_svg *s, const char *class, double x, double y, double width,
                double height);
void ek_svg_line(struct ek_svg *s, const char *class, double x1, double y1, double x2, double y2);
/* hint: shown where the pointer rests; may be NULL. */
void ek_svg_text(struct ek_svg *s, const char *class, double x, double y, enum ek_anchor anchor,
                 const char *text);
/* Writes the file and releases. EK_ENOMEM, or what writing gives. */
int ek_svg_end(struct ek_svg *s, const char *path, struct ek_error *e);

/* Pictures of a selection, as SVG. */
/* Relevance (upwards; with NFS the mean saliency) against how like a feature is to another chosen
 * one. Chosen ones are marked and named. */
int ek_selection_scatter(const struct ek_selection *s, const struct ek_select_args *a,
                         const struct ek_manifest *m, const char *path, struct ek_error *e);
/* Single linkage of the features that vary; with a choice by clusters, where it was cut. */
int ek_selection_dendrogram(const struct ek_selection *s, const struct ek_select_args *a,
                            const struct ek_manifest *m, const char *path, struct ek_error *e);

#endif
