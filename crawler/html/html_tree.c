/* SPDX-License-Identifier: MIT */
/*
 * html_tree.c - rules of the tree construction (HTML standard, section 13.2.6)
 * over the stack of open elements.
 *
 * Insertion modes are not stored but derived from the stack: a cell may begin
 * if a table is open. html, head and body are never on the stack; its bottom is
 * the body. Elements with raw text are not pushed either, since they contain no
 * elements.
 */

#include "crawler/html/html_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "crawler/charset/charset.h"
#include "crawler/html/html.h"
#include "crawler/html/html_words.h"

/*
 * Properties of HTML elements for the tree construction.
 *
 * One row of bits for each word (HTML standard, sections 13.2.4.2 and
 * 13.2.6.4). Any thread.
 */

enum html_trait {
    TRAIT_SPECIAL = 1 << 0,  /* an end tag does not reach past it */
    TRAIT_SCOPE = 1 << 1,    /* nor does a search for an element "in scope" */
    TRAIT_FORMAT = 1 << 2,   /* its end tag runs the adoption agency */
    TRAIT_BLOCK = 1 << 3,    /* its end tag closes all inside it */
    TRAIT_CLOSES_P = 1 << 4, /* its start tag ends a paragraph */
    TRAIT_EMPTY = 1 << 5,    /* has no content */
    TRAIT_IN_HEAD = 1 << 6,  /* does not begin the body */
    TRAIT_LEAVES = 1 << 7,   /* its start tag ends SVG and MathML */
    TRAIT_SHOWS = 1 << 8,    /* after it, no frameset may replace the body */
    TRAIT_TABLE_PART = 1 << 9
};

#define TRAIT_DIVISION (TRAIT_SPECIAL | TRAIT_BLOCK | TRAIT_CLOSES_P)

