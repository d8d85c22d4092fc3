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

START_TEST(each_line_of_a_file_is_a_cookie_a_comment_or_wrong)
{
    static const struct {
        const char *line;
        bool good;
    } t[] = {
        {"a.example\tFALSE\t/\tTRUE\t0\tk\tv", true},
        {".a.example\tTRUE\t/\tTRUE\t0\tk\t", true},
        {"a.example\tFALSE\t/\tTRUE\t0\tk", true}, /* without a value */
        {"a.example\tFALSE\t/\tTRUE\t0", false},
        {"a.example\tFALSE\t/\tTRUE\t0\tk\tv\tw", false},
        {"\tFALSE\t/\tTRUE\t0\tk\tv", false},
        {".\tFALSE\t/\tTRUE\t0\tk\tv", false},
        {"#HttpOnly_\tFALSE\t/\tTRUE\t0\tk\tv", false},
        {"#HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\tk\tv", true},
        {"#comment", true},
        {"#", true},
        {"", true},
        {"x", false},
        {" ", false},
    };
    struct buf error;
    char file[300];

    begin();
    buf_init(&error, 1000);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        buf_clear(&error);
        snprintf(file, sizeof file, "# one\r\n\r\n%s", t[i].line);
        ck_assert_msg((load(file, &error) == STATUS_OK) == t[i].good, "%s",
                      t[i].line);
        ck_assert((strstr(buf_str(&error), "/jar:3: ") != NULL) != t[i].good);
        ck_assert((error.len == 0) == t[i].good);
    }
    ck_assert_int_eq(file_replace(path, bytes_of("a\tb\tc\td\t0\tk\tv\0", 14)),
                     STATUS_OK);
    ck_assert_int_eq(cookie_jar_load(j, path, &error), STATUS_FORMAT);
    buf_fini(&error);
    end();
}
END_TEST

START_TEST(why_a_file_cannot_be_read_is_said)
{
    struct buf error, large;

    begin();
    buf_init(&error, 1000);
    ck_assert_int_eq(cookie_jar_load(j, dir, &error), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "cannot be read"));
    buf_init(&large, SIZE_MAX);
    while (large.len <= COOKIE_JAR_BYTES_MOST)
        buf_add_str(&large, "# a comment as long as it may be, and longer\n");
    ck_assert_int_eq(file_replace(path, buf_bytes(&large)), STATUS_OK);
    buf_clear(&error);
    ck_assert_int_eq(cookie_jar_load(j, path, &error), STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "longer than 8 MiB"));
    buf_fini(&large);
    buf_fini(&error);
    end();
}
END_TEST

/* Lines of the file that a jar was saved to, without the comments. */
static size_t cookies_in(const char *file, const char *of)
{
    size_t n = 0;

    for (const char *p = file; (p = strchr(p, '\n')) != NULL; p++)
        if (p[1] != '#' && strncmp(p + 1, of, strlen(of)) == 0 &&
            p[1] != '\n' && p[1] != '\0')
            n++;
    return n;
}

START_TEST(a_domain_has_so_many_and_its_newest_stay)
{
    struct buf lines;

    begin();
    buf_init(&lines, 1 << 20);
    for (unsigned i = 0; i < COOKIE_JAR_DOMAIN_MOST + 1; i++)
        buf_addf(&lines, "a.example\tFALSE\t/\tFALSE\t0\tk%u\tv\n", i);
    for (unsigned i = 0; i < COOKIE_JAR_DOMAIN_MOST; i++)
        buf_addf(&lines, "b.example\tFALSE\t/\tFALSE\t0\tk%u\tv\n", i);
    buf_add_str(&lines, ".b.example\tTRUE\t/\tFALSE\t0\twide\tv\n");
    loads(buf_str(&lines));
    (void)saved();
    ck_assert_uint_eq(cookies_in(buf_str(&text), "a.example"),
                      COOKIE_JAR_DOMAIN_MOST);
    ck_assert_ptr_null(strstr(buf_str(&text), "a.example\tFALSE\t/\tFALSE\t0"
                                              "\tk0\t"));
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "\tk180\t"));
    /* The dot says who is meant, not whose it is. */
    ck_assert_uint_eq(cookies_in(buf_str(&text), "b.example") +
                          cookies_in(buf_str(&text), ".b.example"),
                      COOKIE_JAR_DOMAIN_MOST);
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "\twide\t"));
    buf_fini(&lines);
    end();
}
END_TEST

