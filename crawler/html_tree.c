/* SPDX-License-Identifier: MIT */
/*
 * html_tree.c - the stack of open elements, by section 13.2.6 of the HTML
 * standard.
 *
 * The insertion modes are not kept but read off the stack: whether a cell may
 * begin here is whether a table is open. html, head and body are never on the
 * stack; its bottom is the body. Elements with raw text are not pushed either,
 * since nothing can stand in them.
 */
#include "crawler/html_tree.h"

#include <string.h>

#define NOWHERE 0

/* ---- what is known of elements (HTML ones) ------------------------------- */

enum {
    SPECIAL = 1 << 0,  /* an end tag does not reach past it */
    SCOPE = 1 << 1,    /* nor does a search for an element "in scope" */
    FORMAT = 1 << 2,   /* its end tag is the adoption agency's */
    BLOCK = 1 << 3,    /* its end tag closes all inside it */
    CLOSES_P = 1 << 4, /* its start tag ends a paragraph */
    EMPTY = 1 << 5,    /* has no content */
    IN_HEAD = 1 << 6,  /* does not begin the body */
    LEAVES = 1 << 7,   /* in SVG and MathML: ends them */
    SHOWS = 1 << 8,    /* afterwards no frameset may replace the body */
    TABLE_PART = 1 << 9
};

#define DIVISION (SPECIAL | BLOCK | CLOSES_P)

