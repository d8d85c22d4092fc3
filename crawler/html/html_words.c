/* SPDX-License-Identifier: MIT */
/*
 * html_words.c - one probe in a table without collisions.
 *
 * Written by tools/make-html-tables.py: the two factors were searched for so
 * that every word falls into a slot of its own. A name is packed into sixteen
 * octets and lower-cased eight at a time; longer names are no word.
 */
#include "crawler/html/html_words.h"

#include <stdint.h>

#define FACTOR_LOW   UINT64_C(0xd6172adf654d479b)
#define FACTOR_HIGH  UINT64_C(0x2be893f456b30575)
#define HASH_BITS    11
#define WORD_LONGEST 16

struct word {
    char text[WORD_LONGEST]; /* filled up with zeros */
    uint8_t len;
};

static const struct word words[WORD_COUNT_] = {
    [WORD_OTHER] = {"", 0},
    [WORD_A] = {"a", 1},
    [WORD_ABBR] = {"abbr", 4},
    [WORD_ACRONYM] = {"acronym", 7},
    [WORD_ACTION] = {"action", 6},
    [WORD_ADDRESS] = {"address", 7},
    [WORD_ALT] = {"alt", 3},
    [WORD_ANNOTATION_XML] = {"annotation-xml", 14},
    [WORD_APPLET] = {"applet", 6},
    [WORD_AREA] = {"area", 4},
    [WORD_ARTICLE] = {"article", 7},
    [WORD_ASIDE] = {"aside", 5},
    [WORD_AUDIO] = {"audio", 5},
    [WORD_B] = {"b", 1},
    [WORD_BASE] = {"base", 4},
    [WORD_BASEFONT] = {"basefont", 8},
    [WORD_BGSOUND] = {"bgsound", 7},
    [WORD_BIG] = {"big", 3},
    [WORD_BLOCKQUOTE] = {"blockquote", 10},
    [WORD_BODY] = {"body", 4},
    [WORD_BR] = {"br", 2},
    [WORD_BUTTON] = {"button", 6},
    [WORD_CAPTION] = {"caption", 7},
    [WORD_CENTER] = {"center", 6},
    [WORD_CITE] = {"cite", 4},
    [WORD_CODE] = {"code", 4},
    [WORD_COL] = {"col", 3},
    [WORD_COLGROUP] = {"colgroup", 8},
    [WORD_COLOR] = {"color", 5},
    [WORD_CONTENT] = {"content", 7},
    [WORD_DATA] = {"data", 4},
    [WORD_DATA_SRC] = {"data-src", 8},
    [WORD_DATA_SRCSET] = {"data-srcset", 11},
    [WORD_DD] = {"dd", 2},
    [WORD_DEL] = {"del", 3},
    [WORD_DESC] = {"desc", 4},
    [WORD_DETAILS] = {"details", 7},
    [WORD_DFN] = {"dfn", 3},
    [WORD_DIALOG] = {"dialog", 6},
    [WORD_DIR] = {"dir", 3},
    [WORD_DIV] = {"div", 3},
    [WORD_DL] = {"dl", 2},
    [WORD_DT] = {"dt", 2},
    [WORD_EM] = {"em", 2},
    [WORD_EMBED] = {"embed", 5},
    [WORD_ENCODING] = {"encoding", 8},
    [WORD_FACE] = {"face", 4},
    [WORD_FIELDSET] = {"fieldset", 8},
    [WORD_FIGCAPTION] = {"figcaption", 10},
    [WORD_FIGURE] = {"figure", 6},
    [WORD_FONT] = {"font", 4},
    [WORD_FOOTER] = {"footer", 6},
    [WORD_FOREIGNOBJECT] = {"foreignobject", 13},
    [WORD_FORM] = {"form", 4},
    [WORD_FRAME] = {"frame", 5},
    [WORD_FRAMESET] = {"frameset", 8},
    [WORD_H1] = {"h1", 2},
    [WORD_H2] = {"h2", 2},
    [WORD_H3] = {"h3", 2},
    [WORD_H4] = {"h4", 2},
    [WORD_H5] = {"h5", 2},
    [WORD_H6] = {"h6", 2},
    [WORD_HEAD] = {"head", 4},
    [WORD_HEADER] = {"header", 6},
    [WORD_HGROUP] = {"hgroup", 6},
    [WORD_HR] = {"hr", 2},
    [WORD_HREF] = {"href", 4},
    [WORD_HREFLANG] = {"hreflang", 8},
    [WORD_HTML] = {"html", 4},
    [WORD_HTTP_EQUIV] = {"http-equiv", 10},
    [WORD_I] = {"i", 1},
    [WORD_IFRAME] = {"iframe", 6},
    [WORD_IMAGE] = {"image", 5},
    [WORD_IMG] = {"img", 3},
    [WORD_INPUT] = {"input", 5},
    [WORD_INS] = {"ins", 3},
    [WORD_ISINDEX] = {"isindex", 7},
    [WORD_KBD] = {"kbd", 3},
    [WORD_KEYGEN] = {"keygen", 6},
    [WORD_LABEL] = {"label", 5},
    [WORD_LANG] = {"lang", 4},
    [WORD_LEGEND] = {"legend", 6},
    [WORD_LI] = {"li", 2},
    [WORD_LINK] = {"link", 4},
    [WORD_LISTING] = {"listing", 7},
    [WORD_MAIN] = {"main", 4},
    [WORD_MALIGNMARK] = {"malignmark", 10},
    [WORD_MAP] = {"map", 3},
    [WORD_MARK] = {"mark", 4},
    [WORD_MARQUEE] = {"marquee", 7},
    [WORD_MATH] = {"math", 4},
    [WORD_MENU] = {"menu", 4},
    [WORD_META] = {"meta", 4},
    [WORD_MGLYPH] = {"mglyph", 6},
    [WORD_MI] = {"mi", 2},
    [WORD_MN] = {"mn", 2},
    [WORD_MO] = {"mo", 2},
    [WORD_MS] = {"ms", 2},
    [WORD_MTEXT] = {"mtext", 5},
    [WORD_NAME] = {"name", 4},
    [WORD_NAV] = {"nav", 3},
    [WORD_NOBR] = {"nobr", 4},
    [WORD_NOEMBED] = {"noembed", 7},
    [WORD_NOFRAMES] = {"noframes", 8},
    [WORD_NOSCRIPT] = {"noscript", 8},
    [WORD_OBJECT] = {"object", 6},
    [WORD_OL] = {"ol", 2},
    [WORD_OPTGROUP] = {"optgroup", 8},
    [WORD_OPTION] = {"option", 6},
    [WORD_P] = {"p", 1},
    [WORD_PARAM] = {"param", 5},
    [WORD_PICTURE] = {"picture", 7},
    [WORD_PLAINTEXT] = {"plaintext", 9},
    [WORD_POSTER] = {"poster", 6},
    [WORD_PRE] = {"pre", 3},
    [WORD_PROPERTY] = {"property", 8},
    [WORD_Q] = {"q", 1},
    [WORD_RB] = {"rb", 2},
    [WORD_REL] = {"rel", 3},
    [WORD_RP] = {"rp", 2},
    [WORD_RT] = {"rt", 2},
    [WORD_RTC] = {"rtc", 3},
    [WORD_RUBY] = {"ruby", 4},
    [WORD_S] = {"s", 1},
    [WORD_SAMP] = {"samp", 4},
    [WORD_SCRIPT] = {"script", 6},
    [WORD_SEARCH] = {"search", 6},
    [WORD_SECTION] = {"section", 7},
    [WORD_SELECT] = {"select", 6},
    [WORD_SIZE] = {"size", 4},
    [WORD_SMALL] = {"small", 5},
    [WORD_SOURCE] = {"source", 6},
    [WORD_SPAN] = {"span", 4},
    [WORD_SRC] = {"src", 3},
    [WORD_SRCSET] = {"srcset", 6},
    [WORD_STRIKE] = {"strike", 6},
    [WORD_STRONG] = {"strong", 6},
    [WORD_STYLE] = {"style", 5},
    [WORD_SUB] = {"sub", 3},
    [WORD_SUMMARY] = {"summary", 7},
    [WORD_SUP] = {"sup", 3},
    [WORD_SVG] = {"svg", 3},
    [WORD_TABLE] = {"table", 5},
    [WORD_TBODY] = {"tbody", 5},
    [WORD_TD] = {"td", 2},
    [WORD_TEMPLATE] = {"template", 8},
    [WORD_TEXTAREA] = {"textarea", 8},
    [WORD_TFOOT] = {"tfoot", 5},
    [WORD_TH] = {"th", 2},
    [WORD_THEAD] = {"thead", 5},
    [WORD_TITLE] = {"title", 5},
    [WORD_TR] = {"tr", 2},
    [WORD_TRACK] = {"track", 5},
    [WORD_TT] = {"tt", 2},
    [WORD_TYPE] = {"type", 4},
    [WORD_U] = {"u", 1},
    [WORD_UL] = {"ul", 2},
    [WORD_VAR] = {"var", 3},
    [WORD_VIDEO] = {"video", 5},
    [WORD_WBR] = {"wbr", 3},
    [WORD_XLINK_HREF] = {"xlink:href", 10},
    [WORD_XMP] = {"xmp", 3},
};

