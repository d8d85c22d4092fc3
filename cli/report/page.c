/* SPDX-License-Identifier: MIT */
/* page.c - the beginning and end of our HTML pages. */
#include "cli/report/page.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/report/plot.h"

static const char page_style[] =
    ":root{color-scheme:light dark;--good:#1f7a4c;--bad:#b3263a;"
    "--panel:#f5f7fa}\n"
    "@media screen and (prefers-color-scheme:dark){"
    ":root{--good:#6fd09a;--bad:#f58a92;--panel:#1a2029}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--ground);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"DejaVu Sans\",sans-serif}\n"
    "main,footer{max-width:76rem;margin:0 auto;padding:1rem 1.25rem}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.2rem 0 .4rem}\n"
    "p{margin:.4rem 0;max-width:62rem}\n"
    ".soft,footer,dt,figcaption{color:var(--soft)}\n"
    ".lead{font-size:1.1rem}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}\n"
    ".good,.bad{font-weight:600}\n"
    ".figures{display:grid;gap:.75rem;margin:1rem 0;"
    "grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr))}\n"
    ".figures div{background:var(--panel);border-radius:.5rem;"
    "padding:.6rem .8rem}\n"
    "dt{font-size:.85rem;line-height:1.3}\n"
    "dd{margin:.1rem 0 0;font-size:1.25rem;font-weight:600;"
    "font-variant-numeric:tabular-nums}\n"
    ".plots{display:grid;gap:1.5rem;align-items:start;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr))}\n"
    "figure{margin:0;min-width:0;max-width:46rem}\n"
    "figcaption{font-size:.9rem;margin:.25rem 0 .5rem}\n"
    ".plot{display:block;width:100%;max-width:36rem;height:auto}\n";

static const char table_style[] =
    ".data{overflow:auto;max-height:15rem;border:1px solid var(--grid);"
    "border-radius:.4rem}\n"
    ".data.whole{max-height:none}\n"
    "table{border-collapse:collapse;width:100%;font-size:.85rem;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25rem .6rem;text-align:right;"
    "border-top:1px solid var(--grid);white-space:nowrap}\n"
    "thead th{position:sticky;top:0;background:var(--panel);border-top:0;"
    "font-weight:600;vertical-align:bottom;white-space:normal}\n"
    "th:first-child{text-align:left}\n"
    "tbody th{font-weight:400}\n"
    ".range{color:var(--soft)}\n"
    ".lost{margin:.5rem 0;padding-left:3.5rem;font-size:.9rem}\n"
    ".lost li{overflow-wrap:anywhere}\n"
    ".lost code{font-family:ui-monospace,\"DejaVu Sans Mono\",monospace}\n"
    "footer{font-size:.85rem;padding-bottom:2rem}\n"
    ":focus-visible{outline:2px solid var(--hue0)}\n"
    "@media print{body{font-size:10pt}main,footer{max-width:none;padding:0}"
    ".data{max-height:none;overflow:visible;border:0}"
    "thead th{position:static}"
    "figure,.figures div,tr{break-inside:avoid}h2{break-after:avoid}"
    ".plots{grid-template-columns:1fr 1fr}"
    "th,td{padding:.1rem .3rem;white-space:normal}"
    ".figures div{border:1px solid var(--grid)}}\n";

/* CSP Level 3, 6.7.3.2: the base64 form of a digest of the element's text. */
static void add_hash(struct buf *out, const struct buf *style)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned char text[EVP_MAX_MD_SIZE * 2];
    unsigned int len = 0;

    if (EVP_Digest(style->at, style->len, digest, &len, EVP_sha256(), NULL) !=
        1)
        return; /* the page then has no style */
    EVP_EncodeBlock(text, digest, (int)len);
    buf_addf(out, "'sha256-%s'", (const char *)text);
}

void page_text(struct buf *out, const char *text)
{
    format_html(out, bytes_of_str(text));
}

void page_bytes(struct buf *out, struct bytes s)
{
    format_html(out, s);
}

void page_begin(struct buf *out, const char *title)
{
    struct buf style;

    buf_init(&style, 65536);
    buf_addf(&style, "\n%s%s%s", plot_style(), page_style, table_style);
    buf_add_str(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
                     "<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" "
                     "content=\"default-src 'none'; style-src ");
    add_hash(out, &style);
    buf_add_str(out,
                "; base-uri 'none'; form-action 'none'\">\n"
                "<meta name=\"viewport\" "
                "content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    page_text(out, title);
    buf_add_str(out, "</title>\n<style>");
    buf_add_bytes(out, buf_bytes(&style));
    buf_add_str(out, "</style>\n</head>\n<body>\n<main>\n");
    buf_fini(&style);
}

void page_end(struct buf *out)
{
    char now[CLOCK_ISO_SIZE];

    clock_iso(now, clock_wall_ms());
    buf_addf(out,
             "</main>\n<footer>urlweir " URLWEIR_VERSION ", %s. One file: no "
             "script, nothing from outside.</footer>\n</body>\n</html>\n",
             now);
}

void page_figure(struct buf *out, const char *name, double value)
{
    buf_add_str(out, "<div><dt>");
    page_text(out, name);
    buf_add_str(out, "</dt><dd>");
    plot_number(out, value);
    buf_add_str(out, "</dd></div>\n");
}