static const uint16_t traits[WORD_COUNT_] = {
    [WORD_A] = FORMAT,
    [WORD_ADDRESS] = DIVISION,
    [WORD_APPLET] = SPECIAL | SCOPE | BLOCK | SHOWS,
    [WORD_AREA] = EMPTY | SHOWS,
    [WORD_ARTICLE] = DIVISION,
    [WORD_ASIDE] = DIVISION,
    [WORD_B] = FORMAT | LEAVES,
    [WORD_BASE] = EMPTY | IN_HEAD,
    [WORD_BASEFONT] = EMPTY | IN_HEAD,
    [WORD_BGSOUND] = EMPTY | IN_HEAD,
    [WORD_BIG] = FORMAT | LEAVES,
    [WORD_BLOCKQUOTE] = DIVISION | LEAVES,
    [WORD_BODY] = SHOWS | LEAVES,
    [WORD_BR] = EMPTY | SHOWS | LEAVES,
    [WORD_BUTTON] = SPECIAL | BLOCK | SHOWS,
    [WORD_CAPTION] = SPECIAL | SCOPE | TABLE_PART,
    [WORD_CENTER] = DIVISION | LEAVES,
    [WORD_CODE] = FORMAT | LEAVES,
    [WORD_COL] = EMPTY | TABLE_PART,
    [WORD_COLGROUP] = SPECIAL | TABLE_PART,
    [WORD_DD] = SPECIAL | BLOCK | CLOSES_P | SHOWS | LEAVES,
    [WORD_DETAILS] = DIVISION,
    [WORD_DIALOG] = BLOCK | CLOSES_P,
    [WORD_DIR] = DIVISION,
    [WORD_DIV] = DIVISION | LEAVES,
    [WORD_DL] = DIVISION | LEAVES,
    [WORD_DT] = SPECIAL | BLOCK | CLOSES_P | SHOWS | LEAVES,
    [WORD_EM] = FORMAT | LEAVES,
    [WORD_EMBED] = EMPTY | SHOWS | LEAVES,
    [WORD_FIELDSET] = DIVISION,
    [WORD_FIGCAPTION] = DIVISION,
    [WORD_FIGURE] = DIVISION,
    [WORD_FONT] = FORMAT,
    [WORD_FOOTER] = DIVISION,
    [WORD_FORM] = SPECIAL | CLOSES_P,
    [WORD_H1] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_H2] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_H3] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_H4] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_H5] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_H6] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_HEAD] = IN_HEAD | LEAVES,
    [WORD_HEADER] = DIVISION,
    [WORD_HGROUP] = DIVISION,
    [WORD_HR] = EMPTY | CLOSES_P | SHOWS | LEAVES,
    [WORD_HTML] = IN_HEAD,
    [WORD_I] = FORMAT | LEAVES,
    [WORD_IFRAME] = SHOWS,
    [WORD_IMG] = EMPTY | SHOWS | LEAVES,
    [WORD_INPUT] = EMPTY,
    [WORD_KEYGEN] = EMPTY | SHOWS,
    [WORD_LI] = SPECIAL | BLOCK | CLOSES_P | SHOWS | LEAVES,
    [WORD_LINK] = EMPTY | IN_HEAD,
    [WORD_LISTING] = DIVISION | SHOWS | LEAVES,
    [WORD_MAIN] = DIVISION,
    [WORD_MARQUEE] = SPECIAL | SCOPE | BLOCK | SHOWS,
    [WORD_MENU] = DIVISION | LEAVES,
    [WORD_META] = EMPTY | IN_HEAD | LEAVES,
    [WORD_NAV] = DIVISION,
    [WORD_NOBR] = FORMAT | LEAVES,
    [WORD_NOFRAMES] = IN_HEAD,
    [WORD_NOSCRIPT] = SPECIAL | IN_HEAD,
    [WORD_OBJECT] = SPECIAL | SCOPE | BLOCK | SHOWS,
    [WORD_OL] = DIVISION | LEAVES,
    [WORD_P] = SPECIAL | CLOSES_P | LEAVES,
    [WORD_PARAM] = EMPTY,
    [WORD_PLAINTEXT] = CLOSES_P,
    [WORD_PRE] = DIVISION | SHOWS | LEAVES,
    [WORD_RUBY] = LEAVES,
    [WORD_S] = FORMAT | LEAVES,
    [WORD_SCRIPT] = IN_HEAD,
    [WORD_SEARCH] = DIVISION,
    [WORD_SECTION] = DIVISION,
    [WORD_SELECT] = SPECIAL | BLOCK | SHOWS,
    [WORD_SMALL] = FORMAT | LEAVES,
    [WORD_SOURCE] = EMPTY,
    [WORD_SPAN] = LEAVES,
    [WORD_STRIKE] = FORMAT | LEAVES,
    [WORD_STRONG] = FORMAT | LEAVES,
    [WORD_STYLE] = IN_HEAD,
    [WORD_SUB] = LEAVES,
    [WORD_SUMMARY] = DIVISION,
    [WORD_SUP] = LEAVES,
    [WORD_TABLE] = SPECIAL | SCOPE | CLOSES_P | SHOWS | LEAVES,
    [WORD_TBODY] = SPECIAL | TABLE_PART,
    [WORD_TD] = SPECIAL | SCOPE | TABLE_PART,
    [WORD_TEMPLATE] = SPECIAL | SCOPE | IN_HEAD,
    [WORD_TEXTAREA] = SHOWS,
    [WORD_TFOOT] = SPECIAL | TABLE_PART,
    [WORD_TH] = SPECIAL | SCOPE | TABLE_PART,
    [WORD_THEAD] = SPECIAL | TABLE_PART,
    [WORD_TITLE] = IN_HEAD,
    [WORD_TR] = SPECIAL | TABLE_PART,
    [WORD_TRACK] = EMPTY,
    [WORD_TT] = FORMAT | LEAVES,
    [WORD_U] = FORMAT | LEAVES,
    [WORD_UL] = DIVISION | LEAVES,
    [WORD_VAR] = LEAVES,
    [WORD_WBR] = EMPTY | SHOWS,
    [WORD_XMP] = CLOSES_P | SHOWS,
};

static enum html_state content_state(enum html_word w)
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

/* ---- the stack ----------------------------------------------------------- */

/* Flags of an open element, whatever its space. */
enum {
    OPEN_SPECIAL = 1,
    OPEN_SCOPE = 2,
    OPEN_HTML_INSIDE = 4, /* HTML integration point */
    OPEN_TEXT_INSIDE = 8  /* MathML text integration point */
};

