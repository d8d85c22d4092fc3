/*
 * link_values.h - the small grammars of attribute values that hold URLs.
 *
 * srcset, meta refresh, rel and the directions for robots, each read as its
 * standard says. Nothing is copied: results are parts of the input. Linear
 * time. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_VALUES_H
#define URLWEIR_CRAWLER_HTML_LINK_VALUES_H

#include <stdbool.h>

#include "base/bytes.h"

/* The next image candidate's URL (HTML standard, "parse a srcset attribute");
 * candidates with wrong descriptors are skipped. *rest begins as the whole
 * value. False: no more. */
bool srcset_next(struct bytes *rest, struct bytes *url);

/* The URL of a meta refresh (HTML standard, "shared declarative refresh
 * steps"); false: it has no URL and so refreshes the page itself, or it is not
 * a refresh. */
bool refresh_url(struct bytes content, struct bytes *url);

/* The next word; words are separated by white space. False: no more. */
bool word_next(struct bytes *rest, struct bytes *word);
/* Is `word` one of the words, ASCII case ignored? */
bool words_have(struct bytes words, const char *word);

/* text/css of "text/css; charset=x": the media type without parameters. */
struct bytes media_essence(struct bytes content_type);
/* Is it rss+xml, atom+xml or feed+json? */
bool media_is_feed(struct bytes content_type);

#endif
