/*
 * text_digest.h - a digest of what a page says, for telling whether it changed.
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

#endif