/* Bits of enum html_trait. */
static const uint16_t html_traits[WORD_COUNT_] = {
    [WORD_A] = TRAIT_FORMAT,
    [WORD_ADDRESS] = TRAIT_DIVISION,
    [WORD_APPLET] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_BLOCK | TRAIT_SHOWS,
    [WORD_AREA] = TRAIT_EMPTY | TRAIT_SHOWS,
    [WORD_ARTICLE] = TRAIT_DIVISION,
    [WORD_ASIDE] = TRAIT_DIVISION,
    [WORD_B] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_BASE] = TRAIT_EMPTY | TRAIT_IN_HEAD,
    [WORD_BASEFONT] = TRAIT_EMPTY | TRAIT_IN_HEAD,
    [WORD_BGSOUND] = TRAIT_EMPTY | TRAIT_IN_HEAD,
    [WORD_BIG] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_BLOCKQUOTE] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_BODY] = TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_BR] = TRAIT_EMPTY | TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_BUTTON] = TRAIT_SPECIAL | TRAIT_BLOCK | TRAIT_SHOWS,
    [WORD_CAPTION] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_TABLE_PART,
    [WORD_CENTER] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_CODE] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_COL] = TRAIT_EMPTY | TRAIT_TABLE_PART,
    [WORD_COLGROUP] = TRAIT_SPECIAL | TRAIT_TABLE_PART,
    [WORD_DD] = TRAIT_SPECIAL | TRAIT_BLOCK | TRAIT_CLOSES_P | TRAIT_SHOWS |
                TRAIT_LEAVES,
    [WORD_DETAILS] = TRAIT_DIVISION,
    [WORD_DIALOG] = TRAIT_BLOCK | TRAIT_CLOSES_P,
    [WORD_DIR] = TRAIT_DIVISION,
    [WORD_DIV] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_DL] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_DT] = TRAIT_SPECIAL | TRAIT_BLOCK | TRAIT_CLOSES_P | TRAIT_SHOWS |
                TRAIT_LEAVES,
    [WORD_EM] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_EMBED] = TRAIT_EMPTY | TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_FIELDSET] = TRAIT_DIVISION,
    [WORD_FIGCAPTION] = TRAIT_DIVISION,
    [WORD_FIGURE] = TRAIT_DIVISION,
    [WORD_FONT] = TRAIT_FORMAT,
    [WORD_FOOTER] = TRAIT_DIVISION,
    [WORD_FORM] = TRAIT_SPECIAL | TRAIT_CLOSES_P,
    [WORD_H1] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_H2] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_H3] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_H4] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_H5] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_H6] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_HEAD] = TRAIT_IN_HEAD | TRAIT_LEAVES,
    [WORD_HEADER] = TRAIT_DIVISION,
    [WORD_HGROUP] = TRAIT_DIVISION,
    [WORD_HR] = TRAIT_EMPTY | TRAIT_CLOSES_P | TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_HTML] = TRAIT_IN_HEAD,
    [WORD_I] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_IFRAME] = TRAIT_SHOWS,
    [WORD_IMG] = TRAIT_EMPTY | TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_INPUT] = TRAIT_EMPTY,
    [WORD_KEYGEN] = TRAIT_EMPTY | TRAIT_SHOWS,
    [WORD_LI] = TRAIT_SPECIAL | TRAIT_BLOCK | TRAIT_CLOSES_P | TRAIT_SHOWS |
                TRAIT_LEAVES,
    [WORD_LINK] = TRAIT_EMPTY | TRAIT_IN_HEAD,
    [WORD_LISTING] = TRAIT_DIVISION | TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_MAIN] = TRAIT_DIVISION,
    [WORD_MARQUEE] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_BLOCK | TRAIT_SHOWS,
    [WORD_MENU] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_META] = TRAIT_EMPTY | TRAIT_IN_HEAD | TRAIT_LEAVES,
    [WORD_NAV] = TRAIT_DIVISION,
    [WORD_NOBR] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_NOFRAMES] = TRAIT_IN_HEAD,
    [WORD_NOSCRIPT] = TRAIT_SPECIAL | TRAIT_IN_HEAD,
    [WORD_OBJECT] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_BLOCK | TRAIT_SHOWS,
    [WORD_OL] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_P] = TRAIT_SPECIAL | TRAIT_CLOSES_P | TRAIT_LEAVES,
    [WORD_PARAM] = TRAIT_EMPTY,
    [WORD_PLAINTEXT] = TRAIT_CLOSES_P,
    [WORD_PRE] = TRAIT_DIVISION | TRAIT_SHOWS | TRAIT_LEAVES,
    [WORD_RUBY] = TRAIT_LEAVES,
    [WORD_S] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_SCRIPT] = TRAIT_IN_HEAD,
    [WORD_SEARCH] = TRAIT_DIVISION,
    [WORD_SECTION] = TRAIT_DIVISION,
    [WORD_SELECT] = TRAIT_SPECIAL | TRAIT_BLOCK | TRAIT_SHOWS,
    [WORD_SMALL] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_SOURCE] = TRAIT_EMPTY,
    [WORD_SPAN] = TRAIT_LEAVES,
    [WORD_STRIKE] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_STRONG] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_STYLE] = TRAIT_IN_HEAD,
    [WORD_SUB] = TRAIT_LEAVES,
    [WORD_SUMMARY] = TRAIT_DIVISION,
    [WORD_SUP] = TRAIT_LEAVES,
    [WORD_TABLE] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_CLOSES_P | TRAIT_SHOWS |
                   TRAIT_LEAVES,
    [WORD_TBODY] = TRAIT_SPECIAL | TRAIT_TABLE_PART,
    [WORD_TD] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_TABLE_PART,
    [WORD_TEMPLATE] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_IN_HEAD,
    [WORD_TEXTAREA] = TRAIT_SHOWS,
    [WORD_TFOOT] = TRAIT_SPECIAL | TRAIT_TABLE_PART,
    [WORD_TH] = TRAIT_SPECIAL | TRAIT_SCOPE | TRAIT_TABLE_PART,
    [WORD_THEAD] = TRAIT_SPECIAL | TRAIT_TABLE_PART,
    [WORD_TITLE] = TRAIT_IN_HEAD,
    [WORD_TR] = TRAIT_SPECIAL | TRAIT_TABLE_PART,
    [WORD_TRACK] = TRAIT_EMPTY,
    [WORD_TT] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_U] = TRAIT_FORMAT | TRAIT_LEAVES,
    [WORD_UL] = TRAIT_DIVISION | TRAIT_LEAVES,
    [WORD_VAR] = TRAIT_LEAVES,
    [WORD_WBR] = TRAIT_EMPTY | TRAIT_SHOWS,
    [WORD_XMP] = TRAIT_CLOSES_P | TRAIT_SHOWS,
};

