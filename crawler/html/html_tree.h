/*
 * html_tree.h - the part of the tree construction that decides what a tag
 * means.
 *
 * Follows the HTML standard, section 13.2.6, but keeps only the stack of open
 * elements and no tree. It answers what the tokenizer and link extraction need
 * to know about a tag: is it HTML, SVG or MathML; is it ignored (a form in a
 * form, a frame outside a frameset, anything but frames inside one); does raw
 * text follow.
 *
 * Where it is simpler than the standard: formatting elements that a block's
 * end has closed are not opened again, <select> is an element like another
 * (docs/rules.md, L1, leaves it open), and past HTML_DEPTH_MOST a new element
 * replaces the innermost one, as browsers limit the depth of their trees.
 *
 * Any octets give some tree; the time for a tag is bounded by the depth of the
 * stack, and constant for most tags. One thread at a time.
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
    bool frameset_ok; /* a frameset may still replace the body */
    bool in_raw;      /* the next end tag is that of the raw text */
    unsigned framesets;
    struct html_stack open;
};

/* What the tree must know about a start tag. */
struct html_start {
    enum html_word word;
    struct bytes name;
    bool self_closing;
    bool font_looks;    /* has color, face or size */
    bool html_encoding; /* encoding is text/html or application/xhtml+xml */
    bool hidden;        /* type is hidden */
};

/* What a start tag does. */
struct html_place {
    bool ignored;        /* it makes no element */
    bool drops_body;     /* the body so far is dropped */
    enum html_word word; /* img for image */
    enum html_space space;
    enum html_state state; /* how its content is read */
};

void html_tree_begin(struct html_tree *t);
struct html_place html_tree_start(struct html_tree *t,
                                  const struct html_start *tag);
/* `name` is that of `word`. */
void html_tree_end(struct html_tree *t, enum html_word word, struct bytes name);

/* An element of an XML document begins or ends, whose tags are the tree: no
 * rule applies, and its place is what it says. If such a page goes on as HTML,
 * it does so inside the elements that are open. There must be room on the
 * stack. */
struct html_place html_tree_open(struct html_tree *t,
                                 const struct html_start *tag,
                                 enum html_space space);
void html_tree_close(struct html_tree *t);

/* Is an HTML element of this word open? */
static inline bool html_tree_has(const struct html_tree *t, enum html_word word)
{
    return t->open.last[word] > 0;
}

/* Text that is not only white space occurs here. */
void html_tree_text(struct html_tree *t);

/* Are CDATA sections allowed here? */
static inline bool html_tree_in_foreign(const struct html_tree *t)
{
    return t->open.depth > 0 && html_stack_top(&t->open)->space != HTML_SPACE;
}

/* Is the innermost element `word` of this space? */
static inline bool html_tree_is_in(const struct html_tree *t,
                                   enum html_word word, enum html_space space)
{
    return t->open.depth > 0 && html_stack_top(&t->open)->word == word &&
           html_stack_top(&t->open)->space == space;
}

#endif
