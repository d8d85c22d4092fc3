/* SPDX-License-Identifier: MIT */
/*
 * credentials.c - decides which secrets are sent to which origin.
 *
 * libcurl's own ways are not used: CURLOPT_USERPWD and CURLOPT_NETRC know hosts
 * only while libcurl itself follows redirects, which it does not do here. Every
 * secret is a header line, and the lines of each named origin are combined
 * once, with and without those for seeds; a request uses the list of its origin
 * as it is.
 *
 * If several lines have one name, the most specific wins: bound to the origin,
 * then the .netrc entry of its host, its `default`, headers for seeds, headers
 * for all.
 */
#include "crawler/fetch/credentials.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/logger.h"
#include "base/map.h"
#include "base/mem.h"

/* ---- the logins of a .netrc file ---- */

/*
 * We do not use libcurl's reader (CURLOPT_NETRC): it opens the file for each
 * request, sends `default` to every host of a crawl, and ignores scheme and
 * port.
 */

#define VALUE_MOST ((size_t)4096)

struct netrc_scan {
    struct bytes left;
    size_t line;
    struct buf token;
    const char *wrong; /* NULL: nothing yet */
};

struct netrc_entry {
    struct buf machine, login, password;
    bool begun;
};

static void fail(struct netrc_scan *s, const char *what)
{
    if (s->wrong == NULL)
        s->wrong = what;
}