enum html_state html_content_state(enum html_word w)
{
    switch (w) {
    case WORD_TITLE:
    case WORD_TEXTAREA:
        return HTML_RCDATA;
    case WORD_STYLE:
    case WORD_XMP:
    case WORD_IFRAME:
    case WORD_NOEMBED:
    case WORD_NOFRAMES:
        return HTML_RAWTEXT;
    case WORD_SCRIPT:
        return HTML_SCRIPT;
    case WORD_PLAINTEXT:
        return HTML_PLAINTEXT;
    default:
        return HTML_DATA;
    }
}

/* ---- html stack ---- */

/*
 * The stack of open elements (HTML standard, section 13.2.4.2).
 *
 * Each element stores what the chains were before it was pushed, so that
 * popping restores them. A search up the stack would cost up to 512 steps a
 * tag: half a million tags took a second and a half that way.
 */

void html_stack_clear(struct html_stack *s)
{
    s->depth = 0;
    s->special = s->scope = 0;
    memset(s->last, 0, sizeof s->last);
}

uint32_t html_name_hash(struct bytes name)
{
    uint32_t h = UINT32_C(2166136261); /* FNV-1a */

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];

        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        h = (h ^ c) * UINT32_C(16777619);
    }
    return h;
}

/* Members are written where they stay: a struct that was written member by
 * member and is then copied as a whole waits for the cache. */
void html_stack_push(struct html_stack *s, struct html_open e)
{
    struct html_open *to;
    unsigned flags = e.flags;
    uint16_t place;

    if (s->depth == HTML_DEPTH_MOST)
        html_stack_pop(s);
    place = (uint16_t)++s->depth;
    to = &s->stack[place];
    to->word = e.word;
    to->space = e.space;
    to->hash = e.hash;
    to->special = s->special;
    to->scope = s->scope;
    to->same = 0;
    if (e.space == HTML_SPACE) {
        unsigned tr = html_traits[e.word];

        flags = ((tr & TRAIT_SPECIAL) ? OPEN_SPECIAL : 0U) |
                ((tr & TRAIT_SCOPE) ? OPEN_SCOPE : 0U);
        to->same = s->last[e.word];
        s->last[e.word] = place;
    }
    if (flags & OPEN_SPECIAL)
        s->special = place;
    if (flags & OPEN_SCOPE)
        s->scope = place;
    to->flags = (uint8_t)flags;
}

static void html_stack_push_word(struct html_stack *s, enum html_word word)
{
    html_stack_push(s, html_open_of(word, html_word_text(word), HTML_SPACE));
}

void html_stack_remove(struct html_stack *s, unsigned place)
{
    struct html_open inside[HTML_DEPTH_MOST];
    unsigned n = s->depth - place;

    memcpy(inside, &s->stack[place + 1], n * sizeof *inside);
    html_stack_close(s, place);
    for (unsigned i = 0; i < n; i++)
        html_stack_push(s, inside[i]);
}

unsigned html_stack_in_table(const struct html_stack *s, enum html_word word)
{
    unsigned place = s->last[word];

    return place < s->last[WORD_TABLE] || place < s->last[WORD_TEMPLATE]
               ? 0
               : place;
}

unsigned html_stack_innermost(const struct html_stack *s, const uint8_t *words,
                              size_t n)
{
    unsigned place = 0;

    for (size_t i = 0; i < n; i++)
        if (s->last[words[i]] > place)
            place = s->last[words[i]];
    return place;
}

