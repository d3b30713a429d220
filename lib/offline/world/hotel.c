#include "offline/world/hotel.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STREAM_DESTINATIONS = 0,
    STREAM_MARKETS = 1,
    QUERY_MS = 864,
    HOTELS_PER_DESTINATION = 1000,
    ID_BYTES = 24,
    HIGH_SEASON = 2
};

static const uint64_t SCHEMA_SEED = 0x686f74656c;
static const int64_t START_MS = 1790000000000;
static const double NOISE = 0.8;

struct destination {
    double level, spread, radius; /* usual price, sd of ln price, km */
    int market;
};

struct ek_hotel {
    uint64_t seed;
    struct destination place[EK_HOTEL_DESTINATIONS];
    char query_id[ID_BYTES], item_id[EK_HOTEL_ITEMS_MAX][ID_BYTES], market[4], arm[2];
};

struct search {
    const struct destination *place;
    int destination, items, stay, adults, children, season, mobile, weekday;
    double lead, usual, business;
};

struct offer {
    double price, taxes, stars, review, reviews, distance, airport, room, popularity, host;
    int cancellation, breakfast, chain;
};

struct priced_place {
    double key;
    int place;
};

static int by_key(const void *a, const void *b)
{
    double x = ((const struct priced_place *)a)->key, y = ((const struct priced_place *)b)->key;
    return (x > y) - (x < y);
}

/* Group destinations of roughly similar price into markets, so that each market has a typical
 * level. */
static void group_markets(struct destination *place)
{
    struct priced_place order[EK_HOTEL_DESTINATIONS];
    struct ek_rng r;
    ek_rng_seed_stream(&r, SCHEMA_SEED, STREAM_MARKETS);
    for (int i = 0; i < EK_HOTEL_DESTINATIONS; i++) {
        order[i].key = log(place[i].level) + 0.3 * ek_rng_normal(&r);
        order[i].place = i;
    }
    qsort(order, EK_HOTEL_DESTINATIONS, sizeof *order, by_key);
    for (int i = 0; i < EK_HOTEL_DESTINATIONS; i++)
        place[order[i].place].market = i * EK_HOTEL_MARKETS / EK_HOTEL_DESTINATIONS;
}

static void make_destinations(struct destination *place)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, SCHEMA_SEED, STREAM_DESTINATIONS);
    for (int i = 0; i < EK_HOTEL_DESTINATIONS; i++) {
        place[i].level = exp(4.7 + 0.45 * ek_rng_normal(&r));
        place[i].spread = 0.25 + 0.35 * ek_rng_uniform(&r);
        place[i].radius = exp(1 + 0.6 * ek_rng_normal(&r));
    }
    group_markets(place);
}

int ek_hotel_new(struct ek_hotel **out, uint64_t seed, struct ek_error *e)
{
    struct ek_hotel *h = ek_calloc(1, sizeof *h);
    if (!h)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    h->seed = seed;
    make_destinations(h->place);
    *out = h;
    return EK_OK;
}

void ek_hotel_free(struct ek_hotel *h)
{
    ek_free(h);
}

