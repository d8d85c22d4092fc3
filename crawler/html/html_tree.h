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
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/charset/charset.h"
#include "crawler/html/html.h"
#include "crawler/html/html_words.h"

/* How the content of an HTML element is read. */
enum html_state html_content_state(enum html_word w);

/* ---- html stack ---- */

/*
 * The stack of open elements (HTML standard, section 13.2.4.2).
 *
 * It stores the place of the innermost element of each word, of the innermost
 * special element and of the innermost end of a scope, so that lookups need no
 * search. Past HTML_DEPTH_MOST a new element replaces the innermost one, as
 * browsers limit the depth of their trees. One thread at a time.
 */

#define HTML_DEPTH_MOST 512

enum html_space { HTML_SPACE, SVG_SPACE, MATH_SPACE };

/* Places on the stack count from 1; 0 means none. */
struct html_open {
    uint8_t word;  /* enum html_word */
    uint8_t space; /* enum html_space */
    uint8_t flags;
    uint32_t hash;    /* of the name, if the word is WORD_OTHER */
    uint16_t same;    /* place of the next outer HTML element of its word, */
    uint16_t special; /* and what html_tree.special and */
    uint16_t scope;   /* .scope were before it was pushed */
};

/* Flags of an open element. push sets the first two of HTML elements, the
 * caller sets those of others. */
enum {
    OPEN_SPECIAL = 1,
    OPEN_SCOPE = 2,
    OPEN_HTML_INSIDE = 4, /* HTML integration point */
    OPEN_TEXT_INSIDE = 8  /* MathML text integration point */
};

struct html_stack {
    unsigned depth;
    uint16_t special;           /* the place of the innermost special element */
    uint16_t scope;             /* of the innermost element that ends a scope */
    uint16_t last[WORD_COUNT_]; /* of the innermost HTML element of each word */
    struct html_open stack[HTML_DEPTH_MOST + 1]; /* [0] is never used */
};

void html_stack_clear(struct html_stack *s);

/* Of a name, ASCII case ignored. */
uint32_t html_name_hash(struct bytes name);

static inline struct html_open html_open_of(enum html_word word,
                                            struct bytes name,
                                            enum html_space space)
{
    return (struct html_open){.word = (uint8_t)word,
                              .space = (uint8_t)space,
                              .hash = word == WORD_OTHER ? html_name_hash(name)
                                                         : 0};
}

void html_stack_push(struct html_stack *s, struct html_open e);

static inline void html_stack_pop(struct html_stack *s)
{
    const struct html_open *e = &s->stack[s->depth--];

    s->special = e->special;
    s->scope = e->scope;
    if (e->space == HTML_SPACE)
        s->last[e->word] = e->same;
}

/* Pops the element at `place` and all inside it; does nothing for 0. */
static inline void html_stack_close(struct html_stack *s, unsigned place)
{
    while (place > 0 && s->depth >= place)
        html_stack_pop(s);
}

/* Takes one element out and leaves those inside it. */
void html_stack_remove(struct html_stack *s, unsigned place);

/* The innermost element; meaningless if the stack is empty. */
static inline const struct html_open *html_stack_top(const struct html_stack *s)
{
    return &s->stack[s->depth];
}

/* The place of `word` in scope, which `wall` (unless WORD_OTHER) ends as well;
 * 0: none. */
static inline unsigned html_stack_in_scope(const struct html_stack *s,
                                           enum html_word word,
                                           enum html_word wall)
{
    unsigned place = s->last[word];

    if (place < s->scope || (wall != WORD_OTHER && place < s->last[wall]))
        return 0;
    return place;
}

/* The place of `word` in table scope; 0: none. */
unsigned html_stack_in_table(const struct html_stack *s, enum html_word word);
/* The innermost of some words, or 0. */
unsigned html_stack_innermost(const struct html_stack *s, const uint8_t *words,
                              size_t n);

/* ---- html tree ---- */

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

/* ---- the encoding of an HTML page ---- */

/*
 * After the byte order mark, the HTTP header and the first 1,024 octets
 * (charset.h), the rest of the head is read as a browser does, which changes
 * the encoding when it comes to a meta element that names one (HTML standard,
 * section 13.2.3.4). After the head, nothing counts any more. Any thread.
 */

/* The encoding of a page in XML; if nothing names one, UTF-8, and for octets
 * that are not that html_charset's. */
const struct charset *html_charset_of_xml(struct bytes body,
                                          struct bytes content_type);

/* Never NULL: if nothing names one, UTF-8 if the whole body is that and more
 * than ASCII, and else windows-1252. `content_type` is the HTTP header's value,
 * or empty. */
const struct charset *html_charset(struct bytes body,
                                   struct bytes content_type);

#endif
