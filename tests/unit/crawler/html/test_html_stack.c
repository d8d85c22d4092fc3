/* SPDX-License-Identifier: MIT */
/* The stack of open elements, against a model that walks it. */
#include <stdlib.h>

#include "crawler/html/html_tree.h"
#include "tests/unit/unit.h"

static struct html_stack s;

/* ---- the model: what a walk from the innermost element would find -------- */

static bool is_html(unsigned place, enum html_word word)
{
    return s.stack[place].space == HTML_SPACE && s.stack[place].word == word;
}

static unsigned walk_scope(enum html_word word, enum html_word wall)
{
    for (unsigned place = s.depth; place > 0; place--) {
        if (is_html(place, word))
            return place;
        if ((s.stack[place].flags & OPEN_SCOPE) ||
            (wall != WORD_OTHER && is_html(place, wall)))
            return 0;
    }
    return 0;
}

static unsigned walk_table(enum html_word word)
{
    for (unsigned place = s.depth; place > 0; place--) {
        if (is_html(place, word))
            return place;
        if (is_html(place, WORD_TABLE) || is_html(place, WORD_TEMPLATE))
            return 0;
    }
    return 0;
}

static unsigned walk_special(void)
{
    unsigned place = s.depth;

    while (place > 0 && !(s.stack[place].flags & OPEN_SPECIAL))
        place--;
    return place;
}

static void check_agreement(void)
{
    static const uint8_t words[] = {WORD_P,  WORD_DIV,    WORD_TABLE,   WORD_TD,
                                    WORD_B,  WORD_BUTTON, WORD_OL,      WORD_LI,
                                    WORD_TR, WORD_OTHER,  WORD_TEMPLATE};
    unsigned innermost = 0;

    for (size_t i = 0; i < sizeof words; i++) {
        enum html_word w = (enum html_word)words[i];

        ck_assert_uint_eq(html_stack_in_scope(&s, w, WORD_OTHER),
                          walk_scope(w, WORD_OTHER));
        ck_assert_uint_eq(html_stack_in_scope(&s, w, WORD_BUTTON),
                          walk_scope(w, WORD_BUTTON));
        ck_assert_uint_eq(html_stack_in_table(&s, w), walk_table(w));
        for (unsigned place = 1; place <= s.depth; place++)
            if (is_html(place, w) && place > innermost)
                innermost = place;
    }
    ck_assert_uint_eq(html_stack_innermost(&s, words, sizeof words), innermost);
    ck_assert_uint_eq(s.special, walk_special());
}

static struct html_open random_element(void)
{
    static const char *const names[] = {"p",   "div",    "table", "td",
                                        "b",   "button", "ol",    "li",
                                        "tr",  "x-y",    "zz",    "template",
                                        "svg", "desc"};
    const char *name = names[random() % 14];
    struct bytes n = bytes_of_str(name);
    enum html_word w = html_word_of(n);
    struct html_open e;

    if (w != WORD_SVG && w != WORD_DESC)
        return html_open_of(w, n, HTML_SPACE);
    e = html_open_of(w, n, SVG_SPACE);
    if (w == WORD_DESC)
        e.flags = OPEN_SPECIAL | OPEN_SCOPE | OPEN_HTML_INSIDE;
    return e;
}

TEST(agrees_with_a_walk_after_any_changes)
{
    srandom(1);
    html_stack_clear(&s);
    for (int i = 0; i < 20000; i++) {
        long what = random() % 10;

        if (what < 6)
            html_stack_push(&s, random_element());
        else if (what < 8 && s.depth > 0)
            html_stack_pop(&s);
        else if (what == 8 && s.depth > 0)
            html_stack_remove(&s, 1 + (unsigned)random() % s.depth);
        else if (random() % 30 == 0)
            html_stack_close(&s, (unsigned)random() % (s.depth + 1));
        check_agreement();
    }
}
