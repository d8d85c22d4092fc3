/* SPDX-License-Identifier: MIT */
/*
 * http_dashboard.c - the files of the dashboard and their security headers.
 *
 * The policy has no hash and no 'unsafe-inline': scripts and styles come only
 * from files of this origin, and answers of the API cannot be used as scripts
 * (nosniff). Trusted types forbid turning any string into markup, so that a URL
 * or a title from the web cannot become markup, whatever the page's code does.
 *
 * Sources: W3C, Content Security Policy Level 3 and Trusted Types; WHATWG HTML,
 * 7.1.3 (opener policies); RFC 9110, 8.8.3 and 13.1.2 (ETag, If-None-Match).
 */
#include "service/http/http_dashboard.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/logger.h"
#include "base/mem.h"
#include "service/http/dashboard_files.h"
#include "service/http/http_server_impl.h"

static const struct file {
    const char *name, *type;
    struct bytes (*content)(void);
} files[] = {
    {"", "text/html; charset=utf-8", dashboard_index_html},
    {"dashboard.css", "text/css; charset=utf-8", dashboard_dashboard_css},
    {"main.js", "text/javascript; charset=utf-8", dashboard_main_js},
    {"api.js", "text/javascript; charset=utf-8", dashboard_api_js},
    {"dom.js", "text/javascript; charset=utf-8", dashboard_dom_js},
    {"chart.js", "text/javascript; charset=utf-8", dashboard_chart_js},
    {"crawl.js", "text/javascript; charset=utf-8", dashboard_crawl_js},
    {"served.js", "text/javascript; charset=utf-8", dashboard_served_js},
    {"shards.js", "text/javascript; charset=utf-8", dashboard_shards_js},
    {"tables.js", "text/javascript; charset=utf-8", dashboard_tables_js},
    {"control.js", "text/javascript; charset=utf-8", dashboard_control_js},
};

/* `no-cache`: may be stored, but must be revalidated each time (RFC 9111,
 * 5.2.2.4). */
static const struct {
    const char *name, *value;
} headers[] = {
    {"Cache-Control", "no-cache"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; "
     "img-src data:; connect-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy",
     "camera=(), display-capture=(), geolocation=(), microphone=()"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "DENY"},
};

static const struct file *find_file(const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

/* Does an If-None-Match header, a list, name this ETag? Weak comparison. */
static bool is_named(struct bytes list, const char *etag)
{
    return list.len > 0 &&
           (bytes_is(bytes_trim(list), "*") ||
            memmem(list.at, list.len, etag, strlen(etag)) != NULL);
}

void http_ask_dashboard(struct http_request *r)
{
    const struct file *f = find_file(r->name != NULL ? r->name : "");
    struct http_page *page;
    struct bytes content;
    XXH128_hash_t h;

    if (f == NULL || (r->name != NULL && r->name[0] == '\0')) {
        http_problem(r, 404, "the dashboard has no such file");
        return;
    }
    content = f->content();
    h = XXH3_128bits(content.at, content.len);
    page = xcalloc(1, sizeof *page);
    snprintf(page->etag, sizeof page->etag, "\"%016llx%016llx\"",
             (unsigned long long)h.high64, (unsigned long long)h.low64);
    r->page = page;
    if (is_named(http_header(r, "If-None-Match"), page->etag)) {
        http_answer_text(r, f->type, xstrdup(""), 0);
        r->status = 304;
    } else {
        http_answer_text(r, f->type, xstrndup(content.at, content.len),
                         content.len);
    }
}

void http_page_headers(const struct http_page *page, struct MHD_Response *m)
{
    bool added =
        MHD_add_response_header(m, MHD_HTTP_HEADER_ETAG, page->etag) == MHD_YES;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        added = MHD_add_response_header(m, headers[i].name, headers[i].value) ==
                    MHD_YES &&
                added;
    if (!added)
        log_warn("cannot add a header", "file=dashboard");
}
