#!/usr/bin/env python3
"""Writes crawler/html/html_words.{h,c} and crawler/html/html_entities.c.

Run from the top of the tree when the lists below change. The character
references are those of the HTML standard, section 13.5, as Python carries
them in html.entities.html5. The words are the names of elements and
attributes that the pass in crawler/html/*.c must recognise; a hash without
collisions over them is searched for here, so that the lookup is one probe.
"""
import html.entities
import itertools
import random
import unicodedata

ELEMENTS = """
a abbr acronym address applet area article aside audio b base basefont bgsound
big blockquote body br button caption center cite code col colgroup data dd del
details dfn dialog dir div dl dt em embed fieldset figcaption figure font
footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i
iframe image img input ins isindex kbd keygen label legend li link listing main
map mark marquee math menu meta nav nobr noembed noframes noscript object ol
optgroup option p param picture plaintext pre q rb rp rt rtc ruby s samp script
search section select small source span strike strong style sub summary sup svg
table tbody td template textarea tfoot th thead title tr track tt u ul var
video wbr xmp
annotation-xml desc feimage foreignobject malignmark mglyph mi mn mo ms mtext
use
""".split()
ATTRIBUTES = """
action alt background cite color content data data-src data-srcset encoding
face href hreflang http-equiv imagesrcset lang name poster property rel size src
srcdoc srcset style type xlink:href xml:lang
clip-path cursor fill filter marker-end marker-mid marker-start mask stroke
""".split()
WORDS = sorted(set(ELEMENTS + ATTRIBUTES))
BITS = 11
MASK = (1 << 64) - 1


def pack(word):
    b = word.encode().ljust(16, b'\0')
    return int.from_bytes(b[:8], 'little'), int.from_bytes(b[8:], 'little')


def search():
    rnd = random.Random(1)
    while True:
        m = rnd.getrandbits(64) | 1
        n = rnd.getrandbits(64) | 1
        seen = {}
        for i, w in enumerate(WORDS):
            lo, hi = pack(w)
            h = ((lo * m + hi * n) & MASK) >> (64 - BITS)
            if h in seen:
                break
            seen[h] = i + 1
        else:
            return m, n, seen


def ident(word):
    return 'WORD_' + word.upper().replace('-', '_').replace(':', '_')


def literal(text):
    """A string of C: as it is where an editor shows it as its characters."""
    out = ''
    for c in text:
        if (unicodedata.category(c)[0] in 'LNPS' and c not in '"\\?'
                and unicodedata.bidirectional(c) not in ('R', 'AL', 'AN')):
            out += c
        else:
            out += ''.join('\\%03o' % octet for octet in c.encode())
    return '"' + out + '"'