/* ---- html tree ---- */

static inline bool html_open_same_name(const struct html_open *a,
                                       const struct html_open *b)
{
    return a->word == b->word && a->hash == b->hash;
}

static inline bool html_stack_top_is(const struct html_stack *s,
                                     enum html_word word)
{
    return s->depth > 0 && s->last[word] == s->depth;
}

#define NOWHERE 0

static bool is_heading(unsigned word)
{
    return word >= WORD_H1 && word <= WORD_H6;
}

static bool in_template(const struct html_tree *t)
{
    return t->open.last[WORD_TEMPLATE] > 0;
}

static void close_p(struct html_tree *t)
{
    html_stack_close(&t->open,
                     html_stack_in_scope(&t->open, WORD_P, WORD_BUTTON));
}

/* ---- start tags in HTML -------------------------------------------------- */

/* An open li (dd, dt) ends where the next begins. */
static void close_item(struct html_tree *t, enum html_word a, enum html_word b)
{
    unsigned item =
        t->open.last[a] > t->open.last[b] ? t->open.last[a] : t->open.last[b];
    unsigned place = t->open.special;

    for (; place > item; place = t->open.stack[place].special) {
        const struct html_open *e = &t->open.stack[place];

        if (e->space != HTML_SPACE ||
            (e->word != WORD_ADDRESS && e->word != WORD_DIV &&
             e->word != WORD_P))
            return;
    }
    html_stack_close(&t->open, item);
}

/* Section 13.2.6.4.7, any other end tag. */
static void end_other(struct html_tree *t, const struct html_open *end)
{
    unsigned place = t->open.last[end->word];

    while (place > 0 && place >= t->open.special &&
           !html_open_same_name(&t->open.stack[place], end))
        place = t->open.stack[place].same;
    if (place >= t->open.special)
        html_stack_close(&t->open, place);
}

/* The adoption agency algorithm, reduced to the stack: without a special
 * element inside, the formatting element and all in it end; otherwise it alone
 * leaves the stack, and the innermost special element becomes the current
 * one. */
static void adopt(struct html_tree *t, const struct html_open *end)
{
    unsigned place =
        html_stack_in_scope(&t->open, (enum html_word)end->word, WORD_OTHER);

    if (place == NOWHERE) {
        end_other(t, end);
    } else if (t->open.special < place) {
        html_stack_close(&t->open, place);
    } else {
        html_stack_close(&t->open, t->open.special + 1u);
        html_stack_remove(&t->open, place);
    }
}

/* Are we in the innermost table, but not in one of its cells? */
static bool in_table_itself(const struct html_tree *t)
{
    static const uint8_t inside[] = {WORD_TD, WORD_TH, WORD_CAPTION,
                                     WORD_TEMPLATE};

    return t->open.last[WORD_TABLE] >
           html_stack_innermost(&t->open, inside, sizeof inside);
}

static bool is_section(unsigned word)
{
    return word == WORD_TBODY || word == WORD_THEAD || word == WORD_TFOOT;
}

/* Finds the place for a part of a table: pops to the innermost table or
 * template, a section (for rows and cells) or a row (for cells). False: there
 * is none, and the tag is ignored. */
static bool clear_to_table(struct html_tree *t, bool section, bool row)
{
    static const uint8_t places[] = {WORD_TABLE, WORD_TEMPLATE, WORD_TBODY,
                                     WORD_THEAD, WORD_TFOOT,    WORD_TR};
    unsigned place = html_stack_innermost(&t->open, places,
                                          row       ? 6
                                          : section ? 5
                                                    : 2);

    if (t->open.last[WORD_TABLE] == 0 && !in_template(t))
        return false;
    html_stack_close(&t->open, place + 1);
    return place != NOWHERE;
}

static bool start_table_part(struct html_tree *t, enum html_word w)
{
    bool cell = w == WORD_TD || w == WORD_TH, row = w == WORD_TR;

    if (!clear_to_table(t, cell || row, cell))
        return false;
    if ((cell || row) && html_stack_top_is(&t->open, WORD_TABLE))
        html_stack_push_word(&t->open, WORD_TBODY);
    if (cell && is_section(html_stack_top(&t->open)->word))
        html_stack_push_word(&t->open, WORD_TR);
    if (w != WORD_COL)
        html_stack_push_word(&t->open, w);
    return true;
}

