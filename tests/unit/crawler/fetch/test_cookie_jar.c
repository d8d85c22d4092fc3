/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "crawler/fetch/cookie_jar.h"
#include "frontier/url/url.h"
#include "tests/unit/unit.h"

#define HEAD                                                                   \
    "# Netscape HTTP Cookie File\n# The cookies of a crawl: "                  \
    "urlweir " URLWEIR_VERSION ".\n\n"

static char dir[64], path[128];
static struct cookie_jar *j;
static struct buf text, lent;

static void begin(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    snprintf(dir, sizeof dir, "/tmp/urlweir-jar-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/jar", dir);
    j = cookie_jar_new();
    ck_assert_ptr_nonnull(j);
    buf_init(&text, COOKIE_JAR_BYTES_MOST);
    buf_init(&lent, SIZE_MAX);
}

static void end(void)
{
    cookie_jar_free(j);
    buf_fini(&text);
    buf_fini(&lent);
    unlink(path);
    rmdir(dir);
}

static enum status load(const char *content, struct buf *error)
{
    ck_ok(file_replace(path, bytes_of_str(content)));
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

    ck_ok(cookie_jar_save(j, path));
    ck_assert_int_eq(stat(path, &sb), 0);
    ck_assert_int_eq(sb.st_mode & 0777, 0600);
    buf_clear(&text);
    ck_ok(file_read(path, &text));
    return buf_str(&text);
}

TEST(what_is_saved_is_what_was_loaded)
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

TEST(what_is_no_cookie_is_refused_without_showing_it)
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