static uint32_t name_hash(enum html_word word, struct bytes name)
{
    uint32_t h = UINT32_C(2166136261); /* FNV-1a */

    if (word != WORD_OTHER)
        return 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];

        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        h = (h ^ c) * UINT32_C(16777619);
    }
    return h;
}

static struct html_open open_of(enum html_word word, struct bytes name,
                                enum html_space space)
{
    return (struct html_open){.word = (uint8_t)word,
                              .space = (uint8_t)space,
                              .hash = name_hash(word, name)};
}

static bool same_name(const struct html_open *a, const struct html_open *b)
{
    return a->word == b->word && a->hash == b->hash;
}

static const struct html_open *top(const struct html_tree *t)
{
    return &t->stack[t->depth];
}

static void pop(struct html_tree *t)
{
    const struct html_open *e = top(t);

    t->special = e->special;
    t->scope = e->scope;
    if (e->space == HTML_SPACE)
        t->last[e->word] = e->same;
    t->depth--;
}

/* Pops the element at `place` and all inside it; nowhere is none. */
static void close_at(struct html_tree *t, unsigned place)
{
    while (place > 0 && t->depth >= place)
        pop(t);
}

static void push(struct html_tree *t, struct html_open e)
{
    uint16_t place;

    if (t->depth == HTML_DEPTH_MOST)
        pop(t);
    place = (uint16_t)++t->depth;
    e.special = t->special;
    e.scope = t->scope;
    if (e.space == HTML_SPACE) {
        unsigned tr = traits[e.word];

        e.flags = (uint8_t)(((tr & SPECIAL) ? OPEN_SPECIAL : 0) |
                            ((tr & SCOPE) ? OPEN_SCOPE : 0));
        e.same = t->last[e.word];
        t->last[e.word] = place;
    }
    if (e.flags & OPEN_SPECIAL)
        t->special = place;
    if (e.flags & OPEN_SCOPE)
        t->scope = place;
    t->stack[place] = e;
}

static void push_word(struct html_tree *t, enum html_word word)
{
    push(t, open_of(word, html_word_text(word), HTML_SPACE));
}

/* Takes one element out and leaves those inside it. */
static void remove_at(struct html_tree *t, unsigned place)
{
    struct html_open inside[HTML_DEPTH_MOST];
    unsigned n = t->depth - place;

    memcpy(inside, &t->stack[place + 1], n * sizeof *inside);
    close_at(t, place);
    for (unsigned i = 0; i < n; i++)
        push(t, inside[i]);
}

static bool top_is(const struct html_tree *t, enum html_word word)
{
    return t->depth > 0 && t->last[word] == t->depth;
}

static bool is_heading(unsigned word)
{
    return word >= WORD_H1 && word <= WORD_H6;
}

/* Where `word` is open in scope, which `wall` ends as well. */
static unsigned find_in_scope(const struct html_tree *t, enum html_word word,
                              enum html_word wall)
{
    unsigned place = t->last[word];

    if (place < t->scope || (wall != WORD_OTHER && place < t->last[wall]))
        return NOWHERE;
    return place;
}

static unsigned find_in_table(const struct html_tree *t, enum html_word word)
{
    unsigned place = t->last[word];

    return place < t->last[WORD_TABLE] || place < t->last[WORD_TEMPLATE]
               ? NOWHERE
               : place;
}

/* The innermost of some words. */
static unsigned innermost(const struct html_tree *t, const uint8_t *words,
                          size_t n)
{
    unsigned place = NOWHERE;

    for (size_t i = 0; i < n; i++)
        if (t->last[words[i]] > place)
            place = t->last[words[i]];
    return place;
}

static void close_p(struct html_tree *t)
{
    close_at(t, find_in_scope(t, WORD_P, WORD_BUTTON));
}

/* ---- start tags in HTML -------------------------------------------------- */

/* An open li (dd, dt) ends where the next begins. */
static void close_item(struct html_tree *t, enum html_word a, enum html_word b)
{
    unsigned item = t->last[a] > t->last[b] ? t->last[a] : t->last[b];
    unsigned place = t->special;

    for (; place > item; place = t->stack[place].special) {
        const struct html_open *e = &t->stack[place];

        if (e->space != HTML_SPACE ||
            (e->word != WORD_ADDRESS && e->word != WORD_DIV &&
             e->word != WORD_P))
            return;
    }
    close_at(t, item);
}

