/* Cross validation as in LETOR: of P parts, fold f trains on f .. f+P-3, validates on f+P-2 and
 * tests on f+P-1, modulo P. So each list is tested once (Qin and Liu 2013: MQ2008 has five files).
 *
 * Shapes: parts are consecutive lists of one data set, numbers from 0. Owner: the caller; a fold is
 * a copy of the data. Threads: no state.
 */
#ifndef EK_CHOOSE_FOLDS_H
#define EK_CHOOSE_FOLDS_H

#include "lists/dataset.h"

enum { EK_FOLDS_LEAST = 3, EK_FOLDS_USUAL = 5, EK_FOLDS_MOST = 20 };

struct ek_folds {
    int parts;
    size_t edge[EK_FOLDS_MOST + 1]; /* part i is the lists edge[i] .. edge[i+1]-1 */
};

struct ek_fold {
    struct ek_dataset train, vali, test;
    size_t first_tested; /* number in the whole of the first list of `test` */
};

/* Parts whose sizes differ by one at most, the larger ones first. EK_EUSAGE for a number of parts
 * that is out of range or above that of the lists. */
int ek_folds_cut(struct ek_folds *f, size_t lists, int parts, struct ek_error *e);
/* Parts as given, the files of a set: lists [parts] is how many each has. EK_EUSAGE as above, and
 * when one is empty. */
int ek_folds_given(struct ek_folds *f, const size_t *lists, int parts, struct ek_error *e);
/* Takes all of `d`, which has the lists that the parts were made for. EK_ENOMEM; there is nothing
 * to release then. */
int ek_fold_make(struct ek_fold *out, const struct ek_folds *f, const struct ek_dataset *d,
                 int number, struct ek_error *e);
void ek_fold_release(struct ek_fold *f);

#endif
