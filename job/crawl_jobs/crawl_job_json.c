/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_json.c - reads settings and seeds that clients send.
 *
 * A value is converted to the text that a file would have: strings unchanged,
 * numbers in decimal, lists from arrays. settings.c writes the same
 * format.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kafka/kafka_address.h"
#include "config/config.h"
#include "crawler/address/guard.h"
#include "filter/redis/redis_place.h"
#include "frontier/url/url.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/crawl_setup.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

/*
 * Checks the paths that clients of a service name.
 *
 * A path is walked name by name with O_NOFOLLOW, so that neither `..` nor a
 * symbolic link leads out; openat2(2) could accept links that stay inside, but
 * many containers refuse it. A process that may change the directory could
 * still put a link there between this check and the use; a client of the
 * service cannot.
 */

#define PATH_NAMES 32

static enum status refuse(struct buf *why, const char *what)
{
    buf_add_str(why, what);
    return STATUS_ARG;
}

/* Copies the next name of *path into `name`; false: there is none, or it is not
 * valid. */
static bool next_name(const char **path, char *name, size_t size)
{
    size_t n = strcspn(*path, "/");

    if (n == 0 || n >= size)
        return false;
    memcpy(name, *path, n);
    name[n] = '\0';
    *path += n;
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Checks for a plain file, or, if it may be new, for none. */
static enum status check_last(int dir, const char *name, bool is_new,
                              struct buf *why)
{
    struct stat s;

    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && is_new
                   ? STATUS_OK
                   : refuse(why, "the service's directory has no such file");
    return S_ISREG(s.st_mode) ? STATUS_OK
                              : refuse(why, "it is not a plain "
                                            "file");
}

enum status crawl_job_path(const char *base, const char *path, bool is_new,
                           struct buf *out, struct buf *why)
{
    const char *at = path;
    enum status st = STATUS_AGAIN;
    char name[256];
    int dir;

    if (base == NULL)
        return refuse(why, "requests to this process cannot name files");
    if (path[0] == '/' || path[0] == '-')
        return refuse(why,
                      "a path must be relative to the service's directory");
    dir = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; dir >= 0 && st == STATUS_AGAIN; i++) {
        int next;

        if (i == PATH_NAMES || !next_name(&at, name, sizeof name)) {
            st = refuse(why, "it is not a path inside the service's directory");
        } else if (*at == '\0') {
            st = check_last(dir, name, is_new, why);
        } else {
            next = openat(dir, name,
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            close(dir);
            dir = next;
            at++;
        }
    }
    if (dir < 0)
        return refuse(why, "the service's directory has no such directory");
    close(dir);
    if (st == STATUS_OK)
        buf_addf(out, "%s/%s", base, path);
    return st;
}

/*
 * The options of a crawl in a service: those of `urlweir
 * crawl`, except options of the process.
 *
 * Options for the terminal of a process mean nothing in a service, where many
 * crawls share a process. They are refused with a hint at the service's
 * equivalent, never silently ignored.
 */

static const struct {
    const char *name, *value; /* NULL: any value */
    const char *why;
} refused[] = {
    {"output", NULL,
     "a service keeps each crawl in a directory of its own; leave this "
     "setting out"},
    {"quiet", NULL, "leave it out; start the service with --quiet instead"},
    {"verbose", NULL, "leave it out; start the service with --verbose instead"},
    {"decisions", NULL,
     "leave it out; start the service with --verbose instead"},
    {"progress", NULL,
     "leave it out; `urlweir status`, the dashboard and /v1/events show the "
     "progress of a crawl in a service"},
    {"until-idle", NULL,
     "leave it out; a crawl in a service waits for dates and for seeds"},
    {"metrics", NULL,
     "leave it out; `urlweir serve --http` serves /metrics of all its crawls"},
    {"metrics-open", NULL,
     "leave it out; options of `urlweir serve` say who may read"},
    {"cluster", NULL,
     "leave it out; `urlweir crawl --cluster` and `urlweir join` are the "
     "workers of a crawl on many machines"},
    {"sandbox", NULL,
     "leave it out; --sandbox is an option of `urlweir serve`"},
    {"user", NULL, "leave it out; --user is an option of `urlweir serve`"},
    {"input", "-",
     "a service has no standard input for a crawl; name a file, or give the "
     "seeds as `seeds`"},
    {"jsonl", "-", "a service has no standard output for a crawl; name a file"},
};

/* Why a crawl job does not accept `text` for option `o`, and what to do; NULL:
 * it accepts it. */
static const char *crawl_job_refuse(const struct option_spec *o,
                                    struct bytes text)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, o->name) == 0 &&
            (refused[i].value == NULL ? text.len > 0
                                      : bytes_is(text, refused[i].value)))
            return refused[i].why;
    return NULL;
}

