/* Synthetic hotel searches with bookings: queries at 400 destinations, 10 to 30 hotels each, label
 * 2 booked, 1 clicked, 0 seen. 13 item features, 8 query features (ek_hotel_manifest).
 *
 * Everything follows from the seed; list i is the same whatever was generated before it, so parts
 * can be made apart. `seed` is that of the traffic: the destinations (price level, price spread,
 * size, market) come from a fixed seed of the schema, so that a training stream and a test stream
 * with other seeds visit the same places. Markets are groups of destinations of like price level,
 * so a market's normal level differs from that of all traffic.
 * Values: all features are finite; item numbers 0 .. 9 (the routable ones) are above zero, the
 * other item features are 0 or 1.
 * Units: as the manifest says; times in milliseconds, ek_hotel_time_ms(i) is 864 ms per query from
 * a fixed start (100,000 queries a day).
 * Owner: the caller, ek_hotel_free. One generator per thread.
 */
#ifndef EK_OFFLINE_WORLD_HOTEL_H
#define EK_OFFLINE_WORLD_HOTEL_H

#include "lists/list.h"
#include "schema/manifest.h"

struct ek_hotel;

enum {
    EK_HOTEL_DESTINATIONS = 400,
    EK_HOTEL_MARKETS = 24,
    EK_HOTEL_ITEMS_MIN = 10,
    EK_HOTEL_ITEMS_MAX = 30,
    EK_HOTEL_ITEM_FEATURES = 13,
    EK_HOTEL_QUERY_FEATURES = 8
};

/* EK_ENOMEM. */
int ek_hotel_new(struct ek_hotel **out, uint64_t seed, struct ek_error *e);
void ek_hotel_free(struct ek_hotel *h);
/* YAML text of the manifest of these lists. */
const char *ek_hotel_manifest(void);
/* When list i was asked for. */
int64_t ek_hotel_time_ms(uint64_t i);
/* List number i into `q`: id `q-I`, item ids `h-N`, segments arm (A, B; fair coin), market
 * (m00..m23, from the destination), label set, score NaN. Texts live until the next call.
 * EK_ENOMEM; `q` is then undefined but can be released. */
int ek_hotel_list(struct ek_hotel *h, uint64_t i, struct ek_list *q, struct ek_error *e);

#endif
