/* SPDX-License-Identifier: MIT */
/* web_settings.c - the command line: one table of options, one place that sets
 * them. */
#include "tests/support/web/web_settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- settings ------------------------------------------------------------ */

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

bool settings_parse(int argc, char **argv, struct settings *s, int *rest)
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
    *rest = optind;
    return true;
}
