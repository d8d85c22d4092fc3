/* SPDX-License-Identifier: MIT */
/* web_page.c - writes HTML pages of the web. */
#include "tests/support/web/web_page.h"

#include "tests/support/web/spell.h"

enum { DICE_SIZE = 3, DICE_BASE = 4, DICE_CODING = 5, DICE_LINK = 100000 };

#define SMALL_PAGE 600 /* octets of pages that are not ordinary ones */
#define OVERSHOOT  200 /* octets written past the mark, on average */

/* ---- the stock of text --------------------------------------------------- */

#define PARAGRAPHS 64

static struct {
    struct buf text;
    size_t at[PARAGRAPHS + 1];
} stock;

static void stock_sentence(struct buf *out, const struct web *w, uint64_t n)
{
    uint64_t d = web_dice(w, n, 1);
    unsigned words = 6 + (unsigned)(d % 12);

    for (unsigned i = 0; i < words; i++) {
        uint64_t roll = web_dice(w, n, 2 + i);
        const char *word = web_word(roll);

        if (i == 0) {
            buf_add_char(out, (char)(word[0] - 'a' + 'A'));
            word++;
        } else {
            buf_add_str(out, roll >> 8 & 7 ? " " : ", ");
        }
        if (roll >> 12 & 31)
            buf_add_str(out, word);
        else
            buf_addf(out, "<em class=\"term\">%s</em>", word);
    }
    buf_add_str(out, ". ");
}

/* Paragraphs of 150 to 700 octets in the elements pages are made of. */
static void stock_make(void)
{
    static const char *const OPEN[] = {"<p>",
                                       "<p class=\"lead\">",
                                       "<div class=\"card\"><p>",
                                       "<section><h2>Section</h2><p>",
                                       "<blockquote><p>",
                                       "<ul class=\"facts\"><li>",
                                       "<table><tr><td>",
                                       "<!-- part --><p>"};
    static const char *const CLOSE[] = {"</p>\n",
                                        "</p>\n",
                                        "</p></div>\n",
                                        "</p></section>\n",
                                        "</p></blockquote>\n",
                                        "</li><li>More &amp; more</li></ul>\n",
                                        "</td></tr></table>\n",
                                        "</p>\n"};
    struct web w = {.spec.seed = 1};

    buf_init(&stock.text, (size_t)1 << 20);
    for (unsigned i = 0; i < PARAGRAPHS; i++) {
        stock.at[i] = stock.text.len;
        buf_add_str(&stock.text, OPEN[i % 8]);
        for (unsigned s = 0; s < 2 + web_dice(&w, i, 0) % 5; s++)
            stock_sentence(&stock.text, &w, 1000 + i * 16 + s);
        buf_add_str(&stock.text, CLOSE[i % 8]);
    }
    stock.at[PARAGRAPHS] = stock.text.len;
}

struct bytes page_paragraph(uint64_t dice)
{
    size_t i = dice % PARAGRAPHS;

    if (stock.text.len == 0)
        stock_make();
    return bytes_of(stock.text.at + stock.at[i], stock.at[i + 1] - stock.at[i]);
}

/* ---- links --------------------------------------------------------------- */

/* The state of writing one page. */
struct writer {
    const struct web *w;
    uint32_t id;
    struct spell_base base;
    struct links links;
    struct buf *out;
};

static uint64_t link_dice(const struct writer *p, size_t i)
{
    return web_dice(p->w, p->id, DICE_LINK + i);
}

/* In profile variants a link may stand in any element that is followed. */
static enum element element_of(const struct writer *p, size_t i)
{
    const struct link *l = &p->links.at[i];
    uint64_t roll = link_dice(p, i) >> 40 & 63;

    if (l->element != ELEMENT_A || l->nofollow ||
        !web_has(p->w, PROFILE_VARIANTS))
        return l->element;
    switch (roll) {
    case 0:
    case 1:
        return ELEMENT_AREA;
    case 2:
        return ELEMENT_IFRAME;
    case 3:
    case 4:
        return ELEMENT_LINK;
    case 5:
        return ELEMENT_ALTERNATE;
    default: /* one refresh in a page at most */
        return i == 2 && roll < 32 ? ELEMENT_REFRESH : ELEMENT_A;
    }
}

static void add_attribute(struct writer *p, const char *name, size_t i)
{
    spell_attribute(p->w, &p->base, name, p->links.at[i].to, link_dice(p, i),
                    p->out);
}

