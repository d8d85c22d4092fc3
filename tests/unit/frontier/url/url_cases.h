/*
 * url_cases.h - tables of URLs and their parsed forms, for the tests of url.h.
 */
#ifndef URLWEIR_TESTS_FRONTIER_URL_URL_CASES_H
#define URLWEIR_TESTS_FRONTIER_URL_URL_CASES_H

#include "frontier/url/url.h"
#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

static struct url base, url;

static inline void setup(void)
{
    url_init(&base);
    url_init(&url);
}

static inline void teardown(void)
{
    url_fini(&url);
    url_fini(&base);
}

static inline enum url_reason parse(const char *in, const char *against)
{
    struct bytes text = guarded(bytes_of_str(in));
    enum url_reason r;

    if (against != NULL)
        ck_assert_int_eq(url_parse(&base, bytes_of_str(against), NULL, NULL),
                         URL_OK);
    r = url_parse(&url, text, against ? &base : NULL, NULL);
    guarded_free(text);
    return r;
}

struct known {
    const char *in, *want;
};

static inline void check_all(const struct known *k, size_t n,
                             const char *against)
{
    for (size_t i = 0; i < n; i++) {
        enum url_reason r = parse(k[i].in, against);

        ck_assert_msg(r == URL_OK, "%s: %s", k[i].in, url_reason_text(r));
        ck_assert_msg(bytes_is(url_text(&url), k[i].want),
                      "%s: want %s, got %s", k[i].in, k[i].want,
                      buf_str(&url.text));
    }
}

#define CHECK_ALL(table, against)                                              \
    check_all(table, sizeof(table) / sizeof *(table), against)

struct refused {
    const char *in;
    enum url_reason reason;
};

#define REFUSES(table)                                                         \
    for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++) {             \
        enum url_reason r = parse((table)[i].in, NULL);                        \
        ck_assert_msg(r == (table)[i].reason, "%s: %s", (table)[i].in,         \
                      url_reason_text(r));                                     \
    }

#endif
