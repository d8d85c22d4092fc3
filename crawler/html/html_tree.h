/*
 * html_tree.h - as much of the tree construction as decides what a tag is.
 *
 * The HTML standard, section 13.2.6, without a tree: the stack of open
 * elements alone. It answers what the tokenizer and a link need to know of a
 * tag: is it HTML, SVG or MathML; is it passed over (a form in a form, a frame
 * outside a frameset, anything but frames inside one); does raw text follow.
 *
 * Where it is simpler than the standard: formatting elements that a block's
 * end has closed are not opened again, <select> is an element like another
 * (docs/rules.md, L1, leaves it open), and past DEPTH_MOST the innermost
 * element gives way to the next, as browsers cut the depth of their trees.
 *
 * Any octets are some tree; the time a tag takes is bounded by the depth kept,
 * and for most tags constant. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_TREE_H
#define URLWEIR_CRAWLER_HTML_HTML_TREE_H

#include <stdbool.h>

#include "crawler/html/html.h"
#include "crawler/html/html_stack.h"
#include "crawler/html/html_words.h"

struct html_tree {
    enum { TREE_HEAD, TREE_BODY, TREE_FRAMESET, TREE_AFTER_FRAMESET } part;
    bool form_open;
    bool frameset_ok; /* a frameset may still take the body's place */
    bool in_raw;      /* the next end tag is that of the raw text */
    unsigned framesets;
    struct html_stack open;
};

/* What the tree must know of a start tag. */
struct html_start {
    enum html_word word;
    struct bytes name;
    bool self_closing;
    bool font_looks;    /* has color, face or size */
    bool html_encoding; /* encoding is text/html or application/xhtml+xml */
    bool hidden;        /* type is hidden */
};

/* What becomes of it. */
struct html_place {
    bool ignored;        /* it makes no element */
    bool drops_body;     /* what stood in the body so far is gone */
    enum html_word word; /* img for image */
    enum html_space space;
    enum html_state state; /* how its content is read */
};

void html_tree_begin(struct html_tree *t);
struct html_place html_tree_start(struct html_tree *t,
                                  const struct html_start *tag);
void html_tree_end(struct html_tree *t, struct bytes name);
/* An HTML element of this word is open. */
bool html_tree_has(const struct html_tree *t, enum html_word word);
/* Text that is not only white space stands here. */
void html_tree_text(struct html_tree *t);

/* CDATA sections count here. */
bool html_tree_in_foreign(const struct html_tree *t);
/* The innermost element is `word` of this space. */
bool html_tree_is_in(const struct html_tree *t, enum html_word word,
                     enum html_space space);

#endif