static bool write_head_link(struct writer *p, size_t i)
{
    switch (element_of(p, i)) {
    case ELEMENT_LINK:
        buf_add_str(p->out, "<link rel=\"next\"");
        break;
    case ELEMENT_ALTERNATE:
        buf_add_str(p->out, "<link hreflang=de rel=\"alternate\"");
        break;
    case ELEMENT_REFRESH:
        buf_add_str(p->out, "<meta http-equiv=\"Refresh\" content=\"30; url=");
        spell_absolute(p->w, p->links.at[i].to, p->out);
        buf_add_str(p->out, "\">\n");
        return true;
    default:
        return false;
    }
    add_attribute(p, "href", i);
    buf_add_str(p->out, ">\n");
    return true;
}

static void write_body_link(struct writer *p, size_t i)
{
    static const char *const REL[] = {" rel=\"nofollow\"",
                                      " rel='external  NoFollow'",
                                      " rel=nofollow ", /* no slash behind */
                                      " rel=\"ugc\nnofollow\""};
    const struct link *l = &p->links.at[i];

    switch (element_of(p, i)) {
    case ELEMENT_AREA:
        buf_add_str(p->out, "<map name=m><area alt=\"\"");
        add_attribute(p, "href", i);
        buf_add_str(p->out, "></map>");
        return;
    case ELEMENT_IFRAME:
        buf_add_str(p->out, "<iframe");
        add_attribute(p, "src", i);
        buf_add_str(p->out, "></iframe>");
        return;
    case ELEMENT_A:
        break;
    default:
        return; /* stands in the head */
    }
    buf_add_str(p->out, "<a");
    if (l->rel)
        buf_add_str(p->out, REL[link_dice(p, i) >> 32 & 3]);
    add_attribute(p, "href", i);
    buf_add_char(p->out, '>');
    buf_add_str(p->out, web_word(link_dice(p, i) >> 50));
    buf_add_str(p->out, "</a>");
}

/* Things that look like links but are not: a crawler that requests one of them
 * has parsed the page wrongly. */
static void write_decoys(struct writer *p)
{
    static const char *const DECOYS[] = {
        "<!-- <a href=\"/decoy/comment\">old</a> -->\n",
        "<script>var s = '<a href=\"/decoy/script\">';</script>\n",
        "<style>a[href='/decoy/style'] { color: red }</style>\n",
        "<textarea><a href=\"/decoy/textarea\">x</a></textarea>\n",
        "<p title='<a href=\"/decoy/attribute\">'>Title</p>\n",
        "<a href=\"javascript:void(0)\">js</a> <a name=\"x\">here</a>\n",
        "<a href=\"mailto:a@b.invalid\">mail</a>\n",
        "<xmp><a href=\"/decoy/xmp\">x</a></xmp>\n",
        "<form action=\"/decoy/form\"><input name=q></form>\n",
        "<!--> <p>short comment</p> --!> <!-- x --!>\n",
        "<a href=\"http://[::bad/decoy\">invalid</a>\n"};

    buf_add_str(p->out, DECOYS[web_dice(p->w, p->id, 77) % 11]);
}

/* ---- the page ------------------------------------------------------------ */

static size_t page_size(const struct web *w, uint32_t id,
                        const struct page_options *o)
{
    uint64_t size = w->spec.size;

    if (o->size > 0)
        return o->size;
    if (web_kind(w, id) != KIND_PAGE)
        return SMALL_PAGE;
    size = size * 4 / 10 + web_dice(w, id, DICE_SIZE) % (size * 12 / 10);
    return size > OVERSHOOT ? size - OVERSHOOT : 0;
}

/* Relative links start from the page, or in profile variants from what a
 * <base> says, sometimes on another host. */
static void choose_base(struct writer *p)
{
    static const char *const PATHS[] = {"/", "/shelf/", "/shelf/row/x.html",
                                        "/shelf/?q=/a/b"};
    uint64_t d = web_dice(p->w, p->id, DICE_BASE);

    p->base.host = web_host(p->w, p->id);
    buf_init(&p->base.path, 4096);
    if (!web_has(p->w, PROFILE_VARIANTS) || d % 8 != 0) {
        web_path(p->w, p->id, &p->base.path);
        return;
    }
    if (d >> 4 & 1)
        p->base.host = (uint32_t)((d >> 8) % p->w->spec.hosts);
    buf_add_str(&p->base.path, PATHS[(d >> 5) % 4]);
    buf_add_str(p->out, "<base target=_top><base href=\"");
    web_origin(p->w, p->base.host, p->out);
    buf_add_str(p->out, PATHS[(d >> 5) % 4]);
    buf_add_str(p->out, "\"><base href=\"/decoy/second-base/\">\n");
}

