/* SPDX-License-Identifier: MIT */
/*
 * site.c - the test web: serves a web that is known to the last URL, and holds
 * what a crawler did against it. README.md beside it explains the options.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/support/web/check.h"
#include "tests/support/web/files.h"
#include "tests/support/web/http.h"
#include "tests/support/web/robots.h"
#include "tests/support/web/trap.h"
#include "tests/support/web/truth.h"
#include "tests/support/web/web.h"

static const char USAGE[] =
    "usage: site serve [WEB] [SERVER]        play the web\n"
    "       site truth [WEB] --port PORT     what a crawler should do with it\n"
    "       site urls  [WEB] --port PORT     its pages' URLs\n"
    "       site check --truth FILE --log FILE[,FILE...] [CHECK]\n"
    "       site files DIR=ADDR[,ADDR...] ... [SERVER]\n"
    "WEB:    --seed N --hosts N --pages N --profile NAME[,NAME...] --links N\n"
    "        --fanout N --leaves N --leaf-pages --size OCTETS --slow-ms MS\n"
    "        --crawl-delay S --agent TOKEN --tries N --max-redirects N\n"
    "SERVER: --port PORT --log FILE --latency MS --max-time S --stdin-guard\n"
    "CHECK:  --kills N --in-flight N --delay MS --tolerance MS --partial\n"
    "        --no-crawl-delay --ignore PATH\n";

struct settings {
    struct spec spec;
    const char *log;
    double latency_ms, max_time;
    bool stdin_guard;
    struct check_options check;
    size_t ignores;
};

enum option_id {
    OPT_SEED = 1,
    OPT_HOSTS,
    OPT_PAGES,
    OPT_PROFILE,
    OPT_LINKS,
    OPT_FANOUT,
    OPT_LEAVES,
    OPT_LEAF_PAGES,
    OPT_SIZE,
    OPT_SLOW_MS,
    OPT_CRAWL_DELAY,
    OPT_AGENT,
    OPT_TRIES,
    OPT_MAX_REDIRECTS,
    OPT_PORT,
    OPT_LOG,
    OPT_LATENCY,
    OPT_MAX_TIME,
    OPT_STDIN_GUARD,
    OPT_TRUTH,
    OPT_KILLS,
    OPT_IN_FLIGHT,
    OPT_DELAY,
    OPT_TOLERANCE,
    OPT_PARTIAL,
    OPT_NO_CRAWL_DELAY,
    OPT_IGNORE,
};

static const struct option OPTIONS[] = {
    {"seed", required_argument, NULL, OPT_SEED},
    {"hosts", required_argument, NULL, OPT_HOSTS},
    {"pages", required_argument, NULL, OPT_PAGES},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"links", required_argument, NULL, OPT_LINKS},
    {"fanout", required_argument, NULL, OPT_FANOUT},
    {"leaves", required_argument, NULL, OPT_LEAVES},
    {"leaf-pages", no_argument, NULL, OPT_LEAF_PAGES},
    {"size", required_argument, NULL, OPT_SIZE},
    {"slow-ms", required_argument, NULL, OPT_SLOW_MS},
    {"crawl-delay", required_argument, NULL, OPT_CRAWL_DELAY},
    {"agent", required_argument, NULL, OPT_AGENT},
    {"tries", required_argument, NULL, OPT_TRIES},
    {"max-redirects", required_argument, NULL, OPT_MAX_REDIRECTS},
    {"port", required_argument, NULL, OPT_PORT},
    {"log", required_argument, NULL, OPT_LOG},
    {"latency", required_argument, NULL, OPT_LATENCY},
    {"max-time", required_argument, NULL, OPT_MAX_TIME},
    {"stdin-guard", no_argument, NULL, OPT_STDIN_GUARD},
    {"truth", required_argument, NULL, OPT_TRUTH},
    {"kills", required_argument, NULL, OPT_KILLS},
    {"in-flight", required_argument, NULL, OPT_IN_FLIGHT},
    {"delay", required_argument, NULL, OPT_DELAY},
    {"tolerance", required_argument, NULL, OPT_TOLERANCE},
    {"partial", no_argument, NULL, OPT_PARTIAL},
    {"no-crawl-delay", no_argument, NULL, OPT_NO_CRAWL_DELAY},
    {"ignore", required_argument, NULL, OPT_IGNORE},
    {0},
};

/* ---- settings
 * -------------------------------------------------------------------- */

static bool to_number(const char *s, double most, double *out)
{
    char *end;

    *out = strtod(s, &end);
    return end != s && *end == '\0' && *out >= 0 && *out <= most;
}

