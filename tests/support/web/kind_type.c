/* SPDX-License-Identifier: MIT */
/*
 * kind_type.c - content types and encodings.
 *
 * Things that are not HTML contain text that looks like links; a crawler must
 * not follow any. HTML in other encodings has a link whose query is written in
 * the page's encoding (RULES L6), so the URL tells whether the page was decoded
 * correctly. Things come in pairs: n even is the page, n + 1 what its link
 * means.
 */
#include <string.h>

#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"
#include "tests/support/web/web_robots.h"

#define NO_LINK "see <a href=\"/decoy/type\">http://127.0.0.1/decoy</a>\n"

static const struct {
    const char *type;  /* NULL: no Content-Type at all */
    const char *body;  /* "@" stands for the path of n + 1, no query */
    const char *query; /* that the link means; NULL: no link */
} TYPES[] = {
    {"text/plain", NO_LINK, NULL},
    {"image/png", "\x89PNG\r\n\x1a\n" NO_LINK, NULL},
    {"application/pdf", "%PDF-1.4\n" NO_LINK, NULL},
    {"application/javascript", "document.write('" NO_LINK "')", NULL},
    {"text/css", "a { background: url(/decoy/css) } " NO_LINK, NULL},
    {"application/json", "{\"url\": \"/decoy/json\"}\n", NULL},
    {"application/octet-stream", NO_LINK, NULL},
    {"text/html; charset=iso-8859-1", "<a href=\"@?q=\xe9\">x</a>", "?q=%E9"},
    {"text/html", "<meta charset=windows-1252><a href='@?q=\x80'>x</a>",
     "?q=%80"},
    {"text/html", "<a href=@?q=\xe9>x</a>", "?q=%E9"},
    {"text/html; charset=Shift_JIS", "<a href=\"@?q=\x82\xa0\">x</a>",
     "?q=%82%A0"},
    {"text/html",
     "<meta http-equiv=content-type content='text/html; "
     "charset=euc-jp'><a href=\"@?q=\xa4\xa2\">x</a>",
     "?q=%A4%A2"},
    {"text/html; charset=\"utf-8\"", "<a href=\"@?q=\xc3\xa9\">x</a>",
     "?q=%C3%A9"},
    {"text/html; charset=iso-8859-1",
     "\xef\xbb\xbf<a href=\"@?q=\xc3\xa9\">x</a>", "?q=%C3%A9"},
    {"text/html; charset=iso-8859-1", "<a href='@?q=&#x20AC;&#x3042;'>x</a>",
     "?q=%80%26%2312354%3B"},
    {"text/html; charset=utf-16", "<a href='@?q=&#xE9;'>x</a>", "?q=%C3%A9"},
    {NULL, "<!DOCTYPE html><title>Untold</title><p>No type.</p>", NULL},
    {"application/xhtml+xml",
     "<html xmlns=\"http://www.w3.org/1999/xhtml\">"
     "<a href=\"@?q=x\">x</a></html>",
     "?q=x"},
};
#define TYPE_COUNT (sizeof TYPES / sizeof *TYPES)

static uint32_t type_count(const struct web *w)
{
    return web_has(w, PROFILE_TYPES) ? 2 * (uint32_t)TYPE_COUNT : 0;
}

static uint32_t type_host(const struct web *w, uint32_t n)
{
    return robots_open_host(w, web_dice(w, n / 2, 90));
}

static void add_path(const struct web *w, uint32_t n, struct buf *out)
{
    buf_addf(out, "/%s/type-t%u", web_word(web_dice(w, n, 91)), (unsigned)n);
}

static void type_path(const struct web *w, uint32_t n, struct buf *out)
{
    const char *query = TYPES[n / 2].query;

    add_path(w, n, out);
    if (n % 2 == 1 && query != NULL)
        buf_add_str(out, query);
}

static void type_links(const struct web *w, uint32_t n, struct links *out)
{
    if (n % 2 == 0 && TYPES[n / 2].query != NULL)
        links_add(out, (struct link){.to = web_id(w, KIND_TYPE, n + 1)});
}

/* ASCII as UTF-16, little end first, behind its byte order mark. */
static void to_utf16(struct buf *body)
{
    struct buf wide;

    buf_init(&wide, ANSWER_CEILING);
    buf_add_str(&wide, "\xff\xfe");
    for (size_t i = 0; i < body->len; i++) {
        buf_add_char(&wide, body->at[i]);
        buf_add_char(&wide, '\0');
    }
    buf_clear(body);
    buf_add_bytes(body, buf_bytes(&wide));
    buf_fini(&wide);
}

static void type_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    const char *type = TYPES[n / 2].type, *body = TYPES[n / 2].body;

    (void)rq;
    if (n % 2 == 1) {
        answer_text(an, 200, "text/html", "<p>Found.</p>\n");
        return;
    }
    for (const char *p = body; *p != '\0'; p++) {
        if (*p == '@')
            add_path(w, n + 1, &an->body);
        else
            buf_add_char(&an->body, *p);
    }
    if (type != NULL && strstr(type, "utf-16") != NULL)
        to_utf16(&an->body);
    answer_text(an, 200, type, "");
}

static struct expect type_expect(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_FETCH, 200, 1, 1};
}

const struct kind_ops kind_type = {
    .letter = 't',
    .shares = 1,
    .stride = 2,
    .count = type_count,
    .host = type_host,
    .path = type_path,
    .links = type_links,
    .answer = type_answer,
    .expect = type_expect,
};
