/* Training and scoring of the routable network for the Python module, behind an interface that C++
 * can include. */
#ifndef EK_PYTHON_RANKER_H
#define EK_PYTHON_RANKER_H

#include "evenkeel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lists with labels. */
struct ranker_data;

/* Start an empty set of lists of a manifest. Return 0, EK_EIO, EK_ECONFIG or EK_ENOMEM. */
int ranker_data_new(struct ranker_data **out, const char *manifest, struct ek_error *e);
/* Free the lists. NULL is allowed. */
void ranker_data_free(struct ranker_data *d);
/* Add a copy of a list; label [items]. Return 0, EK_EUSAGE, EK_ELIMIT or EK_ENOMEM. */
int ranker_data_add(struct ranker_data *d, const struct ek_array_list *list, const float *label,
                    struct ek_error *e);

/* Options of `evenkeel train`. NULL, a number of at most 0, or a rate below 0: that of the
 * manifest, else the default. */
struct ranker_options {
    const char *loss, *routing, *log_input;
    const int *routed; /* routable feature numbers of the routing "static" */
    int routed_count;
    const int *hidden;
    int hidden_count, epochs, batch, list_free;
    double rate, decay;
    uint64_t seed;
    int (*progress)(void *context); /* called periodically; nonzero stops training */
    void (*warn)(void *context, const char *text);
    void *context;
};

struct ranker_result {
    int epochs, best_epoch;
    double loss, ndcg10; /* of the validation lists, in the best epoch */
};

/* Train a network as `evenkeel train`, in this thread, and write it to `output`. `vali` has other
 * lists that select the epoch; NULL: a fifth of `train`, which is moved out of it. Return 0,
 * EK_EUSAGE for unusable options or data, EK_ESTATE if the loss is not finite, EK_EIO or
 * EK_ENOMEM. After a stop the output has the best epoch so far. */
int ranker_train(struct ranker_data *train, struct ranker_data *vali,
                 const struct ranker_options *o, const char *output, struct ranker_result *result,
                 struct ek_error *e);

/* A network that scores. */
struct ranker;

/* Read a network for the features of a manifest. Return 0, EK_EIO, EK_ECONFIG, EK_EFORMAT,
 * EK_ELIMIT, EK_EUSAGE for another kind of model, EK_ESTATE for other features, or EK_ENOMEM. */
int ranker_new(struct ranker **out, const char *manifest, const char *model, struct ek_error *e);
/* Free the network. NULL is allowed. */
void ranker_free(struct ranker *r);
/* Score the items of a list with the routable features `routed` routed, without duplicates;
 * routed_count -1: those that were always routed in training. Return
 * 0, EK_EUSAGE, EK_ELIMIT, EK_ESTATE for a score that is not finite, or EK_ENOMEM. */
int ranker_score(struct ranker *r, const struct ek_array_list *list, const int *routed,
                 int routed_count, double *scores, struct ek_error *e);

#ifdef __cplusplus
}
#endif

#endif
