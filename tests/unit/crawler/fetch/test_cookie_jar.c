/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "crawler/fetch/cookie_jar.h"

#define HEAD                                                                   \
    "# Netscape HTTP Cookie File\n# The cookies of a crawl: "                  \
    "urlweir " URLWEIR_VERSION ".\n\n"

static char dir[64], path[128];
static struct cookie_jar *j;
static struct buf text;

static void begin(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    snprintf(dir, sizeof dir, "/tmp/urlweir-jar-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/jar", dir);
    j = cookie_jar_new();
    ck_assert_ptr_nonnull(j);
    buf_init(&text, COOKIE_JAR_BYTES_MOST);
}

static void end(void)
{
    cookie_jar_free(j);
    buf_fini(&text);
    unlink(path);
    rmdir(dir);
}

static enum status load(const char *content, struct buf *error)
{
    ck_assert_int_eq(file_replace(path, bytes_of_str(content)), STATUS_OK);
    return cookie_jar_load(j, path, error);
}

static void loads(const char *content)
{
    struct buf error;

    buf_init(&error, 1000);
    ck_assert_msg(load(content, &error) == STATUS_OK, "%s", buf_str(&error));
    buf_fini(&error);
}

static const char *saved(void)
{
    struct stat sb;

    ck_assert_int_eq(cookie_jar_save(j, path), STATUS_OK);
    ck_assert_int_eq(stat(path, &sb), 0);
    ck_assert_int_eq(sb.st_mode & 0777, 0600);
    buf_clear(&text);
    ck_assert_int_eq(file_read(path, &text), STATUS_OK);
    return buf_str(&text);
}

START_TEST(what_is_saved_is_what_was_loaded)
{
    begin();
    loads("# Netscape HTTP Cookie File\r\n\n"
          "#HttpOnly_a.example\tFALSE\t/\tTRUE\t0\tsid\tx\r\n");
    ck_assert_str_eq(saved(),
                     HEAD "#HttpOnly_a.example\tFALSE\t/\tTRUE\t0\tsid\tx\n");
    loads("a.example\tFALSE\t/\tTRUE\t0\tsid\ty\n");
    ck_assert_ptr_nonnull(strstr(saved(), "\tsid\ty\n"));
    ck_assert_ptr_null(strstr(saved(), "\tsid\tx\n"));
    end();
}
END_TEST

START_TEST(what_is_no_cookie_is_refused_without_showing_it)
{
    struct buf error;

    begin();
    buf_init(&error, 1000);
    ck_assert_int_eq(load("# x\n\na.example FALSE / FALSE 0 k s3cret\n",
                          &error),
                     STATUS_FORMAT);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "/jar:3: a cookie is"));
    ck_assert_ptr_null(strstr(buf_str(&error), "s3cret"));
    unlink(path);
    ck_assert_int_eq(cookie_jar_load(j, path, &error), STATUS_NOT_FOUND);
    buf_fini(&error);
    end();
}
END_TEST

static bool attached(CURL *e, const char *host)
{
    return cookie_jar_attach(j, e, bytes_of_str(host));
}

START_TEST(only_sites_it_knows_take_part)
{
    CURL *e;

    begin();
    e = curl_easy_init();
    ck_assert(!cookie_jar_attach(NULL, e, bytes_of_str("a.example")));
    loads(".in.file.example\tTRUE\t/\tTRUE\t0\tk\tv\n");
    cookie_jar_add_site(j, bytes_of_str("www.seed.co.uk"));
    cookie_jar_add_site(j, bytes_of_str("127.0.0.1"));
    ck_assert(attached(e, "in.file.example"));
    ck_assert(attached(e, "x.in.file.example"));
    ck_assert(!attached(e, "file.example"));
    ck_assert(attached(e, "login.seed.co.uk"));
    ck_assert(!attached(e, "other.co.uk"));
    ck_assert(attached(e, "127.0.0.1"));
    ck_assert(!attached(e, "0.0.1"));
    ck_assert(!attached(e, ""));
    curl_easy_cleanup(e);
    end();
}
END_TEST

START_TEST(it_is_bounded_and_the_oldest_go_first)
{
    CURL *e;
    char line[200];
    size_t lines = 0;

    begin();
    cookie_jar_add_site(j, bytes_of_str("a.example"));
    e = curl_easy_init();
    ck_assert(attached(e, "a.example"));
    for (unsigned d = 0; d < 30; d++) {
        for (unsigned i = 0; i < COOKIE_JAR_DOMAIN_MOST + 20; i++) {
            snprintf(line, sizeof line,
                     "d%u.a.example\tFALSE\t/\tFALSE\t0\tk%u\tv", d, i);
            curl_easy_setopt(e, CURLOPT_COOKIELIST, line);
            cookie_jar_note(j, strlen(line));
        }
    }
    ck_assert(cookie_jar_is_changed(j));
    saved();
    ck_assert(!cookie_jar_is_changed(j));
    for (const char *p = saved(); (p = strstr(p, "\tk")) != NULL; p++)
        lines++;
    ck_assert_uint_eq(lines, COOKIE_JAR_MOST);
    ck_assert_ptr_null(strstr(saved(), "\tk5\t"));
    ck_assert_ptr_nonnull(strstr(saved(), "\tk199\t"));
    curl_easy_cleanup(e);
    end();
}
END_TEST

Suite *suite_cookie_jar(void)
{
    Suite *suite = suite_create("cookie_jar");
    TCase *t = tcase_create("cookie_jar");

    tcase_add_test(t, what_is_saved_is_what_was_loaded);
    tcase_add_test(t, what_is_no_cookie_is_refused_without_showing_it);
    tcase_add_test(t, only_sites_it_knows_take_part);
    tcase_add_test(t, it_is_bounded_and_the_oldest_go_first);
    suite_add_tcase(suite, t);
    return suite;
}