static void write_head(struct writer *p, const struct page_options *o)
{
    uint64_t d = web_dice(p->w, p->id, 6);
    uint32_t asset;

    buf_add_str(p->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                        "<meta charset=\"utf-8\">\n<title>");
    buf_add_str(p->out, web_word(d));
    buf_add_char(p->out, ' ');
    buf_add_str(p->out, web_word(d >> 6));
    buf_add_char(p->out, ' ');
    buf_add_uint(p->out, p->id);
    buf_add_str(p->out, "</title>\n<meta name=\"viewport\" "
                        "content=\"width=device-width\">\n");
    if (o->head != NULL)
        buf_add_str(p->out, o->head);
    choose_base(p);
    if (p->base.host < p->w->spec.hosts) {
        asset = web_id(p->w, KIND_ASSET, p->base.host);
        buf_add_str(p->out, "<link rel=\"stylesheet\"");
        spell_attribute(p->w, &p->base, "href", asset, d >> 8, p->out);
        buf_add_str(p->out, ">\n");
    }
    buf_add_str(p->out, "<script>document.documentElement.className = 'js';"
                        "</script>\n");
    for (size_t i = 0; i < p->links.count; i++)
        (void)write_head_link(p, i);
    buf_add_str(p->out, "</head>\n");
}

static void write_nav(struct writer *p, size_t from, size_t to)
{
    buf_add_str(p->out, "<nav class=\"menu\"><ul>\n");
    for (size_t i = from; i < to; i++) {
        buf_add_str(p->out, "<li>");
        write_body_link(p, i);
        buf_add_str(p->out, "</li>\n");
    }
    buf_add_str(p->out, "</ul></nav>\n");
}

/* Paragraphs with links between them until the page has its size. */
static void write_main(struct writer *p, size_t from, size_t to, size_t end)
{
    uint64_t d = web_dice(p->w, p->id, 8);
    size_t left = end > p->out->len ? end - p->out->len : 0;
    size_t gap = left / (to - from + 1), next = p->out->len + gap;

    buf_add_str(p->out, "<main>\n");
    while (from < to || p->out->len < end) {
        if (p->out->len < end) {
            buf_add_bytes(p->out, page_paragraph(d));
            d++;
        }
        while (from < to && (p->out->len >= next || p->out->len >= end)) {
            buf_add_str(p->out, "<p>See also ");
            write_body_link(p, from++);
            buf_add_str(p->out, ".</p>\n");
            next += gap;
        }
        if (p->out->failed)
            return;
    }
    buf_add_str(p->out, "</main>\n");
}

void page_write(const struct web *w, uint32_t id, const struct page_options *o,
                struct buf *out)
{
    struct writer p = {.w = w, .id = id, .out = out};
    size_t end = out->len + page_size(w, id, o);
    size_t menu;

    links_init(&p.links);
    web_links(w, id, &p.links);
    menu = p.links.count < 1000 ? p.links.count / 3 : 0;
    write_head(&p, o);
    buf_add_str(out,
                "<body class=\"page\">\n<header><h1>A page</h1></header>\n");
    write_nav(&p, 0, menu);
    if (web_has(w, PROFILE_VARIANTS))
        write_decoys(&p);
    write_main(&p, menu, p.links.count, end);
    if (o->tail != NULL)
        buf_add_str(out, o->tail);
    buf_add_str(out, "<footer><p>End.</p></footer>\n</body>\n</html>\n");
    links_fini(&p.links);
    buf_fini(&p.base.path);
}

/* ---- answering with it --------------------------------------------------- */

/* In profile compress most pages come coded where the client takes it. */
static void encode(const struct web *w, uint32_t id, const struct request *rq,
                   struct answer *an)
{
    uint64_t roll = web_dice(w, id, DICE_CODING) % 4;

    if (!web_has(w, PROFILE_COMPRESS) || roll == 0)
        return;
    answer_field(an, "Vary", "Accept-Encoding");
    if (rq->deflate && roll == 1)
        answer_deflate(an);
    else if (rq->gzip)
        answer_gzip(an);
}

void answer_page_with(const struct web *w, uint32_t id,
                      const struct page_options *o, const struct request *rq,
                      struct answer *an)
{
    char tag[32];
    struct buf b;

    buf_init(&b, sizeof tag - 1);
    buf_addf(&b, "\"%u-%llx\"", (unsigned)id,
             (unsigned long long)(web_dice(w, id, 2) & 0xffffff));
    if (bytes_equal(rq->if_none_match, buf_bytes(&b))) {
        answer_status(an, 304);
    } else {
        page_write(w, id, o, &an->body);
        answer_status(an, 200);
        answer_field(an, "Content-Type", "text/html; charset=utf-8");
        encode(w, id, rq, an);
    }
    answer_field(an, "ETag", buf_str(&b));
    if (o->field != NULL)
        buf_add_str(&an->head, o->field);
    answer_done(an);
    buf_fini(&b);
}

void answer_page(const struct web *w, uint32_t id, const struct request *rq,
                 struct answer *an)
{
    static const struct page_options NONE = {0};

    answer_page_with(w, id, &NONE, rq, an);
}