/* Closes what the start tag of `w` closes. */
static void make_room(struct html_tree *t, enum html_word w)
{
    const struct html_open a = {.word = WORD_A};

    if (w == WORD_LI)
        close_item(t, WORD_LI, WORD_LI);
    else if (w == WORD_DD || w == WORD_DT)
        close_item(t, WORD_DD, WORD_DT);
    else if (w == WORD_TABLE && in_table_itself(t))
        html_stack_close(&t->open, t->open.last[WORD_TABLE]);
    else if (w == WORD_BUTTON)
        html_stack_close(&t->open,
                         html_stack_in_scope(&t->open, w, WORD_OTHER));
    else if (w == WORD_A &&
             html_stack_in_scope(&t->open, w, WORD_OTHER) != NOWHERE)
        adopt(t, &a);
    else if ((w == WORD_OPTION || w == WORD_OPTGROUP) &&
             html_stack_top_is(&t->open, WORD_OPTION))
        html_stack_pop(&t->open);
    if (html_traits[w] & TRAIT_CLOSES_P)
        close_p(t);
    if (is_heading(w) && t->open.depth > 0 &&
        html_stack_top(&t->open)->space == HTML_SPACE &&
        is_heading(html_stack_top(&t->open)->word))
        html_stack_pop(&t->open);
}

/* False: it is a form in a form. */
static bool start_form(struct html_tree *t)
{
    bool free = in_template(t);

    if (t->form_open && !free)
        return false;
    close_p(t);
    t->form_open = t->form_open || !free;
    /* Directly inside a table, a form ends at once. */
    if (!in_table_itself(t) ||
        !(html_stack_top_is(&t->open, WORD_TABLE) ||
          html_traits[html_stack_top(&t->open)->word] & TRAIT_TABLE_PART))
        html_stack_push_word(&t->open, WORD_FORM);
    return true;
}

static void enter_body(struct html_tree *t)
{
    html_stack_close(&t->open, 1);
    t->part = TREE_BODY;
}

static struct html_place start_frameset(struct html_tree *t,
                                        struct html_place place)
{
    place.ignored = t->part == TREE_BODY && !t->frameset_ok;
    if (place.ignored)
        return place;
    place.drops_body = t->part == TREE_BODY;
    html_stack_close(&t->open, 1);
    t->part = TREE_FRAMESET;
    t->framesets = 1;
    return place;
}

/* Sections 13.2.6.4.20 and on: only frames and noframes. */
static struct html_place start_in_frameset(struct html_tree *t,
                                           struct html_place place)
{
    bool inside = t->part == TREE_FRAMESET;

    if (place.word == WORD_NOFRAMES) {
        place.state = HTML_RAWTEXT;
        t->in_raw = true;
    } else if (place.word == WORD_FRAMESET && inside) {
        t->framesets++;
    } else if (!(place.word == WORD_FRAME && inside) &&
               place.word != WORD_HTML) {
        place.ignored = true;
    }
    return place;
}

/* Handles a start tag that belongs in the body, or in the head. */
static struct html_place start_in_body(struct html_tree *t,
                                       const struct html_start *tag,
                                       struct html_place place)
{
    enum html_word w = place.word;

    if (w == WORD_FRAME || w == WORD_FRAMESET) {
        place.ignored = true;
    } else if (html_traits[w] & TRAIT_TABLE_PART) {
        place.ignored = !start_table_part(t, w);
    } else if (w == WORD_FORM) {
        place.ignored = !start_form(t);
    } else {
        make_room(t, w);
        place.state = html_content_state(w);
        t->in_raw = place.state != HTML_DATA && place.state != HTML_PLAINTEXT;
        if (place.state == HTML_DATA && !(html_traits[w] & TRAIT_EMPTY))
            html_stack_push(&t->open, html_open_of(w, tag->name, HTML_SPACE));
    }
    return place;
}

