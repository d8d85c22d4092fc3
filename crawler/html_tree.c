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

#define NOWHERE SIZE_MAX

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

static void pop_to(struct html_tree *t, size_t depth)
{
    while (t->depth > depth) {
        const struct html_open *e = &t->stack[--t->depth];

        if (e->space == HTML_SPACE)
            t->open[e->word]--;
    }
}

static void push(struct html_tree *t, struct html_open e)
{
    if (t->depth == HTML_DEPTH_MOST)
        pop_to(t, HTML_DEPTH_MOST - 1);
    if (e.space == HTML_SPACE) {
        unsigned tr = traits[e.word];

        t->open[e.word]++;
        e.flags = (uint8_t)(((tr & SPECIAL) ? OPEN_SPECIAL : 0) |
                            ((tr & SCOPE) ? OPEN_SCOPE : 0));
    }
    t->stack[t->depth++] = e;
}

static void push_word(struct html_tree *t, enum html_word word)
{
    push(t, open_of(word, html_word_text(word), HTML_SPACE));
}

static void remove_at(struct html_tree *t, size_t i)
{
    t->open[t->stack[i].word]--;
    memmove(&t->stack[i], &t->stack[i + 1],
            (--t->depth - i) * sizeof *t->stack);
}

static const struct html_open *top(const struct html_tree *t)
{
    return t->depth > 0 ? &t->stack[t->depth - 1] : NULL;
}

static bool top_is(const struct html_tree *t, enum html_word word)
{
    return t->depth > 0 && top(t)->space == HTML_SPACE && top(t)->word == word;
}

static bool is_heading(unsigned word)
{
    return word >= WORD_H1 && word <= WORD_H6;
}

/* Where `word` is open in scope, which `wall` and `wall2` end as well, or
 * NOWHERE. */
static size_t find_in_scope(const struct html_tree *t, enum html_word word,
                            enum html_word wall, enum html_word wall2)
{
    if (t->open[word] == 0)
        return NOWHERE;
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space == HTML_SPACE && e->word == word)
            return i;
        if (e->flags & OPEN_SCOPE)
            return NOWHERE;
        if (e->space == HTML_SPACE && e->word != WORD_OTHER &&
            (e->word == wall || e->word == wall2))
            return NOWHERE;
    }
    return NOWHERE;
}

static size_t find_in_table(const struct html_tree *t, enum html_word word)
{
    if (t->open[word] == 0)
        return NOWHERE;
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space != HTML_SPACE)
            continue;
        if (e->word == word)
            return i;
        if (e->word == WORD_TABLE || e->word == WORD_TEMPLATE)
            return NOWHERE;
    }
    return NOWHERE;
}

static void close_at(struct html_tree *t, size_t i)
{
    if (i != NOWHERE)
        pop_to(t, i);
}

static void close_p(struct html_tree *t)
{
    close_at(t, find_in_scope(t, WORD_P, WORD_BUTTON, WORD_OTHER));
}

/* ---- start tags in HTML -------------------------------------------------- */

/* An open li (dd, dt) ends where the next begins. */
static void close_item(struct html_tree *t, enum html_word a, enum html_word b)
{
    if (t->open[a] == 0 && t->open[b] == 0)
        return;
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space == HTML_SPACE && (e->word == a || e->word == b)) {
            pop_to(t, i);
            return;
        }
        if ((e->flags & OPEN_SPECIAL) &&
            !(e->space == HTML_SPACE &&
              (e->word == WORD_ADDRESS || e->word == WORD_DIV ||
               e->word == WORD_P)))
            return;
    }
}

/* Section 13.2.6.4.7, any other end tag. */
static void end_other(struct html_tree *t, const struct html_open *end)
{
    if (t->open[end->word] == 0)
        return;
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space == HTML_SPACE && same_name(e, end)) {
            pop_to(t, i);
            return;
        }
        if (e->flags & OPEN_SPECIAL)
            return;
    }
}

/* The adoption agency, seen from the stack: without a special element inside,
 * the formatting element ends with all that is in it; else it leaves the stack
 * and the innermost special element is the current one. */
static void adopt(struct html_tree *t, const struct html_open *end)
{
    size_t i =
        find_in_scope(t, (enum html_word)end->word, WORD_OTHER, WORD_OTHER);
    size_t inner;

    if (i == NOWHERE) {
        end_other(t, end);
        return;
    }
    for (inner = t->depth; --inner > i;)
        if (t->stack[inner].flags & OPEN_SPECIAL)
            break;
    if (inner == i) {
        pop_to(t, i);
        return;
    }
    pop_to(t, inner + 1);
    remove_at(t, i);
}

