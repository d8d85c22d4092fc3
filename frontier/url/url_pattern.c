/* SPDX-License-Identifier: MIT */
/* url_pattern.c - regular expressions over URLs (PCRE2). */
#include "frontier/url/url_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "base/mem.h"

#define MATCH_LIMIT 100000
#define HEAP_LIMIT  4096 /* KiB, of one match */

struct url_pattern {
    pcre2_code *code;
    pcre2_match_context *limits;
};

enum status url_pattern_new(struct url_pattern **out, struct bytes expression,
                            struct buf *why)
{
    struct url_pattern *p;
    int code;
    PCRE2_SIZE where;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)expression.at, expression.len, 0, &code,
                      &where, NULL);

    if (compiled == NULL) {
        PCRE2_UCHAR text[128];

        pcre2_get_error_message(code, text, sizeof text);
        buf_addf(why, "%s at character %zu", (const char *)text,
                 (size_t)where + 1);
        if (bytes_starts_with(expression, "*"))
            buf_add_str(why, "; it is a regular expression, no glob: \\.html$ "
                             "is what *.html would be");
        return STATUS_FORMAT;
    }
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
    p = xcalloc(1, sizeof *p);
    p->code = compiled;
    p->limits = pcre2_match_context_create(NULL);
    if (p->limits == NULL) {
        url_pattern_free(p);
        return STATUS_NOMEM;
    }
    pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(p->limits, HEAP_LIMIT);
    *out = p;
    return STATUS_OK;
}

void url_pattern_free(struct url_pattern *p)
{
    if (p == NULL)
        return;
    pcre2_code_free(p->code);
    pcre2_match_context_free(p->limits);
    free(p);
}

bool url_pattern_matches(const struct url_pattern *p, struct bytes text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    bool matches =
        data != NULL && pcre2_match(p->code, (PCRE2_SPTR)text.at, text.len, 0,
                                    0, data, p->limits) >= 0;

    pcre2_match_data_free(data);
    return matches;
}

/* Does this error say that the replacement is at fault, and not the match? */
static bool is_about_replacement(int error)
{
    return error == PCRE2_ERROR_BADREPLACEMENT ||
           error == PCRE2_ERROR_BADREPESCAPE ||
           error == PCRE2_ERROR_REPMISSINGBRACE ||
           error == PCRE2_ERROR_BADSUBSTITUTION ||
           error == PCRE2_ERROR_NOSUBSTRING ||
           error == PCRE2_ERROR_NOUNIQUESUBSTRING;
}

enum status url_pattern_replace(const struct url_pattern *p, struct bytes text,
                                struct bytes with, char *out, size_t size,
                                size_t *len, bool *changed)
{
    PCRE2_SIZE room = size;
    int n =
        pcre2_substitute(p->code, (PCRE2_SPTR)text.at, text.len, 0,
                         PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED |
                             PCRE2_SUBSTITUTE_UNSET_EMPTY,
                         NULL, p->limits, (PCRE2_SPTR)with.at, with.len,
                         (PCRE2_UCHAR *)out, &room);

    *changed = n > 0;
    *len = room;
    if (n == PCRE2_ERROR_NOMEMORY)
        return STATUS_LIMIT;
    return is_about_replacement(n) ? STATUS_FORMAT : STATUS_OK;
}
