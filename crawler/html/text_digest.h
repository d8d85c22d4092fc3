/*
 * text_digest.h - a digest of what a page says, for telling whether it
 * changed.
 *
 * Taken over the visible text (html_wants.text), with each run of white space
 * folded to one space and none at the ends; a tag counts as white space.
 * Scripts, attributes, hidden inputs and comments are no text, so a token or a
 * banner there changes nothing. Unlike the digests of bodies it has no secret:
 * equal texts have equal digests in every crawl. XXH3 under a known key does
 * not withstand an author who wants two texts to look alike. Such an author
 * hides changes of pages of their own, which they could as well do by not
 * sending them. Nothing that is not asked for again depends on it.
 *
 * Without numbers, words that hold a digit and the English names of months and
 * weekdays are left out ("Monday, 3 May 2021 10:15": nothing remains).
 *
 * Owner: one thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_TEXT_DIGEST_H
#define URLWEIR_CRAWLER_HTML_TEXT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/octet_block.h"

#define TEXT_DIGEST_CHUNK ((size_t)4096)

struct text_digest {
    bool numbers;   /* words with digits and names of dates count */
    bool spaced;    /* the text so far is empty or ends with a space */
    uint64_t words; /* known at the end, those that are left out included: runs
                       of octets that are not white space */
    size_t len;     /* of the octets in `room` */
    /* The digest of all chunks before, then the text that follows them; a block
     * may be written beyond what counts. */
    char room[sizeof(struct digest) + TEXT_DIGEST_CHUNK + OCTET_BLOCK];
};

void text_digest_begin(struct text_digest *t, bool numbers);
/* The next piece of the text, decoded (UTF-8); pieces end words. */
void text_digest_add(struct text_digest *t, struct bytes piece);
/* Never all zero, also of a page without text. */
struct digest text_digest_end(struct text_digest *t);

/* The digest of a whole document that has no text of its own, such as an image,
 * octet by octet. It is as stable between crawls. All zero: it is empty. */
struct digest text_digest_whole(struct bytes document);

/* ---- short texts of a page: white space folded, and cut ---- */

/*
 * A title, or what stands between the tags of <a>, comes in pieces. They are
 * joined as they come; runs of white space become one space, those at both ends
 * go, and the text ends with the last whole character that has room. One
 * thread.
 */

#define ANCHOR_TEXT_MOST 200 /* octets of a text about a link */

struct text_fold {
    struct buf *out;
    size_t begin; /* of the text in `out` */
    size_t most;  /* octets */
    bool space;   /* white space came since the last word */
    bool full;
};

/* The text is appended to `out`, behind what is there, at most `most` octets.
 */
void text_fold_begin(struct text_fold *t, struct buf *out, size_t most);
/* Adds a piece of UTF-8; zero octets count as white space. */
void text_fold_add(struct text_fold *t, struct bytes piece);
/* What has come since text_fold_begin; lives until `out` changes. */
struct bytes text_fold_get(const struct text_fold *t);

/* Appends `text`, folded, to the list in `out`, behind ", " unless it is the
 * first; cut to the ceiling of `out`. */
void text_fold_list(struct buf *out, struct bytes text);

/* ---- a fingerprint of a text in which near texts are near ---- */

/*
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
