/* SPDX-License-Identifier: MIT */
/* Paths, queries, Host, times, metadata and members: answers checked by
 * hand. */
#include <stdlib.h>

#include "service/http/http_text.h"
#include "tests/unit/unit.h"

static struct bytes t(const char *s)
{
    return bytes_of_str(s);
}

static void decodes(const char *from, bool form, const char *to)
{
    char *out = http_decode(t(from), form);

    if (to == NULL)
        ck_assert_ptr_null(out);
    else
        ck_assert_str_eq(out, to);
    free(out);
}

TEST(rfc3986_2_1_octets_stand_as_two_hex_digits)
{
    decodes("a%2Fb%c3%BC", false, "a/b\xc3\xbc");
    decodes("a+b", false, "a+b");
    decodes("a+b%2B", true, "a b+");
    decodes("", false, "");
    decodes("%", false, NULL);
    decodes("%4", false, NULL);
    decodes("a%4g", false, NULL);
    decodes("%41", false, "A");
    decodes("%00", false, NULL);
    decodes("%ff", false, NULL);
    decodes("%c3", false, NULL);
}

TEST(a_query_is_names_and_values_each_name_once)
{
    json_t *o = http_query(t("a=1&b=x%26y=z&c"));

    ck_assert_ptr_nonnull(o);
    ck_assert_uint_eq(json_object_size(o), 3);
    ck_assert_str_eq(json_string_value(json_object_get(o, "a")), "1");
    ck_assert_str_eq(json_string_value(json_object_get(o, "b")), "x&y=z");
    ck_assert_str_eq(json_string_value(json_object_get(o, "c")), "");
    json_decref(o);
    o = http_query(t(""));
    ck_assert_uint_eq(json_object_size(o), 0);
    json_decref(o);
    ck_assert_ptr_null(http_query(t("a=1&a=2")));
    ck_assert_ptr_null(http_query(t("a=%")));
}

TEST(a_host_is_local_by_number_or_as_localhost_or_as_it_was_given)
{
    static const char *const yes[] = {"localhost",   "LocalHost:7072",
                                      "127.0.0.1",   "127.255.0.1:1",
                                      "[::1]",       "[::1]:7072",
                                      "my.test:7072"};
    static const char *const no[] = {"",
                                     "a.test",
                                     "127.0.0.1.a.test",
                                     "localhost.a.test",
                                     "128.0.0.1",
                                     "10.0.0.1",
                                     "[::2]",
                                     "[::1",
                                     "[::1]a.test",
                                     "localhost:a",
                                     "a.test:127.0.0.1",
                                     "127.1",
                                     "::1"};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(http_host_is_local(t(yes[i]), t("my.test")), "%s",
                      yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!http_host_is_local(t(no[i]), t("my.test")), "%s", no[i]);
    ck_assert(!http_host_is_local(bytes_of(NULL, 0), t("")));
}

TEST(rfc3339_times_exist_and_begin_with_1970)
{
    static const char *const no[] = {
        "",
        "2026-11-21",
        "2026-11-21 12:00:00Z",
        "2026-11-21T12:00:00",
        "2026-11-21T12:00:00+0100",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:59:59+01:00",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1x",
        "2026-01-01T00:00:00ZZ",
    };
    uint64_t s = 0;

    /* date -u -d 2026-11-21T12:00:00Z +%s */
    ck_ok(http_time_parse(t("2026-11-21T12:00:00Z"), &s));
    ck_assert_uint_eq(s, 1795262400);
    ck_ok(http_time_parse(t("2000-02-29T00:00:00.999Z"), &s));
    ck_assert_uint_eq(s, 951782400);
    ck_ok(http_time_parse(t("2026-11-21T05:30:00.5-06:30"), &s));
    ck_assert_uint_eq(s, 1795262400);
    ck_assert_int_eq(http_time_parse(bytes_of("2026-01-01T00:00:00Z\0", 21),
                                     &s),
                     STATUS_FORMAT);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(http_time_parse(t(no[i]), &s) == STATUS_FORMAT, "%s",
                      no[i]);
}

static void shows(json_t *j, const char *text)
{
    if (text == NULL)
        ck_assert(json_is_null(j));
    else
        ck_assert_str_eq(json_string_value(j), text);
    json_decref(j);
}

TEST(times_go_out_in_utc_and_end_with_the_year_9999)
{
    shows(http_time_json(0), NULL);
    shows(http_time_json(1795262400123), "2026-11-21T12:00:00.123Z");
    shows(http_seconds_json(1795262400), "2026-11-21T12:00:00.000Z");
    shows(http_seconds_json(UINT64_MAX), "9999-12-31T23:59:59.000Z");
    shows(http_time_json(INT64_MAX), "9999-12-31T23:59:59.000Z");
}

TEST(metadata_goes_in_as_protobuf_and_comes_out_as_json)
{
    static const char text[] =
        "{\"k\":[\"v\",\"\xc3\xbc\"],\"\":[],\"e\":[\"\"]}";
    json_t *in = json_loads(text, 0, NULL), *out;
    struct arena *a = arena_new(1 << 16);
    struct frontier_item item = {0};

    ck_ok(http_item_take(&item, t("http://a/"), t("k"), t("c"), in, a));
    ck_assert(bytes_is(item.url, "http://a/"));
    /* field 3 { key 1 "k", value 2 { values 1 "v", values 1 "ü" } } */
    ck_assert(bytes_equal(
        bytes_of(item.metadata.at, 14),
        bytes_of("\x1a\x0c\x0a\x01k\x12\x07\x0a\x01v\x0a\x02\xc3\xbc", 14)));
    out = http_metadata_json(item.metadata, a);
    ck_assert(json_equal(in, out));
    json_decref(out);
    json_decref(in);
    out = http_metadata_json(bytes_of(NULL, 0), a);
    ck_assert_uint_eq(json_object_size(out), 0);
    json_decref(out);
    in = json_loads("{\"k\":\"v\"}", 0, NULL);
    ck_assert_int_eq(http_item_take(&item, t(""), t(""), t(""), in, a),
                     STATUS_FORMAT);
    json_decref(in);
    arena_free(a);
}

struct read {
    struct bytes text;
    uint64_t number, lease, time;
    bool flag;
};

/* RFC 8259 section 6 knows one kind of number. */
TEST(numbers_that_equal_an_integer_are_integers)
{
    static const char text[] =
        "[5.0, 1e2, -0.0, {\"n\": [9.2e18, 0.5, 1e300, \"5.0\", true]}, 7]";
    json_error_t wrong;
    json_t *got = http_body(bytes_of(text, sizeof text - 1), &wrong);
    json_t *want =
        json_pack("[i,i,i,{s:[I,f,f,s,b]},i]", 5, 100, 0, "n",
                  (json_int_t)9200000000000000000, 0.5, 1e300, "5.0", 1, 7);

    ck_assert(json_equal(got, want));
    json_decref(got);
    json_decref(want);
    got = http_body(t("[9.3e18, -9223372036854775808.0]"), &wrong);
    ck_assert(json_is_real(json_array_get(got, 0)));
    ck_assert(json_integer_value(json_array_get(got, 1)) == INT64_MIN);
    json_decref(got);
    ck_assert_ptr_null(http_body(t(""), &wrong));
    ck_assert_ptr_null(http_body(t("{\"a\": 1, \"a\": 2}"), &wrong));
    ck_assert_int_eq(wrong.line, 1);
}