static struct html_place start_html(struct html_tree *t,
                                    const struct html_start *tag)
{
    enum html_word w = tag->word == WORD_IMAGE ? WORD_IMG : tag->word;
    struct html_place place = {.word = w, .space = HTML_SPACE};

    if (t->part >= TREE_FRAMESET)
        return start_in_frameset(t, place);
    if (w == WORD_FRAMESET && !in_template(t))
        return start_frameset(t, place);
    if (t->part == TREE_HEAD && !(html_traits[w] & TRAIT_IN_HEAD) &&
        !in_template(t))
        enter_body(t);
    if (html_traits[w] & TRAIT_SHOWS || (w == WORD_INPUT && !tag->hidden))
        t->frameset_ok = false;
    if (w == WORD_HTML || w == WORD_HEAD || w == WORD_BODY)
        return place; /* those elements exist already */
    return start_in_body(t, tag, place);
}

/* ---- start tags in SVG and MathML ---------------------------------------- */

static uint8_t foreign_flags(enum html_space space,
                             const struct html_start *tag)
{
    switch (tag->word) {
    case WORD_FOREIGNOBJECT:
    case WORD_DESC:
    case WORD_TITLE:
        return space == SVG_SPACE ? OPEN_SPECIAL | OPEN_SCOPE | OPEN_HTML_INSIDE
                                  : 0;
    case WORD_MI:
    case WORD_MO:
    case WORD_MN:
    case WORD_MS:
    case WORD_MTEXT:
        return space == MATH_SPACE
                   ? OPEN_SPECIAL | OPEN_SCOPE | OPEN_TEXT_INSIDE
                   : 0;
    case WORD_ANNOTATION_XML:
        if (space != MATH_SPACE)
            return 0;
        return (uint8_t)(OPEN_SPECIAL | OPEN_SCOPE |
                         (tag->html_encoding ? OPEN_HTML_INSIDE : 0));
    default:
        return 0;
    }
}

static struct html_place start_foreign(struct html_tree *t,
                                       const struct html_start *tag,
                                       enum html_space space)
{
    struct html_place place = {.word = tag->word, .space = space};
    struct html_open e = html_open_of(tag->word, tag->name, space);

    e.flags = foreign_flags(space, tag);
    if (!tag->self_closing)
        html_stack_push(&t->open, e);
    return place;
}

/* Section 13.2.6, the dispatcher: is this start tag read by HTML's rules? */
static bool is_html_start(const struct html_tree *t,
                          const struct html_start *tag)
{
    const struct html_open *e = html_stack_top(&t->open);

    if (t->open.depth == 0 || e->space == HTML_SPACE ||
        (e->flags & OPEN_HTML_INSIDE))
        return true;
    if (e->flags & OPEN_TEXT_INSIDE)
        return tag->word != WORD_MGLYPH && tag->word != WORD_MALIGNMARK;
    return e->space == MATH_SPACE && e->word == WORD_ANNOTATION_XML &&
           tag->word == WORD_SVG;
}

/* Pops to where HTML elements are allowed again. */
static void leave_foreign(struct html_tree *t)
{
    while (t->open.depth > 0 && html_stack_top(&t->open)->space != HTML_SPACE &&
           !(html_stack_top(&t->open)->flags &
             (OPEN_HTML_INSIDE | OPEN_TEXT_INSIDE)))
        html_stack_pop(&t->open);
}

struct html_place html_tree_start(struct html_tree *t,
                                  const struct html_start *tag)
{
    if (!is_html_start(t, tag)) {
        if (!(html_traits[tag->word] & TRAIT_LEAVES) &&
            !(tag->word == WORD_FONT && tag->font_looks))
            return start_foreign(
                t, tag, (enum html_space)html_stack_top(&t->open)->space);
        leave_foreign(t);
    }
    if ((tag->word == WORD_SVG || tag->word == WORD_MATH) &&
        t->part < TREE_FRAMESET) {
        if (t->part == TREE_HEAD && !in_template(t))
            enter_body(t);
        return start_foreign(t, tag,
                             tag->word == WORD_SVG ? SVG_SPACE : MATH_SPACE);
    }
    return start_html(t, tag);
}

