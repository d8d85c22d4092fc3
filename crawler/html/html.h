/*
 * html.h - reads UTF-8 text as an HTML5 tokenizer does.
 *
 * The tokenizer of the HTML standard, section 13.2.5, as a reader that returns
 * one token after the other. It copies nothing: names, values and text point
 * into the page, and html_text() decodes them for callers that need it. Like
 * the standard's, it does not know which elements hold raw text: html_tree.h
 * does, and calls html_switch().
 *
 * It never fails: any octets are some tokens. Linear time, no allocation. One
 * thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_H
#define URLWEIR_CRAWLER_HTML_HTML_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

enum html_state {
    HTML_DATA,
    HTML_RCDATA,    /* title, textarea */
    HTML_RAWTEXT,   /* style, xmp, iframe, noembed, noframes */
    HTML_SCRIPT,    /* script, with its escaped and double escaped states */
    HTML_PLAINTEXT, /* everything up to the end of the page */
    HTML_CDATA      /* a CDATA section of svg or math */
};

enum html_token {
    HTML_PAGE_END,
    HTML_TEXT,      /* .text, read in .text_state; in any number of pieces */
    HTML_START_TAG, /* .name, attributes by html_next_attr() */
    HTML_END_TAG,   /* likewise */
    HTML_COMMENT,   /* .text; bogus ones too */
    HTML_DOCTYPE
};

struct html_reader {
    const char *at, *end;
    enum html_state state;
    bool in_tag;       /* attributes may still follow */
    bool tag_whole;    /* the last tag had its > */
    bool self_closing; /* it had /> */
    bool in_foreign;   /* set by the caller: CDATA sections are allowed */
    enum html_state text_state;
    struct bytes text;
    struct bytes name;     /* of the tag, as written */
    struct bytes raw_name; /* name of the end tag that ends raw text */
};

/* One attribute as written. A missing value is empty. */
struct html_attr {
    struct bytes name, value;
};

/* `page` must live as long as the reader. */
void html_begin(struct html_reader *r, struct bytes page);

/* Reads what follows in `state`, up to the end tag `name` (as it is spelled in
 * the page; ignored for HTML_DATA, HTML_PLAINTEXT and HTML_CDATA). */
void html_switch(struct html_reader *r, enum html_state state,
                 struct bytes name);

/* The next token. If the current tag was not read to its end, skips its rest
 * first. */
enum html_token html_next(struct html_reader *r);

/* The tag's next attribute; if a name is repeated, the first counts, and the
 * caller ignores the others. False: no more. */
bool html_next_attr(struct html_reader *r, struct html_attr *out);

/* Does nothing but the > of the tag follow? */
static inline bool html_tag_ends(const struct html_reader *r)
{
    return r->in_tag && r->at < r->end && *r->at == '>';
}

/* Reads the tag to its end. False: the page ended inside the tag, which is
 * then no token at all. .self_closing is known after this. */
bool html_finish_tag(struct html_reader *r);

enum html_text_as {
    HTML_AS_DATA,     /* character references; zero octets stay */
    HTML_AS_RCDATA,   /* character references; zero octets become U+FFFD */
    HTML_AS_RAW,      /* no references; zero octets become U+FFFD */
    HTML_AS_CDATA,    /* no references; zero octets stay */
    HTML_AS_ATTRIBUTE /* references by the rule of attribute values */
};
/* How to decode text of this state. */
enum html_text_as html_text_as(enum html_state state);

/* Appends `raw`, decoded: character references (section 13.2.5.72 and on), CR
 * and CRLF as LF, zero octets. */
void html_text(struct buf *out, struct bytes raw, enum html_text_as as);

/* Would html_text() change nothing? */
bool html_text_is_plain(struct bytes raw);

/* ---- the named character references of the standard (html_entities.c) ---- */

struct html_entity {
    const char *name; /* without &; with ; where it has one */
    const char *text; /* UTF-8 */
};

#define HTML_ENTITY_COUNT 2231
/* All of them, in the order of their octets. Any thread. */
const struct html_entity *html_entities(void);

#endif