def words():
    m, n, slots = search()
    with open('crawler/html/html_words.h', 'w') as f:
        f.write("""/*
 * html_words.h - names of elements and attributes that matter, as numbers.
 *
 * Written by tools/make-html-tables.py. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_WORDS_H
#define URLWEIR_CRAWLER_HTML_HTML_WORDS_H

#include "base/bytes.h"

enum html_word {
    WORD_OTHER = 0, /* none of the below */
""")
        for w in WORDS:
            f.write('    %s,\n' % ident(w))
        f.write("""    WORD_COUNT_
};

/* The word `name` is, ASCII case ignored. */
enum html_word html_word_of(struct bytes name);
/* Its lower-case text; "" for WORD_OTHER. Static. */
struct bytes html_word_text(enum html_word word);

#endif
""")
    with open('crawler/html/html_words.c', 'w') as f:
        f.write("""/* SPDX-License-Identifier: MIT */
/*
 * html_words.c - one probe in a table without collisions.
 *
 * Written by tools/make-html-tables.py: the two factors were searched for so
 * that every word falls into a slot of its own. A name is packed into sixteen
 * octets and lower-cased eight at a time; longer names are no word.
 */
#include "crawler/html/html_words.h"

#include <stdint.h>

#include "base/octet_block.h"

#define FACTOR_LOW  UINT64_C(0x%016x)
#define FACTOR_HIGH UINT64_C(0x%016x)
#define HASH_BITS   %d
#define WORD_LONGEST 16

struct word {
    char text[WORD_LONGEST];
    uint8_t len;
    uint64_t half[2]; /* its octets, the first lowest, and zeros */
};

static const struct word words[WORD_COUNT_] = {
    [WORD_OTHER] = {"", 0, {0, 0}},
""" % (m, n, BITS))
        for w in WORDS:
            f.write('    [%s] = {"%s", %d, {UINT64_C(0x%x), UINT64_C(0x%x)}},\n'
                    % ((ident(w), w, len(w)) + pack(w)))
        f.write('};\n\nstatic const uint8_t slots[1 << HASH_BITS] = {\n')
        for h in sorted(slots):
            f.write('    [%d] = %s,\n' % (h, ident(WORDS[slots[h] - 1])))
        f.write("""};

_Static_assert(WORD_COUNT_ <= UINT8_MAX, "a slot holds one octet");

/* ASCII upper case to lower case in each of eight octets. */
static uint64_t lower_octets(uint64_t v)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t ascii = ~v & (ones << 7);
    uint64_t low = v & ~(ones << 7);
    uint64_t from_a = low + ones * (0x80 - 'A');
    uint64_t past_z = low + ones * (0x80 - 'Z' - 1);

    return v | ((from_a & ~past_z & ascii) >> 2);
}

enum html_word html_word_of(struct bytes name)
{
    uint64_t half[2] = {0, 0};
    const struct word *w;
    unsigned slot;

    if (name.len == 0 || name.len > WORD_LONGEST)
        return WORD_OTHER;
    half[0] = lower_octets(octet_number(name.at, name.len < 8 ? name.len : 8));
    if (name.len > 8)
        half[1] = lower_octets(octet_number(name.at + 8, name.len - 8));
    slot = slots[(half[0] * FACTOR_LOW + half[1] * FACTOR_HIGH) >>
                 (64 - HASH_BITS)];
    w = &words[slot];
    return half[0] == w->half[0] && half[1] == w->half[1] &&
                   name.len == w->len
               ? (enum html_word)slot
               : WORD_OTHER;
}

struct bytes html_word_text(enum html_word word)
{
    return bytes_of(words[word].text, words[word].len);
}
""")


def entities():
    """Names and texts in turn, a space behind each, a string for each first letter."""
    table = html.entities.html5
    names = sorted(table, key=lambda s: s.encode())
    rows, size = [], 0
    for letter, group in itertools.groupby(names, key=lambda s: s[0]):
        line, lines, octets = '', [], 0
        for n in group:
            octets += len(n.encode()) + len(table[n].encode()) + 2
            for word in (n, literal(table[n])[1:-1]):
                if len(line) + len(word) + 1 > 73:
                    lines.append(line)
                    line = ''
                line += word + ' '
        assert octets < 4096, "more than ISO C grants a string"
        size += octets
        rows.append('\n'.join('    "%s"' % l for l in lines + [line]))
    with open('crawler/html/html_entities.c', 'w') as f:
        f.write("""/* SPDX-License-Identifier: MIT */
/*
 * html_entities.c - the named character references of the HTML standard,
 * section 13.5.
 *
 * Written by tools/make-html-tables.py, in the order of their octets, so that
 * the longest match is found by narrowing a range octet by octet. They are
 * packed into a string for each first letter, names and texts in turn with a
 * space behind each (no text is a space), and unpacked at first use.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "crawler/html/html.h"

static_assert(HTML_ENTITY_COUNT == %d, "html.h knows how many they are");

static const char *const packed[] = {
    /* clang-format off */
%s,
    /* clang-format on */
};

static struct html_entity entities[HTML_ENTITY_COUNT];

static void unpack(void)
{
    static char words[%d];
    char *to = words;
    size_t n = 0;

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        char *at = to;

        to = stpcpy(to, packed[i]);
        while (at < to) {
            const char **word =
                n %% 2 == 0 ? &entities[n / 2].name : &entities[n / 2].text;

            *word = at;
            at = strchr(at, ' ');
            *at++ = '\\0';
            n++;
        }
    }
}

const struct html_entity *html_entities(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, unpack);
    return entities;
}
""" % (len(names), ',\n'.join(rows), size + 1))


words()
entities()