static char step(struct netrc_scan *s)
{
    char c = s->left.at[0];

    s->line += c == '\n';
    s->left = bytes_of(s->left.at + 1, s->left.len - 1);
    return c;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_line(struct netrc_scan *s)
{
    while (s->left.len > 0 && step(s) != '\n')
        continue;
}

/* A macro ends at an empty line. */
static void skip_macro(struct netrc_scan *s)
{
    skip_line(s);
    while (s->left.len > 0 && s->left.at[0] != '\n' && s->left.at[0] != '\r')
        skip_line(s);
}

static char unescaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

static void read_quoted(struct netrc_scan *s)
{
    (void)step(s);
    while (s->left.len > 0 && s->left.at[0] != '"') {
        char c = step(s);

        if (c == '\\' && s->left.len > 0)
            c = unescaped(step(s));
        buf_add_char(&s->token, c);
    }
    if (s->left.len == 0)
        fail(s, "a quote is not closed");
    else
        (void)step(s);
}

/* Reads the next token into s->token. False: there is none. */
static bool next_token(struct netrc_scan *s)
{
    buf_clear(&s->token);
    for (;;) {
        while (s->left.len > 0 && is_space(s->left.at[0]))
            (void)step(s);
        if (s->left.len == 0 || s->left.at[0] != '#')
            break;
        skip_line(s);
    }
    if (s->left.len == 0)
        return false;
    if (s->left.at[0] == '"')
        read_quoted(s);
    else
        while (s->left.len > 0 && !is_space(s->left.at[0]))
            buf_add_char(&s->token, step(s));
    if (buf_failed(&s->token) != STATUS_OK)
        fail(s, "a value is too long");
    return s->wrong == NULL;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Reads the value after a keyword. Passwords may begin with #. */
static void read_value(struct netrc_scan *s, struct buf *out)
{
    while (s->left.len > 0 && is_space(s->left.at[0]) && s->left.at[0] != '\n')
        (void)step(s);
    buf_clear(&s->token);
    buf_clear(out);
    if (s->left.len > 0 && s->left.at[0] == '#')
        while (s->left.len > 0 && !is_space(s->left.at[0]))
            buf_add_char(&s->token, step(s));
    else if (!next_token(s))
        fail(s, "a word has no value");
    for (size_t i = 0; i < s->token.len; i++)
        if (is_control(buf_str(&s->token)[i]))
            fail(s, "a value holds a control character");
    buf_add_bytes(out, buf_bytes(&s->token));
}

static void end_entry(struct netrc_entry *e, netrc_visit visit, void *ctx)
{
    if (e->begun && (e->login.len > 0 || e->password.len > 0))
        visit(ctx, buf_bytes(&e->machine), buf_bytes(&e->login),
              buf_bytes(&e->password));
    e->begun = false;
    buf_clear(&e->machine);
    buf_clear(&e->login);
    buf_clear(&e->password);
}

static void read_word(struct netrc_scan *s, struct netrc_entry *e,
                      netrc_visit visit, void *ctx)
{
    struct bytes word = buf_bytes(&s->token);
    struct buf other;

    buf_init(&other, VALUE_MOST);
    if (bytes_is(word, "machine")) {
        end_entry(e, visit, ctx);
        e->begun = true;
        read_value(s, &e->machine);
    } else if (bytes_is(word, "default")) {
        end_entry(e, visit, ctx);
        e->begun = true;
    } else if (bytes_is(word, "macdef")) {
        skip_macro(s);
    } else if (bytes_is(word, "account")) {
        read_value(s, &other);
    } else if (bytes_is(word, "login") && e->begun) {
        read_value(s, &e->login);
    } else if (bytes_is(word, "password") && e->begun) {
        read_value(s, &e->password);
    } else {
        fail(s, e->begun ? "not one of the words machine, default, login, "
                           "password, account and macdef"
                         : "nothing but machine, default or macdef may be "
                           "first");
    }
    buf_fini(&other);
}

enum status netrc_read(struct bytes text, netrc_visit visit, void *ctx,
                       struct buf *error)
{
    struct netrc_scan s = {.left = text, .line = 1};
    struct netrc_entry e = {.begun = false};

    buf_init(&s.token, VALUE_MOST);
    buf_init(&e.machine, VALUE_MOST);
    buf_init(&e.login, VALUE_MOST);
    buf_init(&e.password, VALUE_MOST);
    while (s.wrong == NULL && next_token(&s))
        read_word(&s, &e, visit, ctx);
    if (s.wrong == NULL)
        end_entry(&e, visit, ctx);
    else
        buf_addf(error, "line %zu: %s", s.line, s.wrong);
    buf_fini(&s.token);
    buf_fini(&e.machine);
    buf_fini(&e.login);
    buf_fini(&e.password);
    return s.wrong == NULL ? STATUS_OK : STATUS_FORMAT;
}

/* ---- credentials ---- */

#define ORIGIN_MOST ((size_t)4096)
#define SECRET_MOST ((size_t)64 << 10) /* octets of one */

/* Header lines for one origin or host. */
struct credential_group {
    char **lines;
    size_t count;
    struct credential_set sets[2]; /* [1]: for the origin of a seed */
};

struct credentials {
    struct map *origins;             /* origin to struct credential_group */
    struct map *machines;            /* host, of .netrc, to the same */
    struct credential_group unnamed; /* `default` of .netrc */
    struct credential_group of_seeds, of_all;
    struct map *secret_names; /* of header fields, in lower case */
    bool of_seeds_matters;    /* seeds may have what others have not */
    _Atomic bool warned;      /* of a redirect */
    pthread_rwlock_t lock;    /* of: */
    struct map *seeds;        /* their origins */
};

static char in_map; /* the value of sets */

/* ---- lines --------------------------------------------------------------- */

static struct bytes name_of(const char *line)
{
    return bytes_of(line, strcspn(line, ":;"));
}

static bool same_name(const char *a, const char *b)
{
    return bytes_equal_nocase(name_of(a), name_of(b));
}

static bool is_cookie(const char *line)
{
    return bytes_equal_nocase(name_of(line), bytes_of_str("cookie"));
}

static void hide_name(struct credentials *c, struct bytes name)
{
    char *lower = xstrndup(name.at, name.len);

    for (size_t i = 0; i < name.len; i++)
        lower[i] = ascii_lower(lower[i]);
    (void)map_put(c->secret_names, bytes_of(lower, name.len), &in_map);
    free(lower);
}

static void add_line(struct credential_group *g, struct bytes line)
{
    g->lines = xrealloc(g->lines, (g->count + 1) * sizeof(char *));
    g->lines[g->count++] = xstrndup(line.at, line.len);
}

static struct credential_group *group_of(struct map *m, struct bytes key)
{
    struct credential_group *g = map_get(m, key);

    if (g != NULL)
        return g;
    g = xcalloc(1, sizeof *g);
    (void)map_put(m, key, g);
    return g;
}

static void empty_group(struct credential_group *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->lines[i]);
    free(g->lines);
    for (size_t i = 0; i < 2; i++)
        curl_slist_free_all(g->sets[i].headers);
}

static void free_group(void *group)
{
    empty_group(group);
    free(group);
}

static void add_field(struct credential_group *g, const char *name,
                      struct bytes value)
{
    struct buf line;

    buf_init(&line, SIZE_MAX);
    buf_add_str(&line, name);
    buf_add_bytes(&line, value);
    add_line(g, buf_bytes(&line));
    buf_fini(&line);
}

static void add_cookie(struct credential_group *g, struct bytes value)
{
    add_field(g, "Cookie: ", value);
}

static void add_bearer(struct credential_group *g, struct bytes token)
{
    add_field(g, "Authorization: Bearer ", token);
}

/* RFC 7617 section 2 */
static void add_basic(struct credential_group *g, struct bytes user_password)
{
    char *encoded = xmalloc((user_password.len + 2) / 3 * 4 + 1);
    int n = EVP_EncodeBlock((unsigned char *)encoded,
                            (const unsigned char *)user_password.at,
                            (int)user_password.len);

    add_field(g, "Authorization: Basic ", bytes_of(encoded, (size_t)n));
    free(encoded);
}

/* ---- origins ------------------------------------------------------------- */

static bool canonical_origin(struct bytes text, struct buf *origin)
{
    struct buf whole;
    struct url u;
    bool ok;

    url_init(&u);
    buf_init(&whole, ORIGIN_MOST);
    if (!bytes_starts_with(text, "http://") &&
        !bytes_starts_with(text, "https://"))
        buf_add_str(&whole, "https://");
    buf_add_bytes(&whole, text);
    ok = text.len > 0 && buf_failed(&whole) == STATUS_OK &&
         url_parse(&u, buf_bytes(&whole), NULL, NULL) == URL_OK &&
         u.userinfo_at == u.host_at && bytes_is(url_path_query(&u), "/");
    if (ok) {
        url_canonicalise(&u);
        buf_add_bytes(origin, url_origin(&u));
    }
    buf_fini(&whole);
    url_fini(&u);
    return ok;
}

bool credentials_split(const char *text, struct buf *origin, const char **rest)
{
    size_t n = strcspn(text, "=");

    if (text[n] != '=' || text[n + 1] == '\0')
        return false;
    *rest = text + n + 1;
    if (bytes_is(bytes_of(text, n), "*")) {
        buf_add_char(origin, '*');
        return true;
    }
    return canonical_origin(bytes_of(text, n), origin);
}

static bool is_plain_https(struct bytes origin)
{
    return bytes_starts_with(origin, "https://") &&
           origin.len == strlen("https://") + url_canonical_host(origin).len;
}

/* ---- what was given ------------------------------------------------------ */

static enum status refuse(struct buf *error, const char *what)
{
    buf_add_str(error, what);
    return STATUS_ARG;
}

/* The last authorisation given for one place counts. */
static void forget_authorization(struct credential_group *g)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->count; i++) {
        if (same_name(g->lines[i], "Authorization:"))
            free(g->lines[i]);
        else
            g->lines[kept++] = g->lines[i];
    }
    g->count = kept;
}

