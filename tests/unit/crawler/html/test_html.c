/* SPDX-License-Identifier: MIT */
/* The tokenizer, the names it knows, and html5lib's cases if present. */
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/buf.h"
#include "crawler/html/html.h"
#include "crawler/html/html_words.h"
#include "tests/unit/unit.h"

#define MOST ((size_t)1 << 24)

/* ---- a token as html5lib writes it --------------------------------------- */

static json_t *text_json(struct bytes raw, enum html_text_as as, bool lower)
{
    struct buf b;
    json_t *s;

    buf_init(&b, MOST);
    html_text(&b, raw, as);
    for (size_t i = 0; lower && i < b.len; i++)
        if (b.at[i] >= 'A' && b.at[i] <= 'Z')
            b.at[i] = (char)(b.at[i] | 0x20);
    s = json_stringn(buf_str(&b), b.len);
    buf_fini(&b);
    return s;
}

/* Joins adjacent character tokens. */
static void add_text(json_t *tokens, json_t *s)
{
    size_t n = json_array_size(tokens);
    json_t *last = n > 0 ? json_array_get(tokens, n - 1) : NULL;
    struct buf b;

    if (json_string_length(s) == 0) {
        json_decref(s);
        return;
    }
    if (last == NULL ||
        strcmp(json_string_value(json_array_get(last, 0)), "Character") != 0) {
        json_array_append_new(tokens, json_pack("[so]", "Character", s));
        return;
    }
    buf_init(&b, MOST);
    last = json_array_get(last, 1);
    buf_add(&b, json_string_value(last), json_string_length(last));
    buf_add(&b, json_string_value(s), json_string_length(s));
    json_string_setn(last, buf_str(&b), b.len);
    buf_fini(&b);
    json_decref(s);
}

static void add_start_tag(json_t *tokens, struct html_reader *r)
{
    json_t *attrs = json_object(), *tag;
    struct html_attr a;
    json_t *name = text_json(r->name, HTML_AS_RAW, true);

    while (html_next_attr(r, &a)) {
        json_t *key = text_json(a.name, HTML_AS_RAW, true);

        if (json_object_get(attrs, json_string_value(key)) == NULL)
            json_object_set_new(attrs, json_string_value(key),
                                text_json(a.value, HTML_AS_ATTRIBUTE, false));
        json_decref(key);
    }
    tag = json_pack("[soo]", "StartTag", name, attrs);
    if (r->self_closing)
        json_array_append_new(tag, json_true());
    if (html_finish_tag(r))
        json_array_append(tokens, tag);
    json_decref(tag);
}

static json_t *tokens_of(struct bytes input, enum html_state state,
                         const char *last_tag)
{
    json_t *tokens = json_array();
    struct html_reader r;
    enum html_token t;

    html_begin(&r, input);
    html_switch(&r, state, bytes_of_str(last_tag));
    while ((t = html_next(&r)) != HTML_PAGE_END) {
        if (t == HTML_START_TAG)
            add_start_tag(tokens, &r);
        else if (t == HTML_END_TAG && html_finish_tag(&r))
            json_array_append_new(tokens,
                                  json_pack("[so]", "EndTag",
                                            text_json(r.name, HTML_AS_RAW,
                                                      true)));
        else if (t == HTML_TEXT)
            add_text(tokens,
                     text_json(r.text, html_text_as(r.text_state), false));
        else if (t == HTML_COMMENT)
            json_array_append_new(tokens,
                                  json_pack("[so]", "Comment",
                                            text_json(r.text, HTML_AS_RAW,
                                                      false)));
        else if (t == HTML_DOCTYPE)
            json_array_append_new(tokens, json_pack("[s]", "DOCTYPE"));
    }
    return tokens;
}

/* ---- html5lib-tests, tokenizer ------------------------------------------- */

/* Decodes \uXXXX of a doubly escaped string; false: a lone surrogate, which no
 * UTF-8 input can hold. */
static bool unescape(json_t *s, struct buf *out)
{
    const char *at = json_string_value(s);
    size_t n = json_string_length(s);
    unsigned high = 0;

    buf_clear(out);
    for (size_t i = 0; i < n; i++) {
        char hex[5] = {0};
        unsigned u;

        if (at[i] != '\\' || i + 5 >= n || at[i + 1] != 'u') {
            buf_add_char(out, at[i]);
            continue;
        }
        memcpy(hex, at + i + 2, 4);
        u = (unsigned)strtoul(hex, NULL, 16);
        i += 5;
        if (u >= 0xd800 && u < 0xdc00 && high == 0) {
            high = u;
            continue;
        }
        if (high != 0 && u >= 0xdc00 && u < 0xe000)
            u = 0x10000 + ((high - 0xd800) << 10) + (u - 0xdc00);
        else if (high != 0 || (u >= 0xd800 && u < 0xe000))
            return false;
        high = 0;
        buf_add_utf8(out, u);
    }
    return high == 0;
}

