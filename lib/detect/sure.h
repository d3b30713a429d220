/* What of a share of lists is there whatever the lists that moved look like.
 *
 * The likeliest share (align.h) takes it that lists that moved are spread as those of training are,
 * only further on, so it adds those that would be hidden among the others. Forged ones hide
 * nothing: all stand where a list says most, and some of the others are taken for the rest of them.
 * By the chance p that a list has moved no list counts more than 1, so whatever moved, in at least
 *   (mean of p - its mean in training) / (1 - its mean in training)
 * of the lists it did. With the likeliest share that is the share times what stands here. Shares in
 * 0..1, shifts in ln. Pure.
 */
#ifndef EK_DECIDE_SURE_H
#define EK_DECIDE_SURE_H

/* Chance that a list has moved whose residual is r. density [EK_DENSITY_BINS]. */
double ek_moved_chance(const float *density, double share, double shift_ln, double r);

/* The part of a share that is sure, 0..1; sd: of the residuals in training. */
double ek_sure_part(const float *density, double sd, double share, double shift_ln);

#endif