static const uint8_t slots[1 << HASH_BITS] = {
    [6] = WORD_BASEFONT,
    [7] = WORD_HEADER,
    [13] = WORD_AUDIO,
    [50] = WORD_INS,
    [117] = WORD_NOSCRIPT,
    [121] = WORD_TD,
    [143] = WORD_SRC,
    [202] = WORD_KBD,
    [208] = WORD_SVG,
    [215] = WORD_CONTENT,
    [226] = WORD_MN,
    [235] = WORD_MATH,
    [246] = WORD_A,
    [259] = WORD_DT,
    [267] = WORD_BASE,
    [301] = WORD_STYLE,
    [302] = WORD_OPTION,
    [303] = WORD_FRAMESET,
    [308] = WORD_TITLE,
    [328] = WORD_DETAILS,
    [330] = WORD_NAME,
    [355] = WORD_S,
    [356] = WORD_SUB,
    [383] = WORD_MTEXT,
    [386] = WORD_SCRIPT,
    [411] = WORD_MO,
    [421] = WORD_RB,
    [440] = WORD_HREF,
    [451] = WORD_STRIKE,
    [456] = WORD_DIR,
    [495] = WORD_APPLET,
    [499] = WORD_SIZE,
    [505] = WORD_ADDRESS,
    [506] = WORD_STRONG,
    [514] = WORD_TEXTAREA,
    [536] = WORD_ENCODING,
    [539] = WORD_ACTION,
    [541] = WORD_SMALL,
    [559] = WORD_BR,
    [576] = WORD_DFN,
    [596] = WORD_HR,
    [621] = WORD_TRACK,
    [633] = WORD_NOEMBED,
    [641] = WORD_PARAM,
    [656] = WORD_ALT,
    [668] = WORD_TR,
    [670] = WORD_BUTTON,
    [675] = WORD_EM,
    [692] = WORD_BODY,
    [701] = WORD_ASIDE,
    [729] = WORD_DATA_SRCSET,
    [733] = WORD_HGROUP,
    [746] = WORD_HREFLANG,
    [755] = WORD_META,
    [777] = WORD_CAPTION,
    [784] = WORD_LABEL,
    [808] = WORD_PROPERTY,
    [815] = WORD_MARK,
    [820] = WORD_IFRAME,
    [822] = WORD_LANG,
    [825] = WORD_DL,
    [834] = WORD_SRCSET,
    [836] = WORD_H1,
    [843] = WORD_TABLE,
    [849] = WORD_RTC,
    [856] = WORD_ISINDEX,
    [859] = WORD_DESC,
    [863] = WORD_TH,
    [880] = WORD_OPTGROUP,
    [920] = WORD_EMBED,
    [925] = WORD_FOREIGNOBJECT,
    [968] = WORD_RP,
    [981] = WORD_WBR,
    [983] = WORD_DATA,
    [1022] = WORD_H2,
    [1025] = WORD_Q,
    [1039] = WORD_TT,
    [1042] = WORD_MAIN,
    [1061] = WORD_SUP,
    [1063] = WORD_ARTICLE,
    [1064] = WORD_ANNOTATION_XML,
    [1071] = WORD_INPUT,
    [1089] = WORD_NAV,
    [1111] = WORD_FOOTER,
    [1114] = WORD_SPAN,
    [1131] = WORD_VAR,
    [1132] = WORD_THEAD,
    [1139] = WORD_FORM,
    [1149] = WORD_LEGEND,
    [1152] = WORD_MS,
    [1155] = WORD_REL,
    [1178] = WORD_POSTER,
    [1182] = WORD_ACRONYM,
    [1207] = WORD_H3,
    [1209] = WORD_HTTP_EQUIV,
    [1217] = WORD_MALIGNMARK,
    [1219] = WORD_TFOOT,
    [1233] = WORD_OL,
    [1248] = WORD_SEARCH,
    [1254] = WORD_TBODY,
    [1261] = WORD_LINK,
    [1269] = WORD_UL,
    [1276] = WORD_HEAD,
    [1297] = WORD_FIGCAPTION,
    [1306] = WORD_DIALOG,
    [1346] = WORD_XLINK_HREF,
    [1347] = WORD_MI,
    [1348] = WORD_PLAINTEXT,
    [1361] = WORD_P,
    [1376] = WORD_MARQUEE,
    [1390] = WORD_DD,
    [1392] = WORD_H4,
    [1414] = WORD_MAP,
    [1450] = WORD_BIG,
    [1478] = WORD_CODE,
    [1494] = WORD_SELECT,
    [1505] = WORD_FIELDSET,
    [1540] = WORD_BLOCKQUOTE,
    [1541] = WORD_FIGURE,
    [1550] = WORD_TEMPLATE,
    [1572] = WORD_NOFRAMES,
    [1573] = WORD_IMAGE,
    [1578] = WORD_H5,
    [1589] = WORD_SUMMARY,
    [1594] = WORD_OBJECT,
    [1630] = WORD_FACE,
    [1660] = WORD_I,
    [1672] = WORD_MENU,
    [1682] = WORD_LI,
    [1701] = WORD_DATA_SRC,
    [1709] = WORD_RT,
    [1732] = WORD_U,
    [1747] = WORD_TYPE,
    [1753] = WORD_DEL,
    [1757] = WORD_CITE,
    [1763] = WORD_H6,
    [1777] = WORD_MGLYPH,
    [1787] = WORD_LISTING,
    [1792] = WORD_BGSOUND,
    [1806] = WORD_ABBR,
    [1828] = WORD_DIV,
    [1834] = WORD_PRE,
    [1841] = WORD_COLOR,
    [1893] = WORD_IMG,
    [1894] = WORD_COL,
    [1898] = WORD_RUBY,
    [1905] = WORD_NOBR,
    [1914] = WORD_PICTURE,
    [1928] = WORD_SAMP,
    [1929] = WORD_KEYGEN,
    [1935] = WORD_SECTION,
    [1940] = WORD_FRAME,
    [1958] = WORD_B,
    [1962] = WORD_SOURCE,
    [1969] = WORD_CENTER,
    [1974] = WORD_COLGROUP,
    [1989] = WORD_HTML,
    [1998] = WORD_XMP,
    [2032] = WORD_VIDEO,
    [2037] = WORD_FONT,
    [2043] = WORD_AREA,
};

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