/* Reduces the expected tokens to what this tokenizer reports: of a doctype only
 * that it is one. */
static json_t *expected_of(json_t *output, bool escaped, struct buf *b)
{
    json_t *tokens = json_array(), *t, *v;
    size_t i, k;

    json_array_foreach(output, i, t)
    {
        const char *kind = json_string_value(json_array_get(t, 0));
        json_t *copy = json_deep_copy(t);

        if (escaped)
            json_array_foreach(copy, k, v) if (json_is_string(v))
            {
                if (!unescape(v, b)) {
                    json_decref(copy);
                    json_decref(tokens);
                    return NULL;
                }
                json_string_setn(v, buf_str(b), b->len);
            }
        if (strcmp(kind, "DOCTYPE") == 0)
            json_array_append_new(tokens, json_pack("[s]", "DOCTYPE"));
        else if (strcmp(kind, "Character") == 0)
            add_text(tokens, json_incref(json_array_get(copy, 1)));
        else
            json_array_append(tokens, copy);
        json_decref(copy);
    }
    return tokens;
}

static enum html_state state_of(const char *name)
{
    static const struct {
        const char *name;
        enum html_state state;
    } states[] = {
        {"Data state", HTML_DATA},          {"PLAINTEXT state", HTML_PLAINTEXT},
        {"RCDATA state", HTML_RCDATA},      {"RAWTEXT state", HTML_RAWTEXT},
        {"Script data state", HTML_SCRIPT}, {"CDATA section state", HTML_CDATA},
    };

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].name, name) == 0)
            return states[i].state;
    ck_abort_msg("unknown state %s", name);
}

struct counts {
    unsigned passed, failed, skipped;
};

static void run_in_state(json_t *test, struct bytes input, json_t *want,
                         const char *state, struct counts *n)
{
    const char *last = json_string_value(json_object_get(test, "lastStartTag"));
    json_t *got = tokens_of(input, state_of(state), last != NULL ? last : "");

    if (json_equal(got, want)) {
        n->passed++;
    } else {
        char *g = json_dumps(got, 0), *w = json_dumps(want, 0);

        n->failed++;
        printf("html5lib: %s (%s)\n  want %s\n  got  %s\n",
               json_string_value(json_object_get(test, "description")), state,
               w, g);
        free(g);
        free(w);
    }
    json_decref(got);
}

static void run_test(json_t *test, struct counts *n)
{
    json_t *states = json_object_get(test, "initialStates"), *s, *want;
    bool escaped = json_is_true(json_object_get(test, "doubleEscaped"));
    json_t *input = json_object_get(test, "input");
    struct buf in, scratch;
    size_t i;

    buf_init(&in, MOST);
    buf_init(&scratch, MOST);
    want = expected_of(json_object_get(test, "output"), escaped, &scratch);
    buf_add(&in, json_string_value(input), json_string_length(input));
    if (want == NULL || (escaped && !unescape(input, &in)))
        n->skipped++;
    else if (states == NULL)
        run_in_state(test, buf_bytes(&in), want, "Data state", n);
    else
        json_array_foreach(states, i, s)
            run_in_state(test, buf_bytes(&in), want, json_string_value(s), n);
    json_decref(want);
    buf_fini(&in);
    buf_fini(&scratch);
}

static void run_file(const char *path, struct counts *n)
{
    json_error_t err;
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &err), *test;
    size_t i;

    ck_assert_msg(root != NULL, "%s: %s", path, err.text);
    json_array_foreach(json_object_get(root, "tests"), i, test)
        run_test(test, n);
    json_decref(root);
}

/* Promise (Links): links are those that a browser with scripting off sees, by
 * libxml2. See also `links`, `tests/cli/links.sh`. */
TEST(html_13_2_5_reads_the_cases_of_html5lib)
{
    const char *shared = getenv("SHARED");
    char dir[1024], path[2048];
    struct counts n = {0, 0, 0};
    struct dirent *e;
    DIR *d;

    snprintf(dir, sizeof dir, "%s/testdata/html5lib-tokenizer",
             shared != NULL ? shared : "../shared");
    d = opendir(dir);
    if (d == NULL) {
        printf("html5lib tokenizer cases: skipped, no %s here\n", dir);
        return;
    }
    while ((e = readdir(d)) != NULL)
        if (strstr(e->d_name, ".test") != NULL) {
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
            run_file(path, &n);
        }
    closedir(d);
    printf("html5lib tokenizer: %u passed, %u failed, %u not UTF-8\n", n.passed,
           n.failed, n.skipped);
    fflush(stdout);
    ck_assert_uint_gt(n.passed, 6000);
    ck_assert_uint_eq(n.failed, 0);
}

/* ---- by hand ------------------------------------------------------------- */

static void check_tokens(const char *page, const char *want)
{
    json_t *got = tokens_of(bytes_of_str(page), HTML_DATA, "");
    char *s = json_dumps(got, JSON_COMPACT);

    ck_assert_str_eq(s, want);
    free(s);
    json_decref(got);
}