int64_t ek_hotel_time_ms(uint64_t i)
{
    return START_MS + (int64_t)i * QUERY_MS;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static int chance(struct ek_rng *r, double p)
{
    return ek_rng_uniform(r) < p;
}

static int draw_stay(struct ek_rng *r)
{
    double more = floor(ek_rng_exponential(r) / -log(1 - 0.35));
    return 1 + (int)fmin(13, more);
}

static void draw_search(const struct ek_hotel *h, struct ek_rng *r, struct search *s)
{
    static const double season_factor[] = {1.0, 1.15, 1.4, 1.05};
    s->destination = (int)ek_rng_uniform_int(r, EK_HOTEL_DESTINATIONS);
    s->place = &h->place[s->destination];
    s->items = EK_HOTEL_ITEMS_MIN +
               (int)ek_rng_uniform_int(r, EK_HOTEL_ITEMS_MAX - EK_HOTEL_ITEMS_MIN + 1);
    s->stay = draw_stay(r);
    s->adults = 1;
    for (int i = 0; i < 3; i++)
        s->adults += chance(r, 0.35);
    s->children = chance(r, 0.2);
    s->season = (int)ek_rng_uniform_int(r, 4);
    s->lead = 30 * ek_rng_exponential(r);
    s->mobile = chance(r, 0.5);
    s->weekday = chance(r, 0.4);
    s->usual = s->place->level * season_factor[s->season];
    s->business = sigmoid(-1 + 2.2 * s->weekday - 1.2 * s->children - 0.3 * (s->adults - 1) -
                          0.25 * (s->stay - 1) + 0.8 * s->mobile);
}

static double draw_beta(struct ek_rng *r, double a, double b)
{
    double x = ek_rng_gamma(r, a), y = ek_rng_gamma(r, b);
    return x / (x + y);
}

static void draw_offer(struct ek_rng *r, const struct search *s, struct offer *o)
{
    const struct destination *place = s->place;
    double quality = ek_rng_normal(r);
    o->stars = fmin(5, fmax(1, round(3 + 0.9 * quality + 0.4 * ek_rng_normal(r))));
    o->distance = place->radius * exp(0.9 * ek_rng_normal(r));
    o->airport = 8 * place->radius * exp(0.5 * ek_rng_normal(r));
    o->price = s->usual * exp(place->spread * (0.8 * quality + 0.6 * ek_rng_normal(r)) -
                              0.12 * log(o->distance / place->radius));
    o->taxes = o->price * (0.05 + 0.2 * ek_rng_uniform(r));
    o->review = 10 * sigmoid(1.3 + 0.5 * quality + 0.7 * ek_rng_normal(r));
    o->reviews = floor(exp(4 + 0.4 * quality + 1.3 * ek_rng_normal(r))) + 1;
    o->room = (16 + 4 * o->stars) * exp(0.25 * ek_rng_normal(r));
    o->cancellation = chance(r, 0.5);
    o->breakfast = chance(r, 0.35);
    o->chain = chance(r, 0.4);
    o->popularity =
        0.002 * exp(0.5 * quality + 0.4 * (o->review - 7) / 1.5 + 0.6 * ek_rng_normal(r));
    o->host = 100 * draw_beta(r, 8, 2);
}

static double price_utility(const struct search *s, const struct offer *o)
{
    double total = o->price + o->taxes, relative = log(total / (1.15 * s->usual));
    double budget =
        (110 + 90 * s->business) * (1 + 0.25 * (s->adults - 1)) * (1 + 0.3 * log(s->usual / 110));
    double above = fmax(0, log(total / budget));
    return -(2.2 - 1.4 * s->business + 0.08 * (s->stay - 1)) * relative -
           1.6 * above * above * (1 - 0.5 * s->business) -
           0.35 * fmax(0, o->stars - 3.5) * fmax(0, relative) * (1 - s->business);
}

static double quality_utility(const struct search *s, const struct offer *o)
{
    return 0.45 * (o->stars - 3) * (1 + 0.4 * s->business) +
           1.5 * sigmoid(2.2 * (o->review - 7.4)) * fmin(1, 0.35 + log1p(o->reviews) / 7) +
           0.12 * log(o->reviews) + 0.35 * log(o->popularity / 0.002) + 0.012 * (o->host - 80);
}

static double comfort_utility(const struct search *s, const struct offer *o)
{
    return -(0.35 + 0.75 * s->business) * log1p(o->distance / 1.2) -
           0.25 * s->business * log1p(o->airport / 10) +
           0.5 * (1 + s->children) * tanh((o->room - 26 - 5 * (s->adults - 1)) / 10) +
           o->cancellation * (0.15 + 0.45 * (s->lead > 21)) +
           0.4 * o->breakfast * (1 - 0.3 * s->weekday) + 0.2 * o->chain * s->business;
}

/* Label the item with the best noisy utility as booked and the next 0 to 2 as clicked. */
static void draw_labels(struct ek_rng *r, const double *utility, struct ek_list *q)
{
    double noisy[EK_HOTEL_ITEMS_MAX];
    for (int i = 0; i < q->items; i++) {
        noisy[i] = utility[i] + NOISE * ek_rng_gumbel(r);
        q->label[i] = 0;
    }
    int marked = 1 + (int)ek_rng_uniform_int(r, 3);
    for (int m = 0; m < marked; m++) {
        int best = -1;
        for (int i = 0; i < q->items; i++)
            if (q->label[i] == 0 && (best < 0 || noisy[i] > noisy[best]))
                best = i;
        q->label[best] = m == 0 ? 2 : 1;
    }
    q->has_label = true;
}

static void store_offer(const struct offer *o, float *x)
{
    const double values[EK_HOTEL_ITEM_FEATURES] = {
        o->price, o->taxes,      o->stars, o->review,       o->reviews,   o->distance, o->airport,
        o->room,  o->popularity, o->host,  o->cancellation, o->breakfast, o->chain};
    for (int f = 0; f < EK_HOTEL_ITEM_FEATURES; f++)
        x[f] = (float)values[f];
}

static void store_search(const struct search *s, float *query)
{
    const double values[EK_HOTEL_QUERY_FEATURES] = {
        s->stay, s->adults, s->children, s->usual, s->season == HIGH_SEASON,
        s->lead, s->mobile, s->weekday};
    for (int f = 0; f < EK_HOTEL_QUERY_FEATURES; f++)
        query[f] = (float)values[f];
}

static void name_list(struct ek_hotel *h, struct ek_rng *r, uint64_t i, const struct search *s,
                      struct ek_list *q)
{
    int first = s->destination * HOTELS_PER_DESTINATION +
                (int)ek_rng_uniform_int(r, HOTELS_PER_DESTINATION - EK_HOTEL_ITEMS_MAX);
    for (int k = 0; k < q->items; k++) {
        snprintf(h->item_id[k], ID_BYTES, "h-%d", first + k);
        q->item_id[k] = ek_text_from(h->item_id[k]);
    }
    snprintf(h->query_id, sizeof h->query_id, "q-%llu", (unsigned long long)i);
    snprintf(h->arm, sizeof h->arm, "%c", chance(r, 0.5) ? 'B' : 'A');
    snprintf(h->market, sizeof h->market, "m%02u", (unsigned)s->place->market % 100);
    q->id = ek_text_from(h->query_id);
    q->time_ms = ek_hotel_time_ms(i);
    q->segments[0] = (struct ek_segment){ek_text_from("arm"), ek_text_from(h->arm)};
    q->segments[1] = (struct ek_segment){ek_text_from("market"), ek_text_from(h->market)};
    q->segment_count = 2;
}

int ek_hotel_list(struct ek_hotel *h, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    struct ek_rng r;
    struct search s;
    struct offer o;
    double utility[EK_HOTEL_ITEMS_MAX];
    ek_rng_seed_stream(&r, h->seed, i);
    draw_search(h, &r, &s);
    int rc = ek_list_resize(q, s.items, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    if (rc)
        return ek_fail(e, (enum ek_code)rc, "out of memory");
    for (int k = 0; k < s.items; k++) {
        draw_offer(&r, &s, &o);
        utility[k] = price_utility(&s, &o) + quality_utility(&s, &o) + comfort_utility(&s, &o);
        store_offer(&o, q->x + (size_t)k * EK_HOTEL_ITEM_FEATURES);
        q->score[k] = NAN;
        q->place[k] = (struct ek_place){0, 0};
    }
    store_search(&s, q->query);
    draw_labels(&r, utility, q);
    name_list(h, &r, i, &s, q);
    return EK_OK;
}

const char *ek_hotel_manifest(void)
{
    return "version: 1\n"
           "set: hotel\n"
           "labels: {0: seen, 1: clicked, 2: booked}\n"
           "main_feature: price\n"
           "nights_feature: stay_nights\n"
           "currency_features: [price, taxes]\n"
           "features:\n"
           "  - {name: price, index: 1, role: item, routable: true, unit: currency,"
           " positive: true, note: one night}\n"
           "  - {name: taxes, index: 2, role: item, routable: true, unit: currency,"
           " positive: true, note: on top of the price of one night}\n"
           "  - {name: stars, index: 3, role: item, routable: true, unit: stars,"
           " positive: true, note: whole numbers from 1 to 5}\n"
           "  - {name: review_score, index: 4, role: item, routable: true, unit: points,"
           " positive: true, note: out of 10}\n"
           "  - {name: review_count, index: 5, role: item, routable: true, unit: count,"
           " positive: true}\n"
           "  - {name: distance_center, index: 6, role: item, routable: true, unit: km,"
           " positive: true}\n"
           "  - {name: distance_airport, index: 7, role: item, routable: true, unit: km,"
           " positive: true}\n"
           "  - {name: room_size, index: 8, role: item, routable: true, unit: m2,"
           " positive: true}\n"
           "  - {name: popularity, index: 9, role: item, routable: true, unit: rate,"
           " positive: true, note: bookings per view}\n"
           "  - {name: host_rate, index: 10, role: item, routable: true, unit: percent,"
           " positive: true, note: messages answered}\n"
           "  - {name: free_cancellation, index: 11, role: item, unit: flag}\n"
           "  - {name: breakfast, index: 12, role: item, unit: flag}\n"
           "  - {name: chain, index: 13, role: item, unit: flag}\n"
           "  - {name: stay_nights, index: 14, role: query, unit: nights, positive: true,"
           " note: from 1 to 14}\n"
           "  - {name: adults, index: 15, role: query, unit: count, positive: true,"
           " note: from 1 to 4}\n"
           "  - {name: children, index: 16, role: query, unit: flag}\n"
           "  - {name: destination_price, index: 17, role: query, unit: currency,"
           " positive: true, note: what a night there costs in that season}\n"
           "  - {name: high_season, index: 18, role: query, unit: flag}\n"
           "  - {name: lead_days, index: 19, role: query, unit: days, positive: true,"
           " note: from search to arrival}\n"
           "  - {name: mobile, index: 20, role: query, unit: flag}\n"
           "  - {name: weekday, index: 21, role: query, unit: flag}\n";
}
