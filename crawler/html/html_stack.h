/*
 * html_stack.h - the stack of open elements (HTML standard, section 13.2.4.2).
 *
 * For each word it keeps the place of its innermost element, and of the
 * innermost special one and end of scope, so that no question walks the stack.
 * Past HTML_DEPTH_MOST the innermost element gives way to the next, as browsers
 * cut the depth of their trees. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_STACK_H
#define URLWEIR_CRAWLER_HTML_HTML_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/html/html_words.h"

#define HTML_DEPTH_MOST 512

enum html_space { HTML_SPACE, SVG_SPACE, MATH_SPACE };

/* Places on the stack count from 1, so that 0 is nowhere. */
struct html_open {
    uint8_t word;  /* enum html_word */
    uint8_t space; /* enum html_space */
    uint8_t flags;
    uint32_t hash;    /* of the name where the word is WORD_OTHER */
    uint16_t same;    /* the place of the next outer HTML one of its word, */
    uint16_t special; /* and what html_tree.special and */
    uint16_t scope;   /* .scope were before it came */
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
    uint16_t scope;             /* of the innermost that ends a scope */
    uint16_t last[WORD_COUNT_]; /* of the innermost HTML one of each word */
    struct html_open stack[HTML_DEPTH_MOST + 1]; /* [0] is never used */
};

void html_stack_clear(struct html_stack *s);

struct html_open html_open_of(enum html_word word, struct bytes name,
                              enum html_space space);
bool html_open_same_name(const struct html_open *a, const struct html_open *b);

void html_stack_push(struct html_stack *s, struct html_open e);
void html_stack_push_word(struct html_stack *s, enum html_word word);
void html_stack_pop(struct html_stack *s);
/* Pops the element at `place` and all inside it; place 0 is none. */
void html_stack_close(struct html_stack *s, unsigned place);
/* Takes one element out and leaves those inside it. */
void html_stack_remove(struct html_stack *s, unsigned place);

/* The innermost element; asked only while there is one, else of no meaning. */
const struct html_open *html_stack_top(const struct html_stack *s);
bool html_stack_top_is(const struct html_stack *s, enum html_word word);

/* Where `word` is open in scope, which `wall` (or WORD_OTHER) ends as well; 0:
 * nowhere. */
unsigned html_stack_in_scope(const struct html_stack *s, enum html_word word,
                             enum html_word wall);
/* The same in table scope. */
unsigned html_stack_in_table(const struct html_stack *s, enum html_word word);
/* The innermost of some words, or 0. */
unsigned html_stack_innermost(const struct html_stack *s, const uint8_t *words,
                              size_t n);

#endif
