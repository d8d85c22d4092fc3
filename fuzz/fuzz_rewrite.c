/* SPDX-License-Identifier: MIT */
/*
 * fuzz_rewrite.c - any octets as rules that rewrite URLs, and a URL: `url` LF
 * `rules`.
 *
 * Asserts, besides memory safety: the form of a form is that form and a
 * canonical URL, and it is no longer than a rule may make one or its URL was.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "frontier/url/url_form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct url_form *f, struct bytes text)
{
    struct url u, again;
    size_t most;

    url_init(&u);
    url_init(&again);
    if (url_canonical(&u, text, NULL, NULL) == URL_OK) {
        most = u.text.len > URL_REWRITE_LENGTH ? u.text.len
                                               : 3 * URL_REWRITE_LENGTH;
        url_form_apply(f, &u);
        assert(url_text(&u).len <= most); /* %XX for what a rule gave */
        assert(url_canonical(&again, url_text(&u), NULL, NULL) == URL_OK);
        assert(bytes_equal(url_text(&u), url_text(&again)));
        assert(u.path_at == again.path_at && u.query_at == again.query_at);
        url_form_apply(f, &again);
        assert(bytes_equal(url_text(&u), url_text(&again)));
    }
    url_fini(&u);
    url_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size), url, rules;
    const char *lf = size > 0 ? memchr(in.at, '\n', size) : NULL;
    struct url_form_options o = {.drop = {.tracking = size % 2 == 0,
                                          .empty = size % 3 == 0},
                                 .sort = size % 5 < 2};
    struct url_form *f = NULL;
    struct buf why;

    if (lf == NULL)
        return 0;
    url = bytes_of(in.at, (size_t)(lf - in.at));
    rules = bytes_skip(in, url.len + 1);
    o.rewrite = rules;
    buf_init(&why, 4096);
    if (url_form_new(&f, &o, &why) == STATUS_OK) {
        check(f, url);
        check(f, bytes_of_str("http://h.example/a/b;jsessionid=1?z=1&a=&a=2"));
    } else {
        assert(why.len > 0);
    }
    url_form_free(f);
    buf_fini(&why);
    return 0;
}
