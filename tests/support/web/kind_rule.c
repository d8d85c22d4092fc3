/* SPDX-License-Identifier: MIT */
/*
 * kind_rule.c - paths that robots.txt rules tell apart.
 *
 * The table has paths with their verdict by RFC 9309 and the deciding rule; odd
 * entries are allowed, even ones denied, mostly narrowly. All hosts with rules
 * have the same ones.
 */
#include "tests/support/web/rules.h"
#include "tests/support/web/web_page.h"
#include "tests/support/web/web_robots.h"

static const char RULES[] = "Disallow: /private/\n"
                            "Allow: /private/open/\n"
                            "Disallow: /*.cgi$\n"
                            "Disallow: /*/print/\n"
                            "Disallow: /list*sort=\n"
                            "Allow: /list*sort=asc\n"
                            "Disallow: /same\n"
                            "Allow: /same\n"
                            "Disallow: /caf%C3%A9\n"
                            "Disallow: /%7Etilde/\n"
                            "Disallow: /a%2Fb\n"
                            "Disallow: /exact$\n"
                            "Disallow: /deep/*/*/end\n"
                            "Disallow: /Upper/\n"
                            "Disallow:\n"
                            "Allow: /robots\n";

/* %u: the number behind "-d" that makes it one of ours. */
static const struct {
    const char *path;
    bool denied;
} PATHS[] = {
    {"/private/x-d%u", true},             /* /private/ */
    {"/private/open/x-d%u", false},       /* the longer Allow */
    {"/bin/run-d%u.cgi", true},           /* star and end */
    {"/bin/run-d%u.cgi?q=1", false},      /* not at the end */
    {"/shop/print/x-d%u", true},          /* star in front */
    {"/shop/printing/x-d%u", false},      /* no such segment */
    {"/list-d%u?page=2&sort=desc", true}, /* star, within the query */
    {"/list-d%u?page=2&sort=asc", false}, /* the longer Allow */
    {"/caf%%C3%%A9/x-d%u", true},         /* escapes as they stand */
    {"/same-d%u", false},                 /* a tie goes to Allow */
    {"/~tilde/x-d%u", true},              /* %7E is the tilde */
    {"/tilde/x-d%u", false},
    {"/a%%2Fb/x-d%u", true}, /* an escaped slash */
    {"/a/b/x-d%u", false},   /* is not a slash */
    {"/deep/1/2/end-d%u", true},
    {"/deep/1/end-d%u", false},
    {"/Upper/x-d%u", true},
    {"/upper/x-d%u", false},     /* case counts */
    {"/private/open-d%u", true}, /* not /private/open/ */
    {"/exact/x-d%u", false},     /* $ wants the end */
};
#define PATH_COUNT (sizeof PATHS / sizeof *PATHS)

void rules_text(struct buf *out)
{
    buf_add_str(out, RULES);
}

bool rules_deny(uint32_t n)
{
    return PATHS[n % PATH_COUNT].denied;
}

static uint32_t rule_count(const struct web *w)
{
    uint32_t host;

    if (!robots_rule_host(w, 0, &host))
        return 0;
    return (w->spec.pages / 500 + 1) * (uint32_t)PATH_COUNT;
}

static uint32_t rule_host(const struct web *w, uint32_t n)
{
    uint32_t host = 0;

    (void)robots_rule_host(w, n, &host); /* else count would be 0 */
    return host;
}

static void rule_path(const struct web *w, uint32_t n, struct buf *out)
{
    (void)w;
    /* The formats are the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    buf_addf(out, PATHS[n % PATH_COUNT].path, (unsigned)n);
#pragma GCC diagnostic pop
}

static void rule_links(const struct web *w, uint32_t n, struct links *out)
{
    links_add(out, (struct link){.to = web_hidden(w, KIND_RULE, n)});
}

static void rule_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    answer_page(w, web_id(w, KIND_RULE, n), rq, an);
}

static struct expect rule_expect(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_FETCH, 200, 1, 1};
}

const struct kind_ops kind_rule = {
    .letter = 'd',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = rule_count,
    .host = rule_host,
    .path = rule_path,
    .links = rule_links,
    .answer = rule_answer,
    .expect = rule_expect,
};
