/*
 * refresh_rate.h - how often a page changes, and when it is worth a request.
 *
 * Pages are taken to change by a Poisson process, at a rate of their own. Each
 * fetch but the first tells only whether there was a change since the one
 * before; changes in between that took each other's place are not seen, so the
 * naive rate, changes over time, is too low (Cho and Garcia-Molina 2003,
 * "Estimating frequency of change"). Fetches are irregular here. So each is a
 * step of Fisher scoring on the likelihood of that one observation, with the
 * information of the earlier ones as the weight of what is known. Old
 * information fades, so that a page may change its habits. Two numbers a URL.
 */
#ifndef URLWEIR_FRONTIER_REFRESH_REFRESH_RATE_H
#define URLWEIR_FRONTIER_REFRESH_REFRESH_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* What becomes `known` of a URL by a fetch that found the page `changed` or
 * not, `gap_ms` > 0 after the one before: its rate and the weight of that, in
 * 63 bits as table `refresh` keeps them. 0: nothing is known. `first`: the
 * rate, in changes a millisecond, above 0, that is assumed of such a URL. Any
 * `known` of 63 bits is taken. */
uint64_t refresh_rate_note(uint64_t known, double first, int64_t gap_ms,
                           bool changed);

/* What is known of a URL that somebody says to have this rate: less than what
 * one good fetch tells. */
uint64_t refresh_rate_guess(double rate);
/* Did fetches tell? False of a guess, and of nothing. */
bool refresh_rate_is_told(uint64_t known);

/* In changes a millisecond. */
double refresh_rate(uint64_t known, double first);

/* The part of the time that a copy of a page with this rate is up to date if it
 * is taken anew every `ms`: 0 to 1. */
double refresh_freshness(double rate, double ms);

/* The time between two fetches, in ms, from which on the next one brings less
 * than `price_ms` of up-to-date time; INFINITY: each does. 0 for a price of 0.
 * If it is the same price for all pages, no schedule with as many requests
 * keeps more of them up to date (Cho and Garcia-Molina 2003, "Effective page
 * refresh policies for web crawlers", section 4). */
double refresh_worth(double rate, double price_ms);

#endif