TEST(html_13_2_5_43_comments_end_where_browsers_end_them)
{
    check_tokens("<!-->a", "[[\"Comment\",\"\"],[\"Character\",\"a\"]]");
    check_tokens("<!--->a", "[[\"Comment\",\"\"],[\"Character\",\"a\"]]");
    check_tokens("<!--a--!>b", "[[\"Comment\",\"a\"],[\"Character\",\"b\"]]");
    check_tokens("<!--!>-->", "[[\"Comment\",\"!>\"]]");
    check_tokens("<!---!>-->", "[[\"Comment\",\"-!>\"]]");
    check_tokens("<!-- <!-->b", "[[\"Comment\",\" <!\"],"
                                "[\"Character\",\"b\"]]");
    check_tokens("<!--a--", "[[\"Comment\",\"a\"]]");
    check_tokens("<?php <a> ?>", "[[\"Comment\",\"?php <a\"],"
                                 "[\"Character\",\" ?>\"]]");
}

TEST(html_13_2_5_32_attributes_need_no_quotes_and_no_space)
{
    check_tokens("<a/href=x>", "[[\"StartTag\",\"a\",{\"href\":\"x\"}]]");
    check_tokens("<a href=x/>", "[[\"StartTag\",\"a\",{\"href\":\"x/\"}]]");
    check_tokens("<A HREF='x'id=1 href=y />",
                 "[[\"StartTag\",\"a\",{\"href\":\"x\",\"id\":\"1\"},true]]");
    check_tokens("<a =x =>", "[[\"StartTag\",\"a\",{\"=x\":\"\"}]]");
    check_tokens("<a href= >b", "[[\"StartTag\",\"a\",{\"href\":\"\"}],"
                                "[\"Character\",\"b\"]]");
}

TEST(html_13_2_5_a_tag_without_its_end_is_no_tag)
{
    check_tokens("a<a href=x", "[[\"Character\",\"a\"]]");
    check_tokens("a<a href=\"x>b</a>", "[[\"Character\",\"a\"]]");
    check_tokens("a</a href='", "[[\"Character\",\"a\"]]");
}

static void check_script(const char *script, const char *text)
{
    struct html_reader r;

    html_begin(&r, bytes_of_str(script));
    html_switch(&r, HTML_SCRIPT, bytes_of_str("script"));
    ck_assert_int_eq(html_next(&r), HTML_TEXT);
    ck_assert_uint_eq(r.text.len, strlen(text));
    ck_assert_mem_eq(r.text.at, text, r.text.len);
}

TEST(html_13_2_5_18_a_script_hides_its_end_tag_in_a_comment_twice_opened)
{
    check_script("a</script>b", "a");
    check_script("a</scripts>b", "a</scripts>b");
    check_script("<!--</script>-->", "<!--");
    check_script("<!--<script></script>--></script>",
                 "<!--<script></script>-->");
    check_script("<!--<script>--></script>", "<!--<script>-->");
    check_script("<!--<script></script></script>", "<!--<script></script>");
    check_script("<!--><script></script>", "<!--><script>");
    check_script("<!--<scripty></script>", "<!--<scripty>");
}

TEST(html_13_2_5_73_the_longest_name_of_a_reference_counts)
{
    check_tokens("&notin;&notit;&not", "[[\"Character\",\"\u2209\u00acit;"
                                       "\u00ac\"]]");
    check_tokens(
        "<a b=\"&copy=1&copyx&copy;&copy\">",
        "[[\"StartTag\",\"a\",{\"b\":\"&copy=1&copyx\u00a9\u00a9\"}]]");
    check_tokens("&#x80;&#0;&#xD800;&#1114112;&#;&#x;",
                 "[[\"Character\",\"\u20ac\ufffd\ufffd\ufffd&#;&#x;\"]]");
}

TEST(ours_words_are_found_in_any_case_and_nothing_else_is)
{
    for (int w = WORD_OTHER + 1; w < WORD_COUNT_; w++) {
        struct bytes text = html_word_text((enum html_word)w);
        char upper[17] = {0};

        for (size_t i = 0; i < text.len; i++)
            upper[i] = text.at[i] >= 'a' && text.at[i] <= 'z'
                           ? (char)(text.at[i] - 32)
                           : text.at[i];
        ck_assert_int_eq(html_word_of(text), w);
        ck_assert_int_eq(html_word_of(bytes_of_str(upper)), w);
        ck_assert_int_eq(html_word_of(bytes_of(upper, text.len + 1)),
                         WORD_OTHER);
    }
    ck_assert_int_eq(html_word_of(bytes_of_str("blink")), WORD_OTHER);
    ck_assert_int_eq(html_word_of(bytes_of_str("")), WORD_OTHER);
    ck_assert_int_eq(html_word_of(bytes_of_str("H\xc3\x92")), WORD_OTHER);
    ck_assert_int_eq(html_word_of(bytes_of_str("abcdefghijklmnopqrstu")),
                     WORD_OTHER);
}
