#include "daemon/views/feature_board.h"

#include "base/alloc.h"
#include "daemon/views/feature_board_internal.h"

#include <string.h>

struct ek_board *ek_board_new(const struct ek_manifest *m, const struct ek_rules *rules,
                              struct ek_traffic *traffic)
{
    struct ek_board *b = ek_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    pthread_mutex_init(&b->lock, NULL);
    b->manifest = m;
    b->rules = rules;
    b->traffic = traffic;
    b->training = ek_traffic_training(traffic);
    b->features = ek_traffic_features(traffic);
    if (!ek_board_room(b, rules->windows.cells))
        return b;
    ek_board_free(b);
    return NULL;
}

static void forget(struct ek_board_cell *c)
{
    ek_free(c->dimension);
    ek_free(c->value);
    ek_free(c->views);
    ek_free(c->histograms);
    *c = (struct ek_board_cell){NULL, NULL, false, NULL, NULL};
}

void ek_board_free(struct ek_board *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->cells; i++)
        forget(&b->cell[i]);
    ek_free(b->cell);
    pthread_mutex_destroy(&b->lock);
    ek_free(b);
}

int ek_board_room(struct ek_board *b, int cells)
{
    if (cells <= b->room)
        return EK_OK;
    pthread_mutex_lock(&b->lock);
    struct ek_board_cell *room = ek_realloc(b->cell, (size_t)cells, sizeof *room);
    if (room) {
        memset(room + b->room, 0, (size_t)(cells - b->room) * sizeof *room);
        b->cell = room;
        b->room = cells;
    }
    pthread_mutex_unlock(&b->lock);
    return room ? EK_OK : EK_ENOMEM;
}

void ek_board_turn(struct ek_board *b, const struct ek_manifest *m, const struct ek_rules *rules,
                   struct ek_traffic *traffic)
{
    pthread_mutex_lock(&b->lock);
    for (int i = 0; i < b->cells; i++)
        forget(&b->cell[i]);
    b->cells = b->next_cell = b->next_feature = 0;
    b->manifest = m;
    b->rules = rules;
    b->traffic = traffic;
    b->training = ek_traffic_training(traffic);
    pthread_mutex_unlock(&b->lock);
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Whether a cell's figures are of the value that has the cell now. Only the thread that steps
 * writes them, so it may look without the lock. */
static bool is_current(const struct ek_board *b, int cell)
{
    const char *dimension, *value;
    const struct ek_board_cell *c = &b->cell[cell];
    ek_traffic_cell(b->traffic, cell, &dimension, &value);
    return c->views && same(c->dimension, dimension) && same(c->value, value);
}

static int make_cell(struct ek_board *b, int cell)
{
    const char *dimension, *value;
    struct ek_board_cell *c = &b->cell[cell];
    ek_traffic_cell(b->traffic, cell, &dimension, &value);
    forget(c);
    c->dimension = dimension ? ek_strdup(dimension) : NULL;
    c->value = value ? ek_strdup(value) : NULL;
    c->views = ek_calloc((size_t)b->features, sizeof *c->views);
    c->histograms = ek_calloc((size_t)b->features, sizeof *c->histograms);
    if (cell >= b->cells)
        b->cells = cell + 1;
    if (c->views && c->histograms && !c->dimension == !dimension && !c->value == !value)
        return EK_OK;
    forget(c);
    return EK_ENOMEM;
}

/* Of a few features. */
struct figures {
    struct ek_feature_view views[EK_BOARD_FEATURES][EK_SPANS];
    struct ek_histogram histograms[EK_BOARD_FEATURES];
};

static int show(struct ek_board *b, int cell, int first, int count, const struct figures *f)
{
    struct ek_board_cell *c = &b->cell[cell];
    int rc = is_current(b, cell) ? EK_OK : make_cell(b, cell);
    if (rc)
        return rc;
    memcpy(c->views + first, f->views, (size_t)count * sizeof *f->views);
    memcpy(c->histograms + first, f->histograms, (size_t)count * sizeof *f->histograms);
    c->complete = c->complete || first + count == b->features;
    return EK_OK;
}

static void next(struct ek_board *b, int features)
{
    b->next_feature += features;
    if (b->next_feature < b->features)
        return;
    b->next_feature = 0;
    b->next_cell = b->next_cell + 1 < ek_traffic_cells(b->traffic) ? b->next_cell + 1 : 0;
}

int ek_board_step(struct ek_board *b)
{
    struct figures f;
    int cell = b->next_cell;
    if (!ek_traffic_cells(b->traffic))
        return EK_OK;
    if (!is_current(b, cell))
        b->next_feature = 0;
    int first = b->next_feature, left = b->features - first;
    int count = left < EK_BOARD_FEATURES ? left : EK_BOARD_FEATURES;
    for (int i = 0; i < count; i++)
        if (!ek_traffic_view(b->traffic, cell, first + i, f.views[i]) ||
            !ek_traffic_histogram(b->traffic, cell, first + i, &f.histograms[i])) {
            next(b, left);
            return EK_OK;
        }
    if (pthread_mutex_trylock(&b->lock))
        return EK_OK; /* a reader has it: the same features come with the next step */
    int rc = show(b, cell, first, count, &f);
    pthread_mutex_unlock(&b->lock);
    next(b, count);
    return rc;
}

int ek_board_count(const struct ek_board *b)
{
    return b->features;
}

const struct ek_board_cell *ek_board_open(struct ek_board *b, int *count)
{
    pthread_mutex_lock(&b->lock);
    *count = b->cells;
    return b->cell;
}

void ek_board_close(struct ek_board *b)
{
    pthread_mutex_unlock(&b->lock);
}
