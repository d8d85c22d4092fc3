/*
 * http_dashboard.h - `GET /`: the dashboard, a page without data, which uses
 * the paths under /v1/ like any other client, with the token of its user.
 *
 * Its files are part of the program; nothing is loaded from elsewhere. They
 * have a Content-Security-Policy under which only these files run, and an ETag,
 * so that a browser need not load them again.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_DASHBOARD_H
#define URLWEIR_SERVICE_HTTP_HTTP_DASHBOARD_H

struct MHD_Response;
struct http_request;

/* For the paths "/" and "/dashboard/FILE". */
void http_ask_dashboard(struct http_request *r);

/* The headers of the file that http_ask_dashboard chose. */
struct http_page {
    char etag[36];
};
void http_page_headers(const struct http_page *page, struct MHD_Response *m);

#endif
