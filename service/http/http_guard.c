/* SPDX-License-Identifier: MIT */
/*
 * http_guard.c - access checks: Host header, client certificate, token.
 *
 * They run before the body is read, so that a stranger costs only its headers.
 */
#include <gnutls/gnutls.h>
#include <string.h>

#include "service/http/http_server_impl.h"
#include "service/http/http_text.h"

struct bytes http_header(struct http_request *r, const char *name)
{
    const char *value = NULL;
    size_t len = 0;

    if (MHD_lookup_connection_value_n(r->conn, MHD_HEADER_KIND, name,
                                      strlen(name), &value, &len) != MHD_YES)
        return bytes_of(NULL, 0);
    return bytes_of(value, len);
}

static bool shows_certificate(struct http_request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned wrong = 1;

    return info != NULL && info->tls_session != NULL &&
           gnutls_certificate_verify_peers2(info->tls_session, &wrong) == 0 &&
           wrong == 0;
}

void http_guard_role(struct http_request *r)
{
    struct auth *auth = r->server->options.auth;
    enum auth_role needed = r->route->role, has;
    struct bytes token;

    if (needed == AUTH_NONE)
        return;
    if (auth == NULL) {
        http_conns_know(r->server->conns, http_conn_of(r->conn));
        has = r->server->options.open_role;
        r->role = has != AUTH_NONE ? has : AUTH_ADMIN;
        if (has != AUTH_NONE && has < needed)
            http_problem(r, 403, "this needs the role %s; the caller has %s",
                         auth_role_name(needed), auth_role_name(has));
        return;
    }
    token = auth_bearer(http_header(r, MHD_HTTP_HEADER_AUTHORIZATION));
    has = auth_role_of(auth, token);
    r->role = has;
    if (has != AUTH_NONE)
        http_conns_know(r->server->conns, http_conn_of(r->conn));
    if (has == AUTH_NONE)
        http_problem(r, 401, "this needs a token: Authorization: Bearer TOKEN");
    else if (has < needed)
        http_problem(r, 403, "this needs a token with the role %s",
                     auth_role_name(needed));
}

/* A browser says from which page a request comes (Fetch Metadata, W3C), to
 * loopback and over TLS. Another port of this machine is `same-site`. Its page
 * could read nothing, but have work done. */
void http_guard_site(struct http_request *r)
{
    struct bytes site = http_header(r, "Sec-Fetch-Site");

    if (r->route->role != AUTH_NONE && site.len > 0 &&
        !bytes_is(site, "same-origin") && !bytes_is(site, "none"))
        http_problem(r, 403, "a page of another site asks for this");
}

void http_guard_caller(struct http_request *r)
{
    const struct http_options *o = &r->server->options;

    if (o->loopback && !http_host_is_local(http_header(r, MHD_HTTP_HEADER_HOST),
                                           bytes_of_str(r->server->host)))
        http_problem(r, 421, "the Host header names another machine");
    else if (o->tls.client_ca != NULL && !shows_certificate(r))
        http_problem(r, 403, "this needs a client certificate");
}