/* ---- end tags ------------------------------------------------------------ */

static void end_form(struct html_tree *t)
{
    unsigned place = html_stack_in_scope(&t->open, WORD_FORM, WORD_OTHER);

    if (in_template(t)) {
        html_stack_close(&t->open, place);
        return;
    }
    t->form_open = false;
    if (place != NOWHERE)
        html_stack_remove(&t->open, place);
}

static void end_heading(struct html_tree *t)
{
    static const uint8_t words[] = {WORD_H1, WORD_H2, WORD_H3,
                                    WORD_H4, WORD_H5, WORD_H6};
    unsigned place = html_stack_innermost(&t->open, words, sizeof words);

    if (place >= t->open.scope)
        html_stack_close(&t->open, place);
}

static void end_item(struct html_tree *t)
{
    unsigned place = html_stack_in_scope(&t->open, WORD_LI, WORD_OL);

    if (place >= t->open.last[WORD_UL])
        html_stack_close(&t->open, place);
}

static void end_html(struct html_tree *t, const struct html_open *end)
{
    enum html_word w = (enum html_word)end->word;

    if (t->part == TREE_FRAMESET && w == WORD_FRAMESET && --t->framesets == 0)
        t->part = TREE_AFTER_FRAMESET;
    if (t->part == TREE_HEAD && (w == WORD_HTML || w == WORD_BODY) &&
        !in_template(t))
        enter_body(t);
    if (t->part >= TREE_FRAMESET || w == WORD_HTML || w == WORD_BODY ||
        w == WORD_HEAD)
        return;
    if (w == WORD_P)
        close_p(t);
    else if (w == WORD_BR)
        html_tree_text(t); /* `</br>` and `</p>` count as elements */
    else if (w == WORD_LI)
        end_item(t);
    else if (w == WORD_FORM)
        end_form(t);
    else if (w == WORD_TEMPLATE)
        html_stack_close(&t->open, t->open.last[WORD_TEMPLATE]);
    else if (w == WORD_TABLE || html_traits[w] & TRAIT_TABLE_PART)
        html_stack_close(&t->open, html_stack_in_table(&t->open, w));
    else if (is_heading(w))
        end_heading(t);
    else if (html_traits[w] & TRAIT_FORMAT)
        adopt(t, end);
    else if (html_traits[w] & TRAIT_BLOCK)
        html_stack_close(&t->open,
                         html_stack_in_scope(&t->open, w, WORD_OTHER));
    else
        end_other(t, end);
}

/* Section 13.2.6.5, any other end tag. False: HTML's rules decide. */
static bool end_foreign(struct html_tree *t, const struct html_open *end)
{
    for (unsigned place = t->open.depth; place > 0; place--) {
        const struct html_open *e = &t->open.stack[place];

        if (e->space == HTML_SPACE)
            return false;
        if (html_open_same_name(e, end)) {
            html_stack_close(&t->open, place);
            return true;
        }
    }
    return false;
}

void html_tree_end(struct html_tree *t, enum html_word word, struct bytes name)
{
    struct html_open end = html_open_of(word, name, HTML_SPACE);

    if (t->in_raw) {
        t->in_raw = false;
        return;
    }
    if (t->open.depth > 0 && html_stack_top(&t->open)->space != HTML_SPACE) {
        if (end.word == WORD_P || end.word == WORD_BR)
            leave_foreign(t);
        else if (end_foreign(t, &end))
            return;
    }
    end_html(t, &end);
}

/* ---- trees of XML -------------------------------------------------------- */

static void open_html(struct html_tree *t, enum html_word w)
{
    if (w == WORD_FORM) {
        t->form_open = true;
    } else if (w == WORD_FRAMESET) {
        t->part = TREE_FRAMESET;
        t->framesets++;
    }
    if (t->part == TREE_HEAD && !(html_traits[w] & TRAIT_IN_HEAD) &&
        !in_template(t)) {
        t->part = TREE_BODY;
        t->frameset_ok = false;
    }
}