/* The innermost table's own content is being read, not that of its cells. */
static bool in_table_itself(const struct html_tree *t)
{
    if (t->open[WORD_TABLE] == 0)
        return false;
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space != HTML_SPACE)
            continue;
        if (e->word == WORD_TABLE)
            return true;
        if (e->word == WORD_TD || e->word == WORD_TH ||
            e->word == WORD_CAPTION || e->word == WORD_TEMPLATE)
            return false;
    }
    return false;
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
    if (t->open[WORD_TABLE] == 0 && t->open[WORD_TEMPLATE] == 0)
        return false;
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space == HTML_SPACE &&
            (e->word == WORD_TABLE || e->word == WORD_TEMPLATE ||
             (section && is_section(e->word)) || (row && e->word == WORD_TR))) {
            pop_to(t, i + 1);
            return true;
        }
    }
    return false;
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
    const struct html_open a =
        open_of(WORD_A, html_word_text(WORD_A), HTML_SPACE);

    if (w == WORD_LI)
        close_item(t, WORD_LI, WORD_LI);
    else if (w == WORD_DD || w == WORD_DT)
        close_item(t, WORD_DD, WORD_DT);
    else if (w == WORD_TABLE && in_table_itself(t))
        close_at(t, find_in_table(t, WORD_TABLE));
    else if (w == WORD_BUTTON)
        close_at(t, find_in_scope(t, w, WORD_OTHER, WORD_OTHER));
    else if (w == WORD_A && t->open[WORD_A] > 0 &&
             find_in_scope(t, WORD_A, WORD_OTHER, WORD_OTHER) != NOWHERE)
        adopt(t, &a);
    else if ((w == WORD_OPTION || w == WORD_OPTGROUP) && top_is(t, WORD_OPTION))
        pop_to(t, t->depth - 1);
    if (traits[w] & CLOSES_P)
        close_p(t);
    if (is_heading(w) && t->depth > 0 && top(t)->space == HTML_SPACE &&
        is_heading(top(t)->word))
        pop_to(t, t->depth - 1);
}

/* False: a form in a form. */
static bool start_form(struct html_tree *t)
{
    bool free = t->open[WORD_TEMPLATE] > 0;

    if (t->form_open && !free)
        return false;
    close_p(t);
    t->form_open = t->form_open || !free;
    if (!in_table_itself(t) ||
        !(traits[top(t)->word] & TABLE_PART || top_is(t, WORD_TABLE)))
        push_word(t, WORD_FORM);
    return true;
}

static void enter_body(struct html_tree *t)
{
    pop_to(t, 0);
    t->part = TREE_BODY;
}

static struct html_place start_frameset(struct html_tree *t,
                                        struct html_place place)
{
    place.ignored = t->part == TREE_BODY && !t->frameset_ok;
    if (place.ignored)
        return place;
    place.drops_body = t->part == TREE_BODY;
    pop_to(t, 0);
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
    if (w == WORD_FRAMESET && t->open[WORD_TEMPLATE] == 0)
        return start_frameset(t, place);
    if (t->part == TREE_HEAD && !(traits[w] & IN_HEAD) &&
        t->open[WORD_TEMPLATE] == 0)
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

    if (e == NULL || e->space == HTML_SPACE || (e->flags & OPEN_HTML_INSIDE))
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
        pop_to(t, t->depth - 1);
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
        if (t->part == TREE_HEAD && t->open[WORD_TEMPLATE] == 0)
            enter_body(t);
        return start_foreign(t, tag,
                             tag->word == WORD_SVG ? SVG_SPACE : MATH_SPACE);
    }
    return start_html(t, tag);
}

/* ---- end tags ------------------------------------------------------------ */

static void end_form(struct html_tree *t)
{
    size_t i = find_in_scope(t, WORD_FORM, WORD_OTHER, WORD_OTHER);

    if (t->open[WORD_TEMPLATE] > 0) {
        close_at(t, i);
        return;
    }
    t->form_open = false;
    if (i != NOWHERE)
        remove_at(t, i);
}

static void end_heading(struct html_tree *t)
{
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space == HTML_SPACE && is_heading(e->word)) {
            pop_to(t, i);
            return;
        }
        if (e->flags & OPEN_SCOPE)
            return;
    }
}

static void end_template(struct html_tree *t)
{
    if (t->open[WORD_TEMPLATE] == 0)
        return;
    while (!top_is(t, WORD_TEMPLATE))
        pop_to(t, t->depth - 1);
    pop_to(t, t->depth - 1);
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
        close_at(t, find_in_scope(t, w, WORD_OL, WORD_UL));
    else if (w == WORD_FORM)
        end_form(t);
    else if (w == WORD_TEMPLATE)
        end_template(t);
    else if (w == WORD_TABLE || traits[w] & TABLE_PART)
        close_at(t, find_in_table(t, w));
    else if (is_heading(w))
        end_heading(t);
    else if (traits[w] & FORMAT)
        adopt(t, end);
    else if (traits[w] & BLOCK)
        close_at(t, find_in_scope(t, w, WORD_OTHER, WORD_OTHER));
    else
        end_other(t, end);
}

/* Section 13.2.6.5, any other end tag. False: HTML's rules decide. */
static bool end_foreign(struct html_tree *t, const struct html_open *end)
{
    for (size_t i = t->depth; i-- > 0;) {
        const struct html_open *e = &t->stack[i];

        if (e->space == HTML_SPACE)
            return false;
        if (same_name(e, end)) {
            pop_to(t, i);
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
    memset(t->open, 0, sizeof t->open);
}

void html_tree_text(struct html_tree *t)
{
    if (t->part == TREE_HEAD && t->open[WORD_TEMPLATE] == 0)
        enter_body(t);
    t->frameset_ok = false;
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
