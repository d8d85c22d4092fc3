/*
 * http_dashboard.h - `GET /`: the dashboard, a page without data that asks the
 * paths under /v1/ like any other client, with the token of who looks at it.
 *
 * Its files are part of the program; nothing is loaded from elsewhere. They
 * come with a Content-Security-Policy under which nothing but these files runs,
 * and with an ETag, so that a browser which has them is told so.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_DASHBOARD_H
#define URLWEIR_SERVICE_HTTP_HTTP_DASHBOARD_H

struct MHD_Response;
struct http_request;

/* For the paths "/" and "/dashboard/" with a file's name behind it. */
void http_ask_dashboard(struct http_request *r);

/* The headers of a file that http_ask_dashboard answered with. */
struct http_page {
    char etag[36];
};
void http_page_headers(const struct http_page *page, struct MHD_Response *m);

#endif