static bool attached(CURL *e, const char *host)
{
    return cookie_jar_lend(j, e, bytes_of_str(host), &lent);
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

/* As a response does. */
static void set_cookie(CURL *e, const char *line)
{
    ck_assert_int_eq(curl_easy_setopt(e, CURLOPT_COOKIELIST, line), CURLE_OK);
}

/* Promise (Installing and checks): the cookie jar is for the sites of the seeds
 * and of its file, is bounded, can be used by all fetchers at once, and is
 * saved with mode 0600; the file named by --cookies is never written to. See
 * also `cookie_jar/it_is_bounded_and_the_oldest_go_first`,
 * `cookie_jar/fetchers_may_use_one_jar_and_end_after_it`,
 * `cookie_jar/of_a_handle_only_what_changed_in_it_goes_to_the_jar`,
 * `cookie_jar/what_is_saved_is_what_was_loaded`, `tests/cli/secrets.sh`. */
TEST(only_sites_it_knows_take_part)
{
    CURL *e;

    begin();
    e = curl_easy_init();
    ck_assert(!cookie_jar_lend(NULL, e, bytes_of_str("a.example"), &lent));
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

TEST(it_is_bounded_and_the_oldest_go_first)
{
    CURL *e;
    char line[200];
    size_t lines = 0;

    begin();
    cookie_jar_add_site(j, bytes_of_str("a.example"));
    e = curl_easy_init();
    for (unsigned d = 0; d < 30; d++) {
        ck_assert(attached(e, "a.example"));
        for (unsigned i = 0; i < COOKIE_JAR_DOMAIN_MOST + 20; i++) {
            snprintf(line, sizeof line,
                     "d%u.a.example\tFALSE\t/\tFALSE\t0\tk%u\tv", d, i);
            set_cookie(e, line);
        }
        cookie_jar_take(j, e, &lent);
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

TEST(each_line_of_a_file_is_a_cookie_a_comment_or_wrong)
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
    ck_ok(file_replace(path, bytes_of("a\tb\tc\td\t0\tk\tv\0", 14)));
    ck_assert_int_eq(cookie_jar_load(j, path, &error), STATUS_FORMAT);
    buf_fini(&error);
    end();
}

/* Between the request and its response another fetcher changed `b` and removed
 * `c`; this response changes `a`, removes `d` and says nothing of the others.
 */
TEST(of_a_handle_only_what_changed_in_it_goes_to_the_jar)
{
    CURL *e, *other;
    struct buf others;

    begin();
    buf_init(&others, 4096);
    for (char name = 'a'; name <= 'd'; name++) {
        char line[] = "a.example\tFALSE\t/\tFALSE\t0\t?\t1\n";

        line[strlen(line) - 4] = name;
        loads(line);
    }
    e = curl_easy_init();
    other = curl_easy_init();
    ck_assert(attached(e, "a.example"));
    ck_assert(cookie_jar_lend(j, other, bytes_of_str("a.example"), &others));
    set_cookie(other, "a.example\tFALSE\t/\tFALSE\t0\tb\t2");
    set_cookie(other, "a.example\tFALSE\t/\tFALSE\t1\tc\t2");
    cookie_jar_take(j, other, &others);
    set_cookie(e, "a.example\tFALSE\t/\tFALSE\t0\ta\t2");
    set_cookie(e, "a.example\tFALSE\t/\tFALSE\t1\td\t2");
    cookie_jar_take(j, e, &lent);
    ck_assert_str_eq(saved(), HEAD "a.example\tFALSE\t/\tFALSE\t0\ta\t2\n"
                                   "a.example\tFALSE\t/\tFALSE\t0\tb\t2\n");
    curl_easy_cleanup(other);
    curl_easy_cleanup(e);
    buf_fini(&others);
    end();
}

/* ---- threads ---- */

#define THREADS 8
#define TURNS   200

struct fetcher {
    pthread_t thread;
    unsigned nth;
    CURL *last; /* of its last request */
};

/* Each response of a fetcher sets a cookie of its own. */
static void *fetch_with_cookies(void *ctx)
{
    struct fetcher *f = ctx;
    char line[128], was[16];
    struct buf given;

    buf_init(&given, SIZE_MAX);
    for (unsigned i = 0; i < TURNS; i++) {
        curl_easy_cleanup(f->last);
        f->last = curl_easy_init();
        if (!cookie_jar_lend(j, f->last, bytes_of_str("a.example"), &given))
            break;
        snprintf(was, sizeof was, "\tk%u\t%u", f->nth, i - 1);
        if (i > 0 && memmem(given.at, given.len, was, strlen(was) + 1) == NULL)
            break; /* lost by another's response */
        snprintf(line, sizeof line, "a.example\tFALSE\t/\tFALSE\t0\tk%u\t%u",
                 f->nth, i);
        curl_easy_setopt(f->last, CURLOPT_COOKIELIST, line);
        cookie_jar_take(j, f->last, &given);
        if (i == TURNS / 2)
            cookie_jar_add_site(j, bytes_of_str("b.example"));
    }
    buf_fini(&given);
    return NULL;
}

/* The handles of fetchers may outlive the jar, which is saved meanwhile. */
TEST(fetchers_may_use_one_jar_and_end_after_it)
{
    struct fetcher f[THREADS] = {{.nth = 0}};
    char line[64];

    begin();
    cookie_jar_add_site(j, bytes_of_str("a.example"));
    for (unsigned i = 0; i < THREADS; i++) {
        f[i].nth = i;
        ck_assert_int_eq(pthread_create(&f[i].thread, NULL, fetch_with_cookies,
                                        &f[i]),
                         0);
    }
    for (unsigned i = 0; i < 20; i++)
        (void)saved();
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(f[i].thread, NULL);
    (void)saved();
    for (unsigned i = 0; i < THREADS; i++) {
        snprintf(line, sizeof line, "\tk%u\t%u\n", i, TURNS - 1);
        ck_assert_msg(strstr(buf_str(&text), line) != NULL, "%s",
                      buf_str(&text));
    }
    end();
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_uint_ge(cookies_of(f[i].last), 1);
        curl_easy_cleanup(f[i].last);
    }
}

static bool anew(const char *url)
{
    return cookie_jar_asks_anew(j, bytes_of_str(url));
}

/* A request for `url` is redirected, with the cookies of now. */
static void redirected(const char *url)
{
    CURL *easy = curl_easy_init();

    ck_assert_ptr_nonnull(easy);
    (void)cookie_jar_lend(j, easy, url_canonical_host(bytes_of_str(url)),
                          &lent);
    cookie_jar_note_redirect(j, bytes_of_str(url), &lent);
    curl_easy_cleanup(easy);
}

TEST(a_redirected_url_is_asked_anew_if_other_cookies_would_go_with_it)
{
#define LINE(domain, tail, path, secure, name, value)                          \
    domain "\t" tail "\t" path "\t" secure "\t4102444800\t" name "\t" value "\n"
    begin();
    ck_assert(!cookie_jar_asks_anew(NULL, bytes_of_str("http://a.test/")));
    cookie_jar_add_site(j, bytes_of_str("a.test"));
    redirected("http://a.test/x");
    ck_assert(!anew("http://a.test/x"));
    /* These do not go with it. */
    loads(LINE("b.test", "TRUE", "/", "FALSE", "n", "v")
              LINE("sub.a.test", "TRUE", "/", "FALSE", "n", "v")
                  LINE("a.test", "FALSE", "/xy", "FALSE", "n", "v")
                      LINE("a.test", "FALSE", "/", "TRUE", "n", "v"));
    ck_assert(!anew("http://a.test/x"));
    ck_assert(!anew("http://c.test/"));
    ck_assert(
        anew("https://a.test/x")); /* not known, and there is one for it */
    ck_assert(anew("http://a.test/xy/z?q"));
    loads(LINE(".a.test", "TRUE", "/x", "FALSE", "seen", "1"));
    ck_assert(anew("http://a.test/x"));
    redirected("http://a.test/x");
    ck_assert(!anew("http://a.test/x")); /* the same again: a loop */
    loads(".a.test\tTRUE\t/x\tFALSE\t4102444801\tseen\t1\n");
    ck_assert(!anew("http://a.test/x")); /* it only lives longer */
    loads(LINE(".a.test", "TRUE", "/x", "FALSE", "seen", "2"));
    ck_assert(anew("http://a.test/x"));
    end();
}
