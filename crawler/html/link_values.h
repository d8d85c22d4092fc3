/*
 * link_values.h - the small grammars of attribute values that hold URLs.
 *
 * srcset, meta refresh, rel and the directions for robots, each read as its
 * standard says. Nothing is copied: what comes out are parts of what went in.
 * Linear time. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_VALUES_H
#define URLWEIR_CRAWLER_HTML_LINK_VALUES_H

#include <stdbool.h>

#include "base/bytes.h"

/* The next image candidate's URL (HTML standard, "parse a srcset attribute");
 * candidates whose descriptors are in error are passed over. *rest begins as
 * the whole value. False: no more. */
bool srcset_next(struct bytes *rest, struct bytes *url);

/* The URL of a meta refresh (HTML standard, "shared declarative refresh
 * steps"); false: it names none, so it is the page itself, or is no refresh. */
bool refresh_url(struct bytes content, struct bytes *url);

/* The next of the words that white space separates. False: no more. */
bool word_next(struct bytes *rest, struct bytes *word);
/* `word` is one of them, ASCII case ignored. */
bool words_have(struct bytes words, const char *word);

/* text/css of "text/css; charset=x": the media type without parameters. */
struct bytes media_essence(struct bytes content_type);
/* rss+xml, atom+xml or feed+json. */
bool media_is_feed(struct bytes content_type);

#endif