static bool to_u32(const char *s, uint32_t *out)
{
    double n;

    if (!to_number(s, UINT32_MAX, &n))
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool to_u64(const char *s, uint64_t *out)
{
    char *end;

    *out = strtoull(s, &end, 0);
    return end != s && *end == '\0' && s[0] != '-';
}

static bool to_port(const char *s, uint16_t *out)
{
    double n;

    if (!to_number(s, UINT16_MAX, &n))
        return false;
    *out = (uint16_t)n;
    return true;
}

static bool set_web(struct spec *s, int opt, const char *arg)
{
    switch (opt) {
    case OPT_SEED:
        return to_u64(arg, &s->seed);
    case OPT_HOSTS:
        return to_u32(arg, &s->hosts);
    case OPT_PAGES:
        return to_u32(arg, &s->pages);
    case OPT_PROFILE:
        return profile_parse(arg, &s->profiles);
    case OPT_LINKS:
        return to_u32(arg, &s->links);
    case OPT_FANOUT:
        return to_u32(arg, &s->fanout);
    case OPT_LEAVES:
        return to_u32(arg, &s->leaves);
    case OPT_LEAF_PAGES:
        s->leaf_pages = true;
        return true;
    case OPT_SIZE:
        return to_u32(arg, &s->size);
    case OPT_SLOW_MS:
        return to_u32(arg, &s->slow_ms);
    case OPT_CRAWL_DELAY:
        return to_number(arg, 1e6, &s->crawl_delay);
    case OPT_AGENT:
        s->agent = arg;
        return strspn(arg, "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == strlen(arg) &&
               strlen(arg) <= 64;
    case OPT_TRIES:
        return to_u32(arg, &s->tries) && s->tries > 0;
    case OPT_MAX_REDIRECTS:
        return to_u32(arg, &s->max_redirects) && s->max_redirects < 200;
    default: /* OPT_PORT */
        return to_port(arg, &s->port);
    }
}

static bool set_check(struct settings *s, int opt, const char *arg)
{
    switch (opt) {
    case OPT_TRUTH:
        s->check.truth = arg;
        return true;
    case OPT_KILLS:
        return to_u64(arg, &s->check.kills);
    case OPT_IN_FLIGHT:
        return to_u64(arg, &s->check.in_flight);
    case OPT_DELAY:
        return to_number(arg, 1e9, &s->check.delay_ms);
    case OPT_TOLERANCE:
        return to_number(arg, 1e9, &s->check.tolerance_ms);
    case OPT_PARTIAL:
        s->check.partial = true;
        return true;
    case OPT_NO_CRAWL_DELAY:
        s->check.crawl_delay = false;
        return true;
    case OPT_IGNORE:
        if (s->ignores == IGNORES_MOST)
            return false;
        s->check.ignore[s->ignores++] = arg;
        return true;
    default:
        return false;
    }
}

static bool set(struct settings *s, int opt, const char *arg)
{
    switch (opt) {
    case OPT_LOG:
        s->log = arg;
        return true;
    case OPT_LATENCY:
        return to_number(arg, 1e6, &s->latency_ms);
    case OPT_MAX_TIME:
        return to_number(arg, 1e6, &s->max_time);
    case OPT_STDIN_GUARD:
        s->stdin_guard = true;
        return true;
    default:
        return opt <= OPT_PORT ? set_web(&s->spec, opt, arg)
                               : set_check(s, opt, arg);
    }
}

static bool parse(int argc, char **argv, struct settings *s)
{
    int opt, which = 0;

    *s = (struct settings){
        .spec = {.seed = 1,
                 .hosts = 10,
                 .pages = 1000,
                 .links = 20,
                 .fanout = 3,
                 .size = 9700,
                 .tries = 3,
                 .max_redirects = 5,
                 .agent = "urlweir",
                 .slow_ms = 1000},
        .max_time = 600,
        .check.crawl_delay = true,
    };
    while ((opt = getopt_long(argc, argv, "", OPTIONS, &which)) != -1) {
        if (opt == '?')
            return false;
        if (!set(s, opt, optarg)) {
            fprintf(stderr, "site: --%s %s: out of range\n",
                    OPTIONS[which].name, optarg != NULL ? optarg : "");
            return false;
        }
    }
    return true;
}

/* ---- serving
 * --------------------------------------------------------------------- */

/* What the handlers know. */
struct stage {
    struct web web;
    unsigned char *asked; /* times each thing of KIND_ERROR was asked */
    struct files *files;
};

static void say_port(void *ctx, uint16_t port)
{
    struct stage *s = ctx;

    s->web.spec.port = port;
    printf("port %u\n", (unsigned)port);
    fflush(stdout);
}

static void answer_web(void *ctx, const struct request *request,
                       struct answer *an)
{
    struct stage *s = ctx;
    struct request rq = *request;
    const struct web *w = &s->web;
    uint32_t id;
    enum kind k;

    if (robots_answer(w, &rq, an))
        return;
    if (!web_find(w, rq.host, rq.target, &id)) {
        if (!trap_answer(w, &rq, an))
            answer_text(an, 404, "text/html", "<p>No such page.</p>\n");
        return;
    }
    k = web_kind(w, id);
    if (k == KIND_ERROR) {
        unsigned char *n = &s->asked[id - w->first[k]];

        rq.asked_before = *n;
        *n = (unsigned char)(*n + (*n < 255));
    }
    web_ops(k)->answer(w, id - w->first[k], &rq, an);
}

static void answer_files(void *ctx, const struct request *rq, struct answer *an)
{
    const struct stage *s = ctx;

    files_answer(s->files, rq, an);
}

static int serve(const struct settings *s, struct http_options *o)
{
    struct journal *journal = NULL;
    enum status st = journal_open(&journal, s->log);

    if (st == STATUS_OK) {
        o->port = s->spec.port;
        o->latency_ns = (int64_t)(s->latency_ms * 1e6);
        o->max_time_ns = (int64_t)(s->max_time * 1e9);
        o->stdin_guard = s->stdin_guard;
        o->journal = journal;
        o->ready = say_port;
        st = http_serve(o);
    }
    journal_close(journal);
    return st == STATUS_OK ? 0 : 2;
}

static int cmd_serve(const struct settings *s)
{
    struct stage stage = {0};
    struct http_options o = {.ctx = &stage, .answer = answer_web};
    uint32_t *addresses;
    int rc;

    web_init(&stage.web, &s->spec);
    stage.asked = xcalloc(stage.web.first[KIND_ERROR + 1] -
                              stage.web.first[KIND_ERROR] + 1,
                          1);
    addresses = xcalloc(stage.web.hosts_all, sizeof *addresses);
    for (uint32_t h = 0; h < stage.web.hosts_all; h++)
        addresses[h] = host_ipv4(h);
    o.addresses = addresses;
    o.count = stage.web.hosts_all;
    rc = serve(s, &o);
    free(addresses);
    free(stage.asked);
    return rc;
}

/* "DIR=ADDR,ADDR": the directory at each of the addresses. */
static bool add_site(struct files *f, char *arg, uint32_t *addresses,
                     uint32_t most, uint32_t *count)
{
    char *list = strrchr(arg, '='), *name;
    struct in_addr in;

    if (list == NULL)
        return false;
    *list++ = '\0';
    while ((name = strsep(&list, ",")) != NULL) {
        if (*count == most || inet_pton(AF_INET, name, &in) != 1 ||
            ntohl(in.s_addr) >> 24 != 127) {
            fprintf(stderr, "site: %s: no loopback address\n", name);
            return false;
        }
        if (files_add(f, arg) != STATUS_OK) {
            fprintf(stderr, "site: %s: no such directory\n", arg);
            return false;
        }
        addresses[(*count)++] = ntohl(in.s_addr);
    }
    return true;
}

#define SITES_MOST 4096

static int cmd_files(const struct settings *s, int argc, char **argv)
{
    struct stage stage = {.files = files_new()};
    struct http_options o = {.ctx = &stage, .answer = answer_files};
    uint32_t *addresses = xcalloc(SITES_MOST, sizeof *addresses);
    int rc = 1;

    for (int i = 0; i < argc; i++)
        if (!add_site(stage.files, argv[i], addresses, SITES_MOST, &o.count))
            goto out;
    if (o.count == 0) {
        fputs(USAGE, stderr);
        goto out;
    }
    o.addresses = addresses;
    rc = serve(s, &o);
out:
    files_free(stage.files);
    free(addresses);
    return rc;
}

/* ---- the others
 * ------------------------------------------------------------------ */

static int cmd_truth(const struct settings *s, bool urls)
{
    struct web w;

    if (s->spec.port == 0) {
        fprintf(stderr, "site: say --port: URLs have it\n");
        return 1;
    }
    web_init(&w, &s->spec);
    if (urls)
        truth_print_urls(&w, stdout);
    else
        truth_print(&w, stdout);
    return fflush(stdout) == 0 ? 0 : 2;
}

static int cmd_check(struct settings *s)
{
    bool clean = false;

    s->check.logs = s->log;
    if (s->check.truth == NULL || s->log == NULL) {
        fputs(USAGE, stderr);
        return 1;
    }
    if (check_run(&s->check, &clean) != STATUS_OK)
        return 2;
    return clean ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct settings s;
    const char *name = argc > 1 ? argv[1] : "";

    if (argc < 2 || !parse(argc - 1, argv + 1, &s)) {
        fputs(USAGE, stderr);
        return 1;
    }
    argv += 1 + optind;
    argc -= 1 + optind;
    if (strcmp(name, "files") == 0)
        return cmd_files(&s, argc, argv);
    if (argc == 0 && strcmp(name, "serve") == 0)
        return cmd_serve(&s);
    if (argc == 0 && strcmp(name, "truth") == 0)
        return cmd_truth(&s, false);
    if (argc == 0 && strcmp(name, "urls") == 0)
        return cmd_truth(&s, true);
    if (argc == 0 && strcmp(name, "check") == 0)
        return cmd_check(&s);
    fputs(USAGE, stderr);
    return 1;
}
