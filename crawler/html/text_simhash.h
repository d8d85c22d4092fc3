/*
 * text_simhash.h - a fingerprint of a text in which near texts are near.
 *
 * SimHash (M. Charikar, Similarity estimation techniques from rounding
 * algorithms, STOC 2002) over the shingles of three words each, as used for web
 * pages by G. Manku, A. Jain and A. Das Sarma, Detecting near-duplicates for
 * web crawling, WWW 2007: two texts that share most shingles have fingerprints
 * that differ in few of their 64 bits, and they call pages near duplicates up
 * to 3.
 *
 * A word is a run of letters and digits of ASCII and of octets above; each
 * piece of text begins a new one. Words are compared octet by octet, all
 * shingles count alike, as often as they stand there. Owner: one thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_TEXT_SIMHASH_H
#define URLWEIR_CRAWLER_HTML_TEXT_SIMHASH_H

#include <stdint.h>

#include "base/bytes.h"

#define TEXT_SIMHASH_WORDS 3 /* of a shingle */
#define TEXT_SIMHASH_LEAST                                                     \
    16                          /* shingles; a shorter text has no fingerprint \
                                 */
#define TEXT_SIMHASH_WAITING 32 /* hashes counted at a time */

struct text_words {
    uint64_t hash[TEXT_SIMHASH_WORDS - 1]; /* of the latest words */
    uint64_t count;                        /* of all */
};

struct text_simhash {
    struct text_words words;
    /* Per bit, how many shingles have it is the sum of: the hashes that wait;
     * both words of sum[0] to sum[3], which stand for 1, 2, 4 and 8; sixteens,
     * for 16; 32 times the octets of packed[i], for bits 8 i to 8 i + 7;
     * count[], which takes them before they overflow. */
    uint64_t waiting[TEXT_SIMHASH_WAITING];
    unsigned waiting_count;
    uint64_t sum[4][2];
    uint64_t sixteens;
    uint64_t packed[8];
    unsigned unpacked; /* additions to `packed` */
    uint32_t count[64];
};

void text_simhash_begin(struct text_simhash *s);
/* The next piece of the text, decoded (UTF-8). */
void text_simhash_add(struct text_simhash *s, struct bytes piece);
/* 0: the text is too short. */
uint64_t text_simhash_end(struct text_simhash *s);

#endif