/* One to eight octets as a number, the first of them lowest. Two loads that
 * overlap are several times faster than a copy of unknown length. */
static uint64_t load_octets(const char *p, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t whole = 0;
    uint32_t a4, b4;
    uint16_t a2, b2;

    if (n == 8) {
        memcpy(&whole, p, 8);
        return whole;
    }
    if (n >= 4) {
        memcpy(&a4, p, 4);
        memcpy(&b4, p + n - 4, 4);
        return a4 | (uint64_t)b4 << (8 * (n - 4));
    }
    if (n >= 2) {
        memcpy(&a2, p, 2);
        memcpy(&b2, p + n - 2, 2);
        return a2 | (uint64_t)b2 << (8 * (n - 2));
    }
    return (unsigned char)*p;
#else
    uint64_t whole = 0;

    while (n-- > 0)
        whole = whole << 8 | (unsigned char)p[n];
    return whole;
#endif
}

enum html_word html_word_of(struct bytes name)
{
    uint64_t half[2] = {0, 0}, text[2];
    enum html_word word;

    if (name.len == 0 || name.len > WORD_LONGEST)
        return WORD_OTHER;
    half[0] = lower_octets(load_octets(name.at, name.len < 8 ? name.len : 8));
    if (name.len > 8)
        half[1] = lower_octets(load_octets(name.at + 8, name.len - 8));
    word =
        (enum html_word)slots[(half[0] * FACTOR_LOW + half[1] * FACTOR_HIGH) >>
                              (64 - HASH_BITS)];
    text[0] = load_octets(words[word].text, 8);
    text[1] = load_octets(words[word].text + 8, 8);
    return half[0] == text[0] && half[1] == text[1] &&
                   name.len == words[word].len
               ? word
               : WORD_OTHER;
}

struct bytes html_word_text(enum html_word word)
{
    return bytes_of(words[word].text, words[word].len);
}
