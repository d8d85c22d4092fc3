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
 * piece of text begins a new one. Ideographs and kana have no spaces between
 * them, so a word also begins with such a character if the octet before it is
 * odd: every second one, wherever it stands. A run of more than 64 octets is
 * cut into words of 64. Words are compared octet by octet, all shingles count
 * alike, as often as they stand there.
 *
 * Fingerprints are stored. One of another definition says nothing about these,
 * so a change of it needs a new column (storage/db/schema.c). Owner: one
 * thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_TEXT_SIMHASH_H
#define URLWEIR_CRAWLER_HTML_TEXT_SIMHASH_H

#include <stdint.h>

#include "base/bytes.h"

#define TEXT_SIMHASH_WORDS 3    /* of a shingle */
#define TEXT_SIMHASH_LEAST 16   /* shingles; a shorter text has no print */
#define TEXT_SIMHASH_WORD  64   /* octets of a word, at most */
#define TEXT_SIMHASH_TEXT  2048 /* octets collected */
#define TEXT_SIMHASH_VOTES 48   /* bits of a number of votes */

struct text_simhash {
    /* For each bit i, the shingles counted that have it, as two numbers to be
     * added: bit i of each word of votes[k] stands for 2^k. */
    uint64_t votes[TEXT_SIMHASH_VOTES][2];
    uint64_t shingles; /* counted */
    size_t len, words;
    /* Hashes of words whose shingles are not all counted yet. */
    uint64_t word[TEXT_SIMHASH_TEXT + 64];
    char text[TEXT_SIMHASH_TEXT + 64];
};

void text_simhash_begin(struct text_simhash *s);
/* The next piece of the text, decoded (UTF-8). */
void text_simhash_add(struct text_simhash *s, struct bytes piece);
/* 0: the text is too short. */
uint64_t text_simhash_end(struct text_simhash *s);

#endif