bool crawl_jobs_takes(const struct option_spec *o)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, o->name) == 0 && refused[i].value == NULL)
            return false;
    return (o->flags & (OPTION_LINE_ONLY | OPTION_FILE_ONLY)) == 0;
}

enum status crawl_job_read(struct crawl_settings *s, const char *path,
                           struct bytes yaml, enum option_source from,
                           struct buf *why)
{
    enum status st = config_read_but(&crawl_options, s, yaml, path, from,
                                     crawl_job_refuse, why);
    struct buf error;

    buf_init(&error, 4096);
    if (st == STATUS_OK)
        st = settings_check(s, &error);
    if (error.len > 0)
        buf_addf(why, "%s: %s", path, buf_str(&error));
    buf_fini(&error);
    return st;
}

enum status crawl_job_read_text(const char *path, struct buf *text,
                                struct buf *why)
{
    enum status st = file_read(path, text);

    if (st == STATUS_LIMIT)
        buf_addf(why, "%s: longer than %zu bytes", path, CONFIG_CEILING);
    else if (st != STATUS_OK)
        buf_addf(why, "%s: %s", path,
                 st == STATUS_IO ? "cannot be read" : status_text(st));
    return st;
}

#define NEW_SEEDS_MOST   1000 /* of a new crawl; its settings keep them */
#define SEEDS_BYTES_MOST ((size_t)256 << 10)

static const struct option_spec *spec_of(size_t i)
{
    return &crawl_options.spec[i];
}

/* Puts "delay: " and the reason into `why`. */
static enum status wrong(struct buf *why, const char *name, const char *what)
{
    buf_addf(why, "%s: %s", name, what);
    return STATUS_ARG;
}

/* Does the option name a file? *is_new: it may be missing. */
static bool names_file(const char *name, bool *is_new)
{
    static const char *const read[] = {"input",   "block-filter", "block-exact",
                                       "rewrite", "cookies",      "netrc",
                                       "cert",    "key",          "cacert",
                                       "since"};

    *is_new = strcmp(name, "jsonl") == 0;
    if (*is_new)
        return true;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (strcmp(name, read[i]) == 0)
            return true;
    return false;
}

/* Lines go only to a file with a name for lines, so that a client cannot create
 * other files of the service. */
static bool is_lines(const char *path)
{
    size_t n = strlen(path);

    return n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
}

static enum status set_path(struct crawl_settings *s, size_t i,
                            const char *path, bool is_new, const char *base,
                            struct buf *why)
{
    struct buf whole, error;
    enum status st;

    if (is_new && !is_lines(path))
        return wrong(why, spec_of(i)->name, "its name must end in .jsonl");
    buf_init(&whole, 8192);
    buf_init(&error, 1024);
    st = crawl_job_path(base, path, is_new, &whole, &error);
    if (st == STATUS_OK)
        st = option_set(&crawl_options, i, s, buf_bytes(&whole),
                        OPTION_FROM_LINE, &error);
    if (st != STATUS_OK)
        st = wrong(why, spec_of(i)->name, buf_str(&error));
    buf_fini(&whole);
    buf_fini(&error);
    return st;
}

static enum status set_text(struct crawl_settings *s, size_t i,
                            struct bytes text, const char *base,
                            struct buf *why)
{
    const char *name = spec_of(i)->name;
    struct buf error;
    enum status st;
    bool is_new;

    if (crawl_job_refuse(spec_of(i), text) != NULL)
        return wrong(why, name, crawl_job_refuse(spec_of(i), text));
    if (memchr(text.at, '\0', text.len) != NULL)
        return wrong(why, name, "it holds a zero byte");
    if (names_file(name, &is_new) && text.len > 0 &&
        !(strcmp(name, "block-filter") == 0 && redis_address_is_url(text.at)) &&
        !(is_new && kafka_address_is_url(text.at)))
        return set_path(s, i, text.at, is_new, base, why);
    buf_init(&error, 4096);
    st = option_set(&crawl_options, i, s, text, OPTION_FROM_LINE, &error);
    if (st != STATUS_OK)
        st = wrong(why, name, buf_str(&error));
    buf_fini(&error);
    return st;
}

