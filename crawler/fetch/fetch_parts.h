/*
 * fetch_parts.h - the inside of a fetch, for its two files only.
 *
 *   fetch.c        options, beginning, end, the meaning of curl's codes
 *   fetch_body.c   curl's callbacks: head, body, memory
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_PARTS_H
#define URLWEIR_CRAWLER_FETCH_FETCH_PARTS_H

#include "crawler/fetch/fetch.h"

/* libcurl takes no more cookies of a response than these 50, and then, until
 * the handle's next request, none that we give it either. */
#define FETCH_COOKIES_MOST 50

/* ---- fetch_body.c ---- */

/* Octets of a body that decoders may read before they show that it is not in
 * their coding. */
#define FETCH_RAW_MOST ((size_t)16 << 10)

/* Reserves the next step, for a fetch that found the pool empty. */
bool fetch_reserve_more(struct fetch *f);
void fetch_give_back(struct fetch *f);
/* It waits from now on; the set that it belongs to will see that. */
void fetch_wait(struct fetch *f, enum fetch_wait why);
/* Are its received octets within the rate limit? */
bool fetch_is_within_rate(const struct fetch *f, int64_t now);
/* Brings f->counted, the fetcher's counter and the rate limit up to date. */
void fetch_count_wire(struct fetch *f);

/* Callbacks: CURLOPT_HEADERFUNCTION, _WRITEFUNCTION, _PREREQFUNCTION,
 * _DEBUGFUNCTION; their data is the fetch. */
size_t fetch_on_head(char *at, size_t size, size_t count, void *ctx);
size_t fetch_on_body(char *at, size_t size, size_t count, void *ctx);
int fetch_on_send(void *ctx, char *ip, char *local_ip, int port,
                  int local_port);
int fetch_on_debug(CURL *easy, curl_infotype type, char *at, size_t size,
                   void *ctx);

/* ---- fetch.c ---- */

enum fetch_end fetch_end_of(struct fetch *f, CURLcode code);
enum fetch_cut fetch_cut_of(const struct fetch *f, CURLcode code);
bool fetch_is_transient(enum fetch_end end, CURLcode code);
/* The error text, or "". */
const char *fetch_words_for(const struct fetch *f, enum fetch_end end,
                            CURLcode code);

#endif
