/* SPDX-License-Identifier: MIT */
/* cookies.c - a list of cookies, each as its seven fields. */
#include "tests/sim/cookies.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "tests/sim/scheduler.h"

#define HTTP_ONLY "#HttpOnly_"

struct cookie {
    struct cookie *next;
    char domain[256], path[256], name[128], value[512];
    bool tail, secure, http_only;
    long long expires; /* 0: with the session */
};

struct cookies {
    struct cookie *first;
};

struct cookies *cookies_new(void)
{
    return calloc(1, sizeof(struct cookies));
}

static void clear(struct cookies *c)
{
    while (c->first != NULL) {
        struct cookie *next = c->first->next;

        free(c->first);
        c->first = next;
    }
}

void cookies_free(struct cookies *c)
{
    if (c == NULL)
        return;
    clear(c);
    free(c);
}

/* Puts `n` last, in place of the one of its name, domain and path. One that has
 * expired goes. */
static void put(struct cookies *c, struct cookie *n)
{
    struct cookie **at = &c->first;

    while (*at != NULL) {
        struct cookie *old = *at;

        if (strcmp(old->name, n->name) == 0 &&
            strcasecmp(old->domain, n->domain) == 0 &&
            strcmp(old->path, n->path) == 0) {
            *at = old->next;
            free(old);
        } else {
            at = &old->next;
        }
    }
    if (n->expires != 0 && n->expires <= scheduler_wall() / NS_PER_S) {
        free(n);
        return;
    }
    n->next = NULL;
    *at = n;
}

static void take_field(char *to, size_t size, const char **at)
{
    size_t len = strcspn(*at, "\t");

    snprintf(to, size, "%.*s", (int)len, *at);
    *at += len + ((*at)[len] == '\t');
}

void cookies_line(struct cookies **c, const char *line)
{
    char tail[8], secure[8], expires[24];
    struct cookie *n;

    if (line == NULL)
        return;
    if (*c == NULL)
        *c = cookies_new();
    if (strcmp(line, "ALL") == 0) {
        clear(*c);
        return;
    }
    n = calloc(1, sizeof *n);
    n->http_only = strncmp(line, HTTP_ONLY, strlen(HTTP_ONLY)) == 0;
    line += n->http_only ? strlen(HTTP_ONLY) : 0;
    take_field(n->domain, sizeof n->domain, &line);
    take_field(tail, sizeof tail, &line);
    take_field(n->path, sizeof n->path, &line);
    take_field(secure, sizeof secure, &line);
    take_field(expires, sizeof expires, &line);
    take_field(n->name, sizeof n->name, &line);
    take_field(n->value, sizeof n->value, &line);
    n->tail = strcmp(tail, "TRUE") == 0;
    n->secure = strcmp(secure, "TRUE") == 0;
    n->expires = strtoll(expires, NULL, 10);
    put(*c, n);
}

struct curl_slist *cookies_list(const struct cookies *c)
{
    struct curl_slist *list = NULL;

    for (const struct cookie *n = c != NULL ? c->first : NULL; n != NULL;
         n = n->next) {
        char line[1400];

        snprintf(line, sizeof line, "%s%s\t%s\t%s\t%s\t%lld\t%s\t%s",
                 n->http_only ? HTTP_ONLY : "", n->domain,
                 n->tail ? "TRUE" : "FALSE", n->path,
                 n->secure ? "TRUE" : "FALSE", n->expires, n->name, n->value);
        list = curl_slist_append(list, line);
    }
    return list;
}

static bool is_for_host(const struct cookie *n, const char *host)
{
    const char *domain = n->domain[0] == '.' ? n->domain + 1 : n->domain;
    size_t d = strlen(domain), h = strlen(host);

    return strcasecmp(domain, host) == 0 ||
           (n->tail && h > d && host[h - d - 1] == '.' &&
            strcasecmp(host + h - d, domain) == 0);
}

static bool is_for_path(const struct cookie *n, const char *target)
{
    size_t p = strlen(n->path), t = strcspn(target, "?");

    return p <= t && strncmp(n->path, target, p) == 0 &&
           (p == t || n->path[p - 1] == '/' || target[p] == '/');
}

void cookies_for(const struct cookies *c, const char *scheme, const char *host,
                 const char *target, struct buf *out)
{
    for (const struct cookie *n = c->first; n != NULL; n = n->next) {
        if (!is_for_host(n, host) || !is_for_path(n, target) ||
            (n->secure && strcmp(scheme, "https") != 0) ||
            (n->expires != 0 && n->expires <= scheduler_wall() / NS_PER_S))
            continue;
        buf_addf(out, "%s%s=%s", out->len > 0 ? "; " : "", n->name, n->value);
    }
}

/* "name=value" or "name", without the space around. */
static void split(const char *at, size_t len, char *name, size_t name_size,
                  char *value, size_t value_size)
{
    const char *equals;

    while (len > 0 && *at == ' ')
        at++, len--;
    while (len > 0 &&
           (at[len - 1] == ' ' || at[len - 1] == '\r' || at[len - 1] == '\n'))
        len--;
    equals = memchr(at, '=', len);
    snprintf(name, name_size, "%.*s",
             (int)(equals != NULL ? equals - at : (ptrdiff_t)len), at);
    snprintf(value, value_size, "%.*s",
             equals != NULL ? (int)(at + len - equals - 1) : 0,
             equals != NULL ? equals + 1 : "");
}

static void take_attribute(struct cookie *n, const char *name,
                           const char *value)
{
    if (strcasecmp(name, "domain") == 0) {
        n->tail = true;
        snprintf(n->domain, sizeof n->domain, ".%s",
                 value[0] == '.' ? value + 1 : value);
    } else if (strcasecmp(name, "path") == 0 && value[0] == '/') {
        snprintf(n->path, sizeof n->path, "%s", value);
    } else if (strcasecmp(name, "secure") == 0) {
        n->secure = true;
    } else if (strcasecmp(name, "httponly") == 0) {
        n->http_only = true;
    } else if (strcasecmp(name, "max-age") == 0) {
        n->expires = scheduler_wall() / NS_PER_S + strtoll(value, NULL, 10);
    } else if (strcasecmp(name, "expires") == 0 && n->expires == 0) {
        int64_t at;

        if (clock_parse_http_date(bytes_of_str(value), &at) == STATUS_OK)
            n->expires = at / 1000;
    }
}

void cookies_take(struct cookies *c, const char *scheme, const char *host,
                  const char *target, const char *value, size_t len)
{
    struct cookie *n = calloc(1, sizeof *n);
    const char *end = value + len, *slash;
    size_t first = strcspn(value, ";");

    if (first > len)
        first = len;
    split(value, first, n->name, sizeof n->name, n->value, sizeof n->value);
    snprintf(n->domain, sizeof n->domain, "%s", host);
    slash = target + strcspn(target, "?");
    while (slash > target && *slash != '/')
        slash--;
    snprintf(n->path, sizeof n->path, "%.*s",
             slash > target ? (int)(slash - target) : 1, target);
    for (value += first; value < end && *value == ';';) {
        char name[32], text[256];
        size_t part = strcspn(++value, ";");

        if (part > (size_t)(end - value))
            part = (size_t)(end - value);
        split(value, part, name, sizeof name, text, sizeof text);
        take_attribute(n, name, text);
        value += part;
    }
    if (n->name[0] == '\0' || !is_for_host(n, host) ||
        (n->secure && strcmp(scheme, "https") != 0))
        free(n);
    else
        put(c, n);
}