/* Sets an option from a JSON value that is not an array. */
static enum status set_scalar(struct crawl_settings *s, size_t i,
                              const json_t *v, const char *base,
                              struct buf *why)
{
    char text[64];

    if (json_is_string(v)) {
        size_t n = json_string_length(v);

        return set_text(s, i, bytes_of(json_string_value(v), n), base, why);
    }
    if (json_is_integer(v))
        snprintf(text, sizeof text, "%" PRId64, (int64_t)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(text, sizeof text, "%.12g", json_real_value(v));
    else if (json_is_boolean(v))
        snprintf(text, sizeof text, "%s", json_is_true(v) ? "true" : "false");
    else
        return wrong(why, spec_of(i)->name,
                     "a setting must be a string, a number, true or false, or "
                     "an array of strings");
    return set_text(s, i, bytes_of_str(text), base, why);
}

static enum status set_array(struct crawl_settings *s, size_t i,
                             const json_t *v, const char *base, struct buf *why)
{
    enum status st = STATUS_OK;

    if (spec_of(i)->type != OPTION_LIST)
        return wrong(why, spec_of(i)->name, "it takes one value, not many");
    option_clear(&crawl_options, i, s, OPTION_FROM_LINE);
    for (size_t k = 0; st == STATUS_OK && k < json_array_size(v); k++)
        st = json_is_string(json_array_get(v, k))
                 ? set_scalar(s, i, json_array_get(v, k), base, why)
                 : wrong(why, spec_of(i)->name, "its items must be strings");
    return st;
}

static enum status set_one(struct crawl_settings *s, const char *name,
                           const json_t *v, const char *base, struct buf *why)
{
    size_t i = option_find(&crawl_options, bytes_of_str(name));
    bool alike = false;

    if (i == crawl_options.count) {
        const char *near =
            option_nearest(&crawl_options, bytes_of_str(name),
                           OPTION_LINE_ONLY | OPTION_OF_RUN, &alike);

        buf_addf(why, "%.40s: there is no such setting", name);
        if (alike)
            buf_addf(why, "; did you mean %s?", near);
        return STATUS_ARG;
    }
    if ((spec_of(i)->flags & OPTION_LINE_ONLY) != 0)
        return wrong(why, name,
                     "a crawl in a service does not have this "
                     "setting");
    if (spec_of(i)->flags & OPTION_FILE_ONLY)
        return wrong(why, name, "seeds are given beside the settings");
    if (json_is_array(v))
        return set_array(s, i, v, base, why);
    if (spec_of(i)->type == OPTION_LIST)
        option_clear(&crawl_options, i, s, OPTION_FROM_LINE);
    return set_scalar(s, i, v, base, why);
}

/* ---- servers that a setting names ---- */

/* A Redis server is asked as soon as the setting is there, past the guard, and
 * the answer would tell which ports of this network are open. With
 * allow-private a crawl may ask them all anyway. */
static const char *refuse_redis(const struct crawl_settings *s,
                                const char *value)
{
    if (value == NULL || !redis_address_is_url(value))
        return NULL;
    if (strncmp(value, "redis+unix:", 11) == 0)
        return "a socket is named in a file of `serve --crawl` alone";
    return s->allow_private
               ? NULL
               : "a Redis server is named in a file of `serve --crawl`, or in "
                 "a crawl with allow-private";
}

/* So are Kafka brokers. A file that a property names would be read. */
static const char *refuse_kafka(const struct crawl_settings *s)
{
    if (s->jsonl == NULL || !kafka_address_is_url(s->jsonl) || s->allow_private)
        return NULL;
    return "Kafka brokers are named in a file of `serve --crawl`, or in a "
           "crawl with allow-private";
}

static const char *refuse_kafka_file(const struct crawl_settings *s)
{
    for (size_t i = 0; i < s->kafka_property.count; i++)
        if (kafka_property_file(s->kafka_property.item[i]) != NULL)
            return "a file is named in a file of `serve --crawl` alone; here "
                   "the .pem properties hold the text";
    return NULL;
}

/* What is between the scheme and the path is read as of an http URL. */
static bool guard_refuses(const struct guard *g, const char *proxy)
{
    const char *scheme = strstr(proxy, "://");
    struct buf text;
    struct url u;
    bool refuses;

    buf_init(&text, URL_LENGTH_CEILING);
    url_init(&u);
    buf_addf(&text, "http://%s", scheme != NULL ? scheme + 3 : proxy);
    refuses = url_canonical(&u, buf_bytes(&text), NULL, NULL) != URL_OK ||
              guard_judge(g, url_text(&u)) != GUARD_PERMITS;
    url_fini(&u);
    buf_fini(&text);
    return refuses;
}

static const char *refuse_proxy(const struct crawl_settings *s,
                                const char *proxy)
{
    const struct guard_options o = crawl_setup_guard(s); /* by_proxy */
    struct guard *g = NULL;
    struct buf error;
    bool refuses;

    if (proxy == NULL)
        return NULL;
    buf_init(&error, 1024);
    refuses = guard_new(&g, &o, &error) != STATUS_OK || guard_refuses(g, proxy);
    guard_free(g);
    buf_fini(&error);
    return refuses ? "the crawl itself may not ask this address; see "
                     "allow-net, or name it in a file of `serve --crawl`"
                   : NULL;
}

static enum status check_servers(const struct crawl_settings *s,
                                 const json_t *in, struct buf *why)
{
    const struct {
        const char *name, *wrong;
    } servers[] = {
        {"redis", refuse_redis(s, s->redis)},
        {"block-filter", refuse_redis(s, s->block_filter)},
        {"proxy", refuse_proxy(s, s->proxy)},
        {"jsonl", refuse_kafka(s)},
        {"kafka-property", refuse_kafka_file(s)},
    };

    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (servers[i].wrong != NULL &&
            json_object_get(in, servers[i].name) != NULL)
            return wrong(why, servers[i].name, servers[i].wrong);
    return STATUS_OK;
}

enum status crawl_job_apply(struct crawl_settings *s, const json_t *in,
                            const char *base, struct buf *why)
{
    enum status st = STATUS_OK;
    const char *name;
    json_t *v;

    if (in == NULL)
        return STATUS_OK;
    if (!json_is_object(in)) {
        buf_add_str(why, "settings must be an object");
        return STATUS_ARG;
    }
    /* cppcheck-suppress unknownMacro */
    json_object_foreach((json_t *)in, name, v)
    {
        if (st == STATUS_OK)
            st = set_one(s, name, v, base, why);
    }
    if (st == STATUS_OK)
        st = settings_check(s, why);
    return st == STATUS_OK ? check_servers(s, in, why) : st;
}

/* Checks that a seed is a valid URL; it is stored as it was given. */
static const char *bad_seed(const json_t *seed)
{
    enum url_reason why;
    struct url u;

    if (!json_is_string(seed))
        return "it is not a string";
    url_init(&u);
    why = url_canonical(&u,
                        bytes_of(json_string_value(seed),
                                 json_string_length(seed)),
                        NULL, NULL);
    url_fini(&u);
    return why == URL_OK ? NULL : seeds_explain(why);
}

enum status crawl_job_take_seeds(struct crawl_settings *s, const json_t *seeds,
                                 struct buf *why)
{
    size_t at = option_find(&crawl_options, bytes_of_str("seeds")), bytes = 0;

    if (seeds == NULL)
        return STATUS_OK;
    if (!json_is_array(seeds))
        return wrong(why, "seeds", "they must be an array of URLs");
    for (size_t i = 0; i < json_array_size(seeds); i++) {
        const json_t *seed = json_array_get(seeds, i);
        const char *bad = bad_seed(seed);

        if (bad != NULL) {
            buf_addf(why, "seeds[%zu]: %s", i, bad);
            return STATUS_ARG;
        }
        bytes += json_string_length(seed);
        if (i >= NEW_SEEDS_MOST || bytes > SEEDS_BYTES_MOST)
            return wrong(why, "seeds",
                         "at most 1,000 URLs of 256 KiB; add the others once "
                         "the crawl exists");
        if (option_set(&crawl_options, at, s,
                       bytes_of(json_string_value(seed),
                                json_string_length(seed)),
                       OPTION_FROM_LINE, why) != STATUS_OK)
            return STATUS_ARG;
    }
    return STATUS_OK;
}