static enum status take(struct credentials *c, const char *const *texts,
                        size_t count, const char *what,
                        void (*add)(struct credential_group *, struct bytes),
                        struct buf *error)
{
    enum status st = STATUS_OK;
    struct credential_group *g;
    struct buf origin;

    buf_init(&origin, ORIGIN_MOST);
    for (size_t i = 0; st == STATUS_OK && i < count; i++) {
        const char *rest;

        buf_clear(&origin);
        if (!credentials_split(texts[i], &origin, &rest) ||
            strlen(rest) > SECRET_MOST || buf_str(&origin)[0] == '*') {
            st = refuse(error, what);
        } else {
            g = group_of(c->origins, buf_bytes(&origin));
            forget_authorization(g);
            add(g, bytes_of_str(rest));
        }
    }
    buf_fini(&origin);
    return st;
}

static enum status take_bound(struct credentials *c, const char *text,
                              struct buf *error)
{
    enum status st = STATUS_OK;
    struct buf origin;
    const char *line;

    buf_init(&origin, ORIGIN_MOST);
    if (!credentials_split(text, &origin, &line)) {
        st = refuse(error, "a header bound to an origin is ORIGIN=Name: value");
    } else if (buf_str(&origin)[0] == '*') {
        add_line(&c->of_all, bytes_of_str(line));
    } else {
        add_line(group_of(c->origins, buf_bytes(&origin)), bytes_of_str(line));
        hide_name(c, name_of(line));
    }
    buf_fini(&origin);
    return st;
}

static void take_machine(void *ctx, struct bytes machine, struct bytes login,
                         struct bytes password)
{
    struct credentials *c = ctx;
    struct credential_group *g = &c->unnamed;
    struct buf both, origin;

