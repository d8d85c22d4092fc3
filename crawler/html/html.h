/*
 * html.h - reads UTF-8 text as an HTML5 tokenizer does.
 *
 * The tokenizer of the HTML standard, section 13.2.5, as a reader that is
 * asked for one token after the other. It copies nothing: names, values and
 * text are the page's own octets, and html_text() turns them into what the
 * standard says they mean when somebody needs to know. Like the standard's, it
 * does not know by itself which elements hold raw text: html_tree.h does, and
 * says so with html_switch().
 *
 * Never fails: any octets are some tokens. Linear time, no allocation. One
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
    HTML_PLAINTEXT, /* to the end of the page */
    HTML_CDATA      /* a CDATA section of svg or math */
};

enum html_token {
    HTML_PAGE_END,
    HTML_TEXT,      /* .text, of .text_state; in any number of pieces */
    HTML_START_TAG, /* .name, attributes by html_next_attr() */
    HTML_END_TAG,   /* likewise */
    HTML_COMMENT,   /* .text; bogus ones too */
    HTML_DOCTYPE
};

struct html_reader {
    const char *at, *end;
    enum html_state state;
    bool in_tag;       /* attributes are still to be read */
    bool tag_whole;    /* the last tag had its > */
    bool self_closing; /* it had /> */
    bool in_foreign;   /* set by the caller: CDATA sections count here */
    enum html_state text_state;
    struct bytes text;
    struct bytes name;     /* of the tag, as written */
    struct bytes raw_name; /* the end tag that ends raw text */
};

/* One attribute as written. No value is an empty one. */
struct html_attr {
    struct bytes name, value;
};

/* `page` must live as long as the reader. */
void html_begin(struct html_reader *r, struct bytes page);

/* What follows is read in `state`, up to the end tag `name` (as it stands in
 * the page; not looked at for HTML_DATA, HTML_PLAINTEXT and HTML_CDATA). */
void html_switch(struct html_reader *r, enum html_state state,
                 struct bytes name);

/* The next token. A tag whose end was not asked for is read to its end. */
enum html_token html_next(struct html_reader *r);

/* The tag's next attribute; repeated names are the caller's to pass over, the
 * first counts. False: no more. */
bool html_next_attr(struct html_reader *r, struct html_attr *out);

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
/* How text of this state is to be read. */
enum html_text_as html_text_as(enum html_state state);

/* Appends what `raw` means: character references (section 13.2.5.72 and on),
 * CR and CRLF as LF, zero octets. */
void html_text(struct buf *out, struct bytes raw, enum html_text_as as);

/* html_text() would change nothing. */
bool html_text_is_plain(struct bytes raw);

#endif