/* Sets so many more cookies of a.example, past the jar's own calls. */
static void set_cookies(CURL *e, unsigned n)
{
    static unsigned last;
    char line[200];

    for (unsigned i = 0; i < n; i++) {
        snprintf(line, sizeof line, "a.example\tFALSE\t/\tFALSE\t0\tk%u\tv",
                 ++last);
        curl_easy_setopt(e, CURLOPT_COOKIELIST, line);
    }
}

static size_t cookies_of(CURL *e)
{
    struct curl_slist *list = NULL;
    size_t n = 0;

    curl_easy_getinfo(e, CURLINFO_COOKIELIST, &list);
    for (struct curl_slist *l = list; l != NULL; l = l->next)
        n++;
    curl_slist_free_all(list);
    return n;
}

/* Without any saving: four mebibytes of Set-Cookie are the most between two
 * trimmings, also between the first and the second. A removed cookie is listed
 * until the next one is set. */
START_TEST(a_jar_is_trimmed_each_time_so_many_octets_of_cookies_came)
{
    CURL *e;

    begin();
    cookie_jar_add_site(j, bytes_of_str("a.example"));
    e = curl_easy_init();
    ck_assert(attached(e, "a.example"));
    for (size_t kept = 0; kept < 3 * COOKIE_JAR_DOMAIN_MOST;
         kept += COOKIE_JAR_DOMAIN_MOST) {
        set_cookies(e, 400);
        cookie_jar_note(j, ((size_t)4 << 20) - 1);
        ck_assert_uint_gt(cookies_of(e), 399);
        cookie_jar_note(j, 1);
        set_cookies(e, 1);
        ck_assert_uint_eq(cookies_of(e), COOKIE_JAR_DOMAIN_MOST + 1);
    }
    curl_easy_cleanup(e);
    end();
}
END_TEST

START_TEST(a_jar_that_cannot_be_saved_is_still_changed)
{
    begin();
    cookie_jar_note(j, 1);
    ck_assert_int_ne(cookie_jar_save(j, "/nonexistent/jar"), STATUS_OK);
    ck_assert(cookie_jar_is_changed(j));
    (void)saved();
    ck_assert(!cookie_jar_is_changed(j));
    end();
    cookie_jar_free(NULL);
}
END_TEST

/* A handle that leaves the jar neither sends its cookies nor fills it. */
START_TEST(a_handle_that_leaves_the_jar_has_none_of_it)
{
    struct curl_slist *list = NULL;
    CURL *e;

    begin();
    loads("a.example\tFALSE\t/\tFALSE\t0\tk\tv\n");
    cookie_jar_add_site(j, bytes_of_str(""));
    e = curl_easy_init();
    ck_assert(attached(e, "a.example"));
    curl_easy_getinfo(e, CURLINFO_COOKIELIST, &list);
    ck_assert_ptr_nonnull(list);
    curl_slist_free_all(list);
    list = NULL;
    ck_assert(!attached(e, "b.example"));
    curl_easy_getinfo(e, CURLINFO_COOKIELIST, &list);
    ck_assert_ptr_null(list);
    curl_easy_setopt(e, CURLOPT_COOKIELIST,
                     "b.example\tFALSE\t/\tFALSE\t0\tother\tv");
    ck_assert_ptr_null(strstr(saved(), "other"));
    ck_assert_ptr_nonnull(strstr(saved(), "\tk\tv\n"));
    ck_assert(attached(e, "a.example"));
    curl_easy_getinfo(e, CURLINFO_COOKIELIST, &list);
    ck_assert(list != NULL && list->next == NULL);
    curl_slist_free_all(list);
    curl_easy_cleanup(e);
    end();
}
END_TEST

Suite *suite_cookie_jar(void)
{
    Suite *suite = suite_create("cookie_jar");
    TCase *t = tcase_create("cookie_jar");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_is_saved_is_what_was_loaded);
    tcase_add_test(t, what_is_no_cookie_is_refused_without_showing_it);
    tcase_add_test(t, only_sites_it_knows_take_part);
    tcase_add_test(t, it_is_bounded_and_the_oldest_go_first);
    tcase_add_test(t, each_line_of_a_file_is_a_cookie_a_comment_or_wrong);
    tcase_add_test(t, why_a_file_cannot_be_read_is_said);
    tcase_add_test(t, a_domain_has_so_many_and_its_newest_stay);
    tcase_add_test(t,
                   a_jar_is_trimmed_each_time_so_many_octets_of_cookies_came);
    tcase_add_test(t, a_jar_that_cannot_be_saved_is_still_changed);
    tcase_add_test(t, a_handle_that_leaves_the_jar_has_none_of_it);
    suite_add_tcase(suite, t);
    return suite;
}