    buf_init(&both, 2 * SECRET_MOST);
    buf_init(&origin, ORIGIN_MOST);
    if (machine.len > 0)
        g = canonical_origin(machine, &origin)
                ? group_of(c->machines, url_canonical_host(buf_bytes(&origin)))
                : NULL;
    buf_add_bytes(&both, login);
    buf_add_char(&both, ':');
    buf_add_bytes(&both, password);
    if (g != NULL && g->count == 0)
        add_basic(g, buf_bytes(&both));
    buf_fini(&both);
    buf_fini(&origin);
}

static enum status take_all(struct credentials *c,
                            const struct credentials_options *o,
                            struct buf *error)
{
    enum status st = STATUS_OK;

    if (o->cookie != NULL)
        add_cookie(&c->of_seeds, bytes_of_str(o->cookie));
    for (size_t i = 0; i < o->header_count; i++) {
        add_line(&c->of_seeds, bytes_of_str(o->headers[i]));
        hide_name(c, name_of(o->headers[i]));
    }
    for (size_t i = 0; st == STATUS_OK && i < o->bound_count; i++)
        st = take_bound(c, o->bound[i], error);
    if (st == STATUS_OK)
        st = take(c, o->basic, o->basic_count,
                  "a login is ORIGIN=USER:PASSWORD", add_basic, error);
    if (st == STATUS_OK)
        st = take(c, o->bearer, o->bearer_count, "a token is ORIGIN=TOKEN",
                  add_bearer, error);
    if (st == STATUS_OK && o->netrc.len > 0)
        st = netrc_read(o->netrc, take_machine, c, error);
    return st == STATUS_FORMAT ? STATUS_ARG : st;
}

/* ---- sets ---------------------------------------------------------------- */

/* Does a more specific group, one of the first `n`, have a line with this
 * name? */
static bool is_said(const struct credential_group *const *groups, size_t n,
                    const char *line)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; groups[k] != NULL && i < groups[k]->count; i++)
            if (same_name(groups[k]->lines[i], line))
                return true;
    return false;
}

static void put_line(struct credential_set *set, const char *line)
{
    struct curl_slist *longer;

    if (is_cookie(line)) {
        line += strlen("cookie:");
        set->cookie = line + strspn(line, " \t");
        return;
    }
    longer = curl_slist_append(set->headers, line);
    if (longer != NULL)
        set->headers = longer;
}

#define GROUPS 5 /* that a request may have lines of */

/* `named`: of the origin; `machine`: of its host; each may be NULL. */
static void make_set(const struct credentials *c, struct credential_set *set,
                     const struct credential_group *named,
                     const struct credential_group *machine, bool of_seed)
{
    const struct credential_group *groups[GROUPS] = {
        named, machine, of_seed ? &c->unnamed : NULL,
        of_seed ? &c->of_seeds : NULL, &c->of_all};

    curl_slist_free_all(set->headers);
    *set = (struct credential_set){.of_seed = of_seed};
    for (size_t k = 0; k < GROUPS; k++)
        for (size_t i = 0; groups[k] != NULL && i < groups[k]->count; i++)
            if (!is_said(groups, k, groups[k]->lines[i]))
                put_line(set, groups[k]->lines[i]);
}

static bool make_named(void *ctx, struct bytes origin, void *group)
{
    const struct credentials *c = ctx;
    struct credential_group *g = group;
    const struct credential_group *machine =
        map_get(c->machines, url_canonical_host(origin));

    make_set(c, &g->sets[0], g, is_plain_https(origin) ? machine : NULL, false);
    make_set(c, &g->sets[1], g, machine, true);
    return true;
}

static bool make_machine(void *ctx, struct bytes host, void *group)
{
    struct credential_group *g = group;

    (void)host;
    make_set(ctx, &g->sets[0], NULL, g, false);
    make_set(ctx, &g->sets[1], NULL, g, true);
    return true;
}

static void make_sets(struct credentials *c)
{
    map_each(c->origins, make_named, c);
    map_each(c->machines, make_machine, c);
    make_set(c, &c->unnamed.sets[0], NULL, NULL, false);
    make_set(c, &c->unnamed.sets[1], NULL, NULL, true);
}

enum status credentials_add_basic(struct credentials *c, const char *login,
                                  struct buf *error)
{
    enum status st =
        take(c, &login, 1, "a login is ORIGIN=USER:PASSWORD", add_basic, error);