/* Section 13.2.6.4.7, any other end tag. */
static void end_other(struct html_tree *t, const struct html_open *end)
{
    unsigned place = t->last[end->word];

    while (place > 0 && place >= t->special &&
           !same_name(&t->stack[place], end))
        place = t->stack[place].same;
    if (place >= t->special)
        close_at(t, place);
}

/* The adoption agency, seen from the stack: without a special element inside,
 * the formatting element ends with all that is in it; else it leaves the stack
 * and the innermost special element is the current one. */
static void adopt(struct html_tree *t, const struct html_open *end)
{
    unsigned place = find_in_scope(t, (enum html_word)end->word, WORD_OTHER);

    if (place == NOWHERE) {
        end_other(t, end);
    } else if (t->special < place) {
        close_at(t, place);
    } else {
        close_at(t, t->special + 1u);
        remove_at(t, place);
    }
}

/* The innermost table's own content is being read, not that of its cells. */
static bool in_table_itself(const struct html_tree *t)
{
    static const uint8_t inside[] = {WORD_TD, WORD_TH, WORD_CAPTION,
                                     WORD_TEMPLATE};

    return t->last[WORD_TABLE] > innermost(t, inside, sizeof inside);
}

static bool is_section(unsigned word)
{
    return word == WORD_TBODY || word == WORD_THEAD || word == WORD_TFOOT;
}

/* Where a part of a table may be put: pops to the innermost table or template,
 * a section (for rows and cells) or a row (for cells). False: there is none,
 * and the tag is ignored. */
static bool clear_to_table(struct html_tree *t, bool section, bool row)
{
    static const uint8_t places[] = {WORD_TABLE, WORD_TEMPLATE, WORD_TBODY,
                                     WORD_THEAD, WORD_TFOOT,    WORD_TR};
    unsigned place = innermost(t, places, row ? 6 : section ? 5 : 2);

    if (t->last[WORD_TABLE] == 0 && t->last[WORD_TEMPLATE] == 0)
        return false;
    close_at(t, place + 1);
    return place != NOWHERE;
}

static bool start_table_part(struct html_tree *t, enum html_word w)
{
    bool cell = w == WORD_TD || w == WORD_TH, row = w == WORD_TR;

    if (!clear_to_table(t, cell || row, cell))
        return false;
    if ((cell || row) && top_is(t, WORD_TABLE))
        push_word(t, WORD_TBODY);
    if (cell && is_section(top(t)->word))
        push_word(t, WORD_TR);
    if (w != WORD_COL)
        push_word(t, w);
    return true;
}

/* What the start tag of `w` closes before it opens. */
static void make_room(struct html_tree *t, enum html_word w)
{
    const struct html_open a = {.word = WORD_A};

    if (w == WORD_LI)
        close_item(t, WORD_LI, WORD_LI);
    else if (w == WORD_DD || w == WORD_DT)
        close_item(t, WORD_DD, WORD_DT);
    else if (w == WORD_TABLE && in_table_itself(t))
        close_at(t, t->last[WORD_TABLE]);
    else if (w == WORD_BUTTON)
        close_at(t, find_in_scope(t, w, WORD_OTHER));
    else if (w == WORD_A && find_in_scope(t, w, WORD_OTHER) != NOWHERE)
        adopt(t, &a);
    else if ((w == WORD_OPTION || w == WORD_OPTGROUP) &&
             top_is(t, WORD_OPTION))
        pop(t);
    if (traits[w] & CLOSES_P)
        close_p(t);
    if (is_heading(w) && t->depth > 0 && top(t)->space == HTML_SPACE &&
        is_heading(top(t)->word))
        pop(t);
}

