#include "offline/train/loss.h"

#include "base/portable.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TEMPERATURE = 0.1;

bool ek_has_positive(const float *label, int n)
{
    for (int i = 0; i < n; i++)
        if (label[i] > 0)
            return true;
    return false;
}

bool ek_loss_counts_empty(enum ek_loss loss)
{
    return loss == EK_LISTMLE;
}

static double gain_of(float label)
{
    return exp2((double)label) - 1;
}

static double highest(const double *x, int n)
{
    double high = x[0];
    for (int i = 1; i < n; i++)
        high = x[i] > high ? x[i] : high;
    return high;
}

static double listnet(const struct ek_list_loss *l)
{
    double high = highest(l->score, l->n), sum = 0, gains = 0, loss = 0;
    for (int i = 0; i < l->n; i++) {
        l->gradient[i] = exp(l->score[i] - high);
        sum += l->gradient[i];
        gains += gain_of(l->label[i]);
    }
    double log_sum = log(sum) + high;
    for (int i = 0; i < l->n; i++) {
        double p = gain_of(l->label[i]) / gains;
        loss += p * (log_sum - l->score[i]);
        l->gradient[i] = l->gradient[i] / sum - p;
    }
    return loss;
}

static int by_key(const void *a, const void *b, void *context)
{
    const struct ek_list_loss *l = context;
    int i = *(const int *)a, j = *(const int *)b;
    double x = (double)l->label[i] + l->noise[i], y = (double)l->label[j] + l->noise[j];
    if (x != y)
        return x > y ? -1 : 1;
    return (i > j) - (i < j);
}

/* Return ln(exp a + exp b). */
static double log_add(double a, double b)
{
    double high = a > b ? a : b;
    return high + log1p(exp(-fabs(a - b)));
}

static double listmle(const struct ek_list_loss *l)
{
    int n = l->n, *order = l->order;
    double *tail = l->scratch, loss = 0;
    for (int i = 0; i < n; i++)
        order[i] = i;
    ek_sort_with(order, (size_t)n, sizeof *order, by_key, (void *)l);
    tail[n - 1] = l->score[order[n - 1]];
    for (int r = n - 2; r >= 0; r--)
        tail[r] = log_add(tail[r + 1], l->score[order[r]]);
    memset(l->gradient, 0, (size_t)n * sizeof *l->gradient);
    for (int r = 0; r < n && l->label[order[r]] > 0; r++) {
        loss += tail[r] - l->score[order[r]];
        l->gradient[order[r]] -= 1;
        for (int t = r; t < n; t++)
            l->gradient[order[t]] += exp(l->score[order[t]] - tail[r]);
    }
    return loss;
}

static double ideal_dcg(const struct ek_list_loss *l)
{
    double ideal = 0;
    for (int i = 0; i < l->n; i++)
        l->scratch[i] = gain_of(l->label[i]);
    ek_sort_doubles_descending(l->scratch, (size_t)l->n);
    for (int r = 0; r < l->n && (!l->cutoff || r < l->cutoff); r++)
        ideal += l->scratch[r] / log2(r + 2);
    return ideal;
}

/* Return sigmoid((s_j - s_i) / T). */
static double ahead(const struct ek_list_loss *l, int j, int i)
{
    return 1 / (1 + exp((l->score[i] - l->score[j]) / TEMPERATURE));
}

static double approx_ndcg(const struct ek_list_loss *l)
{
    double ideal = ideal_dcg(l), value = 0;
    memset(l->gradient, 0, (size_t)l->n * sizeof *l->gradient);
    for (int i = 0; i < l->n; i++) {
        double gain = gain_of(l->label[i]) / ideal, rank = 1;
        if (gain <= 0)
            continue;
        for (int j = 0; j < l->n; j++)
            rank += j == i ? 0 : (l->scratch[j] = ahead(l, j, i));
        double log_rank = log2(1 + rank);
        double within = l->cutoff ? 1 / (1 + exp(rank - l->cutoff - 0.5)) : 1;
        double slope = gain * within / log_rank / TEMPERATURE *
                       (1 / (log_rank * (1 + rank) * M_LN2) + (1 - within));
        value += gain * within / log_rank;
        for (int j = 0; j < l->n; j++) {
            double step = j == i ? 0 : slope * l->scratch[j] * (1 - l->scratch[j]);
            l->gradient[j] += step;
            l->gradient[i] -= step;
        }
    }
    return 1 - value;
}

const char *ek_loss_name(enum ek_loss loss)
{
    static const char *const names[] = {"listnet", "listmle", "approxndcg"};
    return names[loss];
}

double ek_loss_compute(enum ek_loss loss, const struct ek_list_loss *l)
{
    if (!ek_has_positive(l->label, l->n)) {
        memset(l->gradient, 0, (size_t)l->n * sizeof *l->gradient);
        return 0;
    }
    switch (loss) {
    case EK_LISTMLE:
        return listmle(l);
    case EK_APPROX_NDCG:
        return approx_ndcg(l);
    default:
        return listnet(l);
    }
}

double ek_loss_stochastic(const struct ek_list_loss *l, int samples, struct ek_rng *r,
                          double *shifted, double *sum)
{
    struct ek_list_loss sample = *l;
    double loss = 0;
    sample.score = shifted;
    memset(sum, 0, (size_t)l->n * sizeof *sum);
    for (int s = 0; s < samples; s++) {
        for (int i = 0; i < l->n; i++)
            shifted[i] = l->score[i] + ek_rng_gumbel(r);
        loss += ek_loss_compute(EK_APPROX_NDCG, &sample) / samples;
        for (int i = 0; i < l->n; i++)
            sum[i] += l->gradient[i] / samples;
    }
    memcpy(l->gradient, sum, (size_t)l->n * sizeof *sum);
    return loss;
}