struct html_place html_tree_open(struct html_tree *t,
                                 const struct html_start *tag,
                                 enum html_space space)
{
    struct html_place place = {.word = tag->word, .space = space};
    struct html_open e = html_open_of(tag->word, tag->name, space);

    if (space == HTML_SPACE)
        open_html(t, tag->word);
    else
        e.flags = foreign_flags(space, tag);
    html_stack_push(&t->open, e);
    return place;
}

void html_tree_close(struct html_tree *t)
{
    if (html_stack_top_is(&t->open, WORD_FORM))
        t->form_open = false;
    else if (html_stack_top_is(&t->open, WORD_FRAMESET) && --t->framesets == 0)
        t->part = TREE_AFTER_FRAMESET;
    html_stack_pop(&t->open);
}

/* ---- the rest ------------------------------------------------------------ */

void html_tree_begin(struct html_tree *t)
{
    t->part = TREE_HEAD;
    t->form_open = false;
    t->frameset_ok = true;
    t->in_raw = false;
    t->framesets = 0;
    html_stack_clear(&t->open);
}

void html_tree_text(struct html_tree *t)
{
    if (t->part == TREE_HEAD && !in_template(t))
        enter_body(t);
    t->frameset_ok = false;
}

/* ---- the encoding of an HTML page ---- */

/* The first meta element of the head that names an encoding. */
static const struct charset *of_head(struct bytes body)
{
    struct html_reader r;
    struct html_tree tree;
    enum html_token token;

    html_begin(&r, body);
    html_tree_begin(&tree);
    while (tree.part == TREE_HEAD && (token = html_next(&r)) != HTML_PAGE_END) {
        struct html_start start = {.word = html_word_of(r.name),
                                   .name = r.name};
        const char *attributes = r.at;

        if (token == HTML_TEXT && r.text_state == HTML_DATA &&
            bytes_trim(r.text).len > 0) {
            html_tree_text(&tree);
        } else if (token == HTML_END_TAG && html_finish_tag(&r)) {
            html_tree_end(&tree, start.word, r.name);
        } else if (token == HTML_START_TAG && html_finish_tag(&r)) {
            struct html_place place = html_tree_start(&tree, &start);
            const struct charset *c = NULL;

            if (place.word == WORD_META)
                c = charset_of_meta(
                    bytes_of(attributes, (size_t)(r.end - attributes)));
            if (c != NULL)
                return c;
            if (place.state != HTML_DATA)
                html_switch(&r, place.state, r.name);
        }
    }
    return NULL;
}

/* Pages that name no encoding are mostly UTF-8 today, and text in another one
 * is hardly ever valid UTF-8 (the HTML standard, section 13.2.3.2, step 8, lets
 * a user agent detect it). The last character may have been cut. */
static bool is_utf8_without_a_name(struct bytes body)
{
    size_t ascii = 0;

    while (ascii < body.len && (unsigned char)body.at[ascii] < 0x80)
        ascii++;
    for (size_t cut = 0; cut < 4 && body.len > ascii + cut; cut++)
        if (bytes_is_utf8(bytes_of(body.at + ascii, body.len - ascii - cut)))
            return true;
    return false;
}

const struct charset *html_charset(struct bytes body, struct bytes content_type)
{
    const struct charset *c = charset_sniff(body, content_type);

    if (c == NULL && body.len > CHARSET_PRESCAN_MOST)
        c = of_head(body);
    if (c == NULL && is_utf8_without_a_name(body))
        c = charset_utf8();
    return c != NULL ? c : charset_of_label(bytes_of_str("windows-1252"));
}

const struct charset *html_charset_of_xml(struct bytes body,
                                          struct bytes content_type)
{
    const struct charset *c = charset_sniff_xml(body, content_type);

    return c == charset_utf8() && !bytes_is_utf8(body)
               ? html_charset(body, content_type)
               : c;
}
