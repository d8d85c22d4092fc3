/* SPDX-License-Identifier: MIT */
/*
 * site.c - the test web: serves a web whose every URL is known, and compares it
 * with what a crawler did. README.md here explains the options.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/support/web/files.h"
#include "tests/support/web/http.h"
#include "tests/support/web/trap.h"
#include "tests/support/web/truth.h"
#include "tests/support/web/web.h"
#include "tests/support/web/web_robots.h"
#include "tests/support/web/web_settings.h"

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

enum exit_status { EXIT_FINE = 0, EXIT_FAULTS = 1, EXIT_CANNOT = 2 };

static int usage(void)
{
    fputs(USAGE, stderr);
    return EXIT_CANNOT;
}

/* ---- serving ------------------------------------------------------------- */

/* Shared by the handlers. */
struct stage {
    struct web web;
    unsigned char *asked; /* requests for each thing of KIND_ERROR */
    struct files *files;
};

static void say_port(void *ctx, uint16_t port)
{
    struct stage *s = ctx;

    s->web.spec.port = port;
    printf("port %u\n", (unsigned)port);
    fflush(stdout);
}

static void say_logged(void *ctx)
{
    (void)ctx;
    puts("logged");
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
        o->logged = say_logged;
        st = http_serve(o);
    }
    journal_close(journal);
    return st == STATUS_OK ? EXIT_FINE : EXIT_CANNOT;
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
    int rc = EXIT_CANNOT;

    for (int i = 0; i < argc; i++)
        if (!add_site(stage.files, argv[i], addresses, SITES_MOST, &o.count))
            goto out;
    if (o.count == 0) {
        (void)usage();
        goto out;
    }
    o.addresses = addresses;
    rc = serve(s, &o);
out:
    files_free(stage.files);
    free(addresses);
    return rc;
}

/* ---- other commands ------------------------------------------------------ */

static int cmd_truth(const struct settings *s, bool urls)
{
    struct web w;

    if (s->spec.port == 0) {
        fprintf(stderr, "site: say --port: URLs have it\n");
        return EXIT_CANNOT;
    }
    web_init(&w, &s->spec);
    if (urls)
        truth_print_urls(&w, stdout);
    else
        truth_print(&w, stdout);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_CANNOT;
}

static int cmd_check(struct settings *s)
{
    bool clean = false;

    s->check.logs = s->log;
    if (s->check.truth == NULL || s->log == NULL) {
        return usage();
    }
    if (check_run(&s->check, &clean) != STATUS_OK)
        return EXIT_CANNOT;
    return clean ? EXIT_FINE : EXIT_FAULTS;
}

int main(int argc, char **argv)
{
    struct settings s;
    const char *name = argc > 1 ? argv[1] : "";

    int rest;

    if (argc < 2 || !settings_parse(argc - 1, argv + 1, &s, &rest))
        return usage();
    argv += 1 + rest;
    argc -= 1 + rest;
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
    return usage();
}