    if (st == STATUS_OK)
        map_each(c->origins, make_named, c);
    return st;
}

const struct credential_set *credentials_for(struct credentials *c,
                                             struct bytes origin)
{
    const struct credential_group *g = map_get(c->origins, origin);
    bool of_seed;

    if (origin.len == 0)
        return &c->unnamed.sets[0];
    pthread_rwlock_rdlock(&c->lock);
    of_seed = map_get(c->seeds, origin) != NULL;
    pthread_rwlock_unlock(&c->lock);
    if (g == NULL && (of_seed || is_plain_https(origin)))
        g = map_get(c->machines, url_canonical_host(origin));
    if (g == NULL)
        g = &c->unnamed;
    return &g->sets[of_seed];
}

void credentials_add_seed(struct credentials *c, const struct url *seed)
{
    if (!c->of_seeds_matters)
        return; /* a million seeds would be kept for nothing */
    pthread_rwlock_wrlock(&c->lock);
    (void)map_put(c->seeds, url_origin(seed), &in_map);
    pthread_rwlock_unlock(&c->lock);
}

static bool carries(const struct credential_set *set)
{
    return set->headers != NULL || set->cookie != NULL;
}

void credentials_note_redirect(struct credentials *c, struct bytes from,
                               struct bytes to)
{
    const struct credential_set *before, *after;

    if (bytes_equal(from, to))
        return;
    before = credentials_for(c, from);
    after = credentials_for(c, to);
    if (!before->of_seed || !carries(before) || after->of_seed ||
        carries(after) || atomic_exchange(&c->warned, true))
        return;
    log_warn("a seed redirects to another origin, which is sent no headers, "
             "cookies or logins",
             "from=%.*s to=%.*s hint=\"give that URL as the seed, or name the "
             "origin with --header-host or --auth\"",
             (int)from.len, from.at, (int)to.len, to.at);
}

/* ---- recording ----------------------------------------------------------- */

static bool is_secret(const struct credentials *c, struct bytes name)
{
    char lower[256];

    if (name.len > sizeof lower)
        return true;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = ascii_lower(name.at[i]);
    return map_get(c->secret_names, bytes_of(lower, name.len)) != NULL;
}

static void redact_line(const struct credentials *c, struct bytes line,
                        struct buf *out)
{
    const char *colon = memchr(line.at, ':', line.len);
    struct bytes name = bytes_of(line.at, 0);

    if (colon != NULL)
        name.len = (size_t)(colon - line.at);
    if (name.len > 0 && is_secret(c, name)) {
        buf_add_bytes(out, name);
        buf_add_str(out, ": redacted\r\n");
    } else {
        buf_add_bytes(out, line);
    }
}

void credentials_redact(const struct credentials *c, struct bytes head,
                        struct buf *out)
{
    while (head.len > 0) {
        const char *end = memchr(head.at, '\n', head.len);
        size_t n = end != NULL ? (size_t)(end - head.at) + 1 : head.len;

        redact_line(c, bytes_of(head.at, n), out);
        head = bytes_skip(head, n);
    }
}

/* ---- life ---------------------------------------------------------------- */

enum status credentials_new(struct credentials **out,
                            const struct credentials_options *o,
                            struct buf *error)
{
    struct credentials *c = xcalloc(1, sizeof *c);
    enum status st;

    pthread_rwlock_init(&c->lock, NULL);
    c->origins = map_new();
    c->machines = map_new();
    c->seeds = map_new();
    c->secret_names = map_new();
    hide_name(c, bytes_of_str("authorization"));
    hide_name(c, bytes_of_str("proxy-authorization"));
    hide_name(c, bytes_of_str("cookie"));
    st = take_all(c, o, error);
    if (st != STATUS_OK) {
        credentials_free(c);
        return st;
    }
    make_sets(c);
    c->of_seeds_matters =
        c->of_seeds.count > 0 || map_count(c->machines) > 0 || o->cert;
    *out = c;
    return STATUS_OK;
}

void credentials_free(struct credentials *c)
{
    if (c == NULL)
        return;
    map_free(c->origins, free_group);
    map_free(c->machines, free_group);
    map_free(c->seeds, NULL);
    map_free(c->secret_names, NULL);
    empty_group(&c->unnamed);
    empty_group(&c->of_seeds);
    empty_group(&c->of_all);
    pthread_rwlock_destroy(&c->lock);
    free(c);
}
