/* SPDX-License-Identifier: MIT */
/*
 * kind_error.c - error statuses, permanent and temporary.
 *
 * Retry-After is one second for every status that may have it, so that a test
 * need not wait for a crawler's back-off. A thing that succeeds at the second
 * try leads to a hidden page.
 */
#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"
#include "tests/support/web/web_robots.h"

static const struct {
    int status;
    bool again; /* worth a retry: requested until tries are spent */
    bool heals; /* 200 from the second time on */
    bool retry_after;
} ERRORS[] = {
    {404, false, false, false}, {503, true, true, true},
    {410, false, false, false}, {500, true, false, false},
    {403, false, false, false}, {429, true, true, true},
    {401, false, false, false}, {503, true, false, true},
    {400, false, false, false}, {502, true, true, true},
    {451, false, false, false}, {500, true, true, true},
    {405, false, false, false}, {418, false, false, false},
};
#define ERROR_COUNT (sizeof ERRORS / sizeof *ERRORS)

static uint32_t error_count(const struct web *w)
{
    if (!web_has(w, PROFILE_ERRORS))
        return 0;
    return (w->spec.pages / 500 + 1) * (uint32_t)ERROR_COUNT;
}

static uint32_t error_host(const struct web *w, uint32_t n)
{
    return robots_open_host(w, web_dice(w, n, 60));
}

static void error_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint64_t d = web_dice(w, n, 61);

    buf_addf(out, "/%s/%s-e%u", web_word(d), web_word(d >> 6), (unsigned)n);
}

static void error_links(const struct web *w, uint32_t n, struct links *out)
{
    if (ERRORS[n % ERROR_COUNT].heals)
        links_add(out, (struct link){.to = web_hidden(w, KIND_ERROR, n)});
}

static void error_answer(const struct web *w, uint32_t n,
                         const struct request *rq, struct answer *an)
{
    size_t i = n % ERROR_COUNT;

    if (ERRORS[i].heals && rq->asked_before > 0) {
        answer_page(w, web_id(w, KIND_ERROR, n), rq, an);
        return;
    }
    buf_add_str(&an->body, "<!DOCTYPE html><title>Error</title>\n<p>This page "
                           "does not count. <a href=\"/decoy/error\">Nor does "
                           "this.</a>\n");
    answer_status(an, ERRORS[i].status);
    answer_field(an, "Content-Type", "text/html");
    if (ERRORS[i].retry_after)
        answer_field(an, "Retry-After", "1");
    answer_done(an);
}

static struct expect error_expect(const struct web *w, uint32_t n)
{
    size_t i = n % ERROR_COUNT;

    if (ERRORS[i].heals && w->spec.tries > 1)
        return (struct expect){FATE_FETCH, 200, 1, 1};
    return (struct expect){FATE_ERROR, ERRORS[i].status, 1,
                           ERRORS[i].again ? w->spec.tries : 1};
}

const struct kind_ops kind_error = {
    .letter = 'e',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = error_count,
    .host = error_host,
    .path = error_path,
    .links = error_links,
    .answer = error_answer,
    .expect = error_expect,
};