/* False: a form in a form. */
static bool start_form(struct html_tree *t)
{
    bool free = t->last[WORD_TEMPLATE] > 0;

    if (t->form_open && !free)
        return false;
    close_p(t);
    t->form_open = t->form_open || !free;
    /* Right inside a table it opens and ends at once. */
    if (!in_table_itself(t) ||
        !(top_is(t, WORD_TABLE) || traits[top(t)->word] & TABLE_PART))
        push_word(t, WORD_FORM);
    return true;
}

static void enter_body(struct html_tree *t)
{
    close_at(t, 1);
    t->part = TREE_BODY;
}

static struct html_place start_frameset(struct html_tree *t,
                                        struct html_place place)
{
    place.ignored = t->part == TREE_BODY && !t->frameset_ok;
    if (place.ignored)
        return place;
    place.drops_body = t->part == TREE_BODY;
    close_at(t, 1);
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

static struct html_place start_html(struct html_tree *t,
                                    const struct html_start *tag)
{
    struct html_place place = {.word = tag->word, .space = HTML_SPACE};
    enum html_word w;

    if (place.word == WORD_IMAGE)
        place.word = WORD_IMG;
    w = place.word;
    if (t->part == TREE_FRAMESET || t->part == TREE_AFTER_FRAMESET)
        return start_in_frameset(t, place);
    if (w == WORD_FRAMESET && t->last[WORD_TEMPLATE] == 0)
        return start_frameset(t, place);
    if (t->part == TREE_HEAD && !(traits[w] & IN_HEAD) &&
        t->last[WORD_TEMPLATE] == 0)
        enter_body(t);
    if (traits[w] & SHOWS || (w == WORD_INPUT && !tag->hidden))
        t->frameset_ok = false;
    if (w == WORD_HTML || w == WORD_HEAD || w == WORD_BODY)
        return place;
    if (w == WORD_FRAME || w == WORD_FRAMESET ||
        (traits[w] & TABLE_PART && !start_table_part(t, w)) ||
        (w == WORD_FORM && !start_form(t))) {
        place.ignored = true;
        return place;
    }
    if (traits[w] & TABLE_PART || w == WORD_FORM)
        return place;
    make_room(t, w);
    place.state = content_state(w);
    t->in_raw = place.state != HTML_DATA && place.state != HTML_PLAINTEXT;
    if (place.state == HTML_DATA && !(traits[w] & EMPTY))
        push(t, open_of(w, tag->name, HTML_SPACE));
    return place;
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
    struct html_open e = open_of(tag->word, tag->name, space);

    e.flags = foreign_flags(space, tag);
    if (!tag->self_closing)
        push(t, e);
    return place;
}

/* Section 13.2.6, the dispatcher: is this start tag read by HTML's rules? */
static bool is_html_start(const struct html_tree *t,
                          const struct html_start *tag)
{
    const struct html_open *e = top(t);

    if (t->depth == 0 || e->space == HTML_SPACE || (e->flags & OPEN_HTML_INSIDE))
        return true;
    if (e->flags & OPEN_TEXT_INSIDE)
        return tag->word != WORD_MGLYPH && tag->word != WORD_MALIGNMARK;
    return e->space == MATH_SPACE && e->word == WORD_ANNOTATION_XML &&
           tag->word == WORD_SVG;
}

/* To where HTML may stand again. */
static void leave_foreign(struct html_tree *t)
{
    while (t->depth > 0 && top(t)->space != HTML_SPACE &&
           !(top(t)->flags & (OPEN_HTML_INSIDE | OPEN_TEXT_INSIDE)))
        pop(t);
}

struct html_place html_tree_start(struct html_tree *t,
                                  const struct html_start *tag)
{
    if (!is_html_start(t, tag)) {
        if (!(traits[tag->word] & LEAVES) &&
            !(tag->word == WORD_FONT && tag->font_looks))
            return start_foreign(t, tag, (enum html_space)top(t)->space);
        leave_foreign(t);
    }
    if ((tag->word == WORD_SVG || tag->word == WORD_MATH) &&
        t->part < TREE_FRAMESET) {
        if (t->part == TREE_HEAD && t->last[WORD_TEMPLATE] == 0)
            enter_body(t);
        return start_foreign(t, tag,
                             tag->word == WORD_SVG ? SVG_SPACE : MATH_SPACE);
    }
    return start_html(t, tag);
}

/* ---- end tags ------------------------------------------------------------ */

static void end_form(struct html_tree *t)
{
    unsigned place = find_in_scope(t, WORD_FORM, WORD_OTHER);

    if (t->last[WORD_TEMPLATE] > 0) {
        close_at(t, place);
        return;
    }
    t->form_open = false;
    if (place != NOWHERE)
        remove_at(t, place);
}

static void end_heading(struct html_tree *t)
{
    static const uint8_t words[] = {WORD_H1, WORD_H2, WORD_H3,
                                    WORD_H4, WORD_H5, WORD_H6};
    unsigned place = innermost(t, words, sizeof words);

    if (place >= t->scope)
        close_at(t, place);
}

static void end_item(struct html_tree *t)
{
    unsigned place = find_in_scope(t, WORD_LI, WORD_OL);

    if (place >= t->last[WORD_UL])
        close_at(t, place);
}

static void end_html(struct html_tree *t, const struct html_open *end)
{
    enum html_word w = (enum html_word)end->word;

    if (t->part == TREE_FRAMESET && w == WORD_FRAMESET && --t->framesets == 0)
        t->part = TREE_AFTER_FRAMESET;
    if (t->part >= TREE_FRAMESET || w == WORD_HTML || w == WORD_BODY ||
        w == WORD_HEAD)
        return;
    if (w == WORD_P)
        close_p(t);
    else if (w == WORD_BR)
        html_tree_text(t); /* it is a <br> */
    else if (w == WORD_LI)
        end_item(t);
    else if (w == WORD_FORM)
        end_form(t);
    else if (w == WORD_TEMPLATE)
        close_at(t, t->last[WORD_TEMPLATE]);
    else if (w == WORD_TABLE || traits[w] & TABLE_PART)
        close_at(t, find_in_table(t, w));
    else if (is_heading(w))
        end_heading(t);
    else if (traits[w] & FORMAT)
        adopt(t, end);
    else if (traits[w] & BLOCK)
        close_at(t, find_in_scope(t, w, WORD_OTHER));
    else
        end_other(t, end);
}

/* Section 13.2.6.5, any other end tag. False: HTML's rules decide. */
static bool end_foreign(struct html_tree *t, const struct html_open *end)
{
    for (unsigned place = t->depth; place > 0; place--) {
        const struct html_open *e = &t->stack[place];

        if (e->space == HTML_SPACE)
            return false;
        if (same_name(e, end)) {
            close_at(t, place);
            return true;
        }
    }
    return false;
}

void html_tree_end(struct html_tree *t, struct bytes name)
{
    struct html_open end = open_of(html_word_of(name), name, HTML_SPACE);

    if (t->in_raw) {
        t->in_raw = false;
        return;
    }
    if (t->depth > 0 && top(t)->space != HTML_SPACE) {
        if (end.word == WORD_P || end.word == WORD_BR)
            leave_foreign(t);
        else if (end_foreign(t, &end))
            return;
    }
    end_html(t, &end);
}

/* ---- the rest ------------------------------------------------------------ */

void html_tree_begin(struct html_tree *t)
{
    t->part = TREE_HEAD;
    t->form_open = false;
    t->frameset_ok = true;
    t->in_raw = false;
    t->framesets = 0;
    t->depth = 0;
    t->special = t->scope = 0;
    memset(t->last, 0, sizeof t->last);
}

void html_tree_text(struct html_tree *t)
{
    if (t->part == TREE_HEAD && t->last[WORD_TEMPLATE] == 0)
        enter_body(t);
    t->frameset_ok = false;
}

bool html_tree_has(const struct html_tree *t, enum html_word word)
{
    return t->last[word] > 0;
}

bool html_tree_in_foreign(const struct html_tree *t)
{
    return t->depth > 0 && top(t)->space != HTML_SPACE;
}

bool html_tree_is_in(const struct html_tree *t, enum html_word word,
                     enum html_space space)
{
    return t->depth > 0 && top(t)->word == word && top(t)->space == space;
}
