/* SPDX-License-Identifier: MIT */
/*
 * serve_settings.c - the options of `urlweir serve`.
 *
 * Safe by default: it listens on loopback, where anyone who can reach the port
 * may use it. Any other address needs tokens, client certificates or
 * --allow-open.
 */
#include "cli/run/serve_settings.h"

#include <stddef.h>
#include <string.h>

#include "base/listen_address.h"
#include "cli/command.h"
#include "cli/run/cmd_serve.h"

#define PORT   "Port: who may connect"
#define STORE  "Store"
#define CRAWLS "Crawls of its own"
#define OUTPUT "Output"
#define RIGHTS "Rights: what the process keeps"

#define AT(f)  .at = offsetof(struct serve_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "listen", .letter = 'l', .type = OPTION_TEXT, AT(listen),
     .fallback = "127.0.0.1:7071", .section = PORT, .arg = "HOST:PORT",
     .help = "where to serve gRPC; port 0 picks a free port and prints it"},
    {.name = "http", .type = OPTION_TEXT, AT(http),
     .fallback = "127.0.0.1:7072", .section = PORT, .arg = "HOST:PORT",
     .help = "where to serve JSON over HTTP and /metrics; `none`: nowhere"},
    {.name = "token-file", .type = OPTION_TEXT, AT(token_file),
     .section = PORT, .arg = "FILE",
     .help = "one `ROLE TOKEN` a line, where ROLE is read, write or admin; "
             "callers must then send one of the tokens; read again on SIGHUP"},
    {.name = "tls-cert", .type = OPTION_TEXT, AT(tls_cert),
     .section = PORT, .arg = "FILE",
     .help = "serve over TLS with this certificate chain (PEM); read again on "
             "SIGHUP"},
    {.name = "tls-key", .type = OPTION_TEXT, AT(tls_key),
     .section = PORT, .arg = "FILE",
     .help = "the key of --tls-cert (PEM)"},
    {.name = "client-ca", .type = OPTION_TEXT, AT(client_ca),
     .section = PORT, .arg = "FILE",
     .help = "require callers to show a certificate of these CAs (PEM); needs "
             "--tls-cert"},
    {.name = "allow-open", .type = OPTION_FLAG, AT(allow_open),
     .fallback = "false", .section = PORT,
     .help = "listen on addresses other than loopback without tokens, so that "
             "anybody can do anything"},
    {.name = "connections", .type = OPTION_COUNT, AT(connections),
     .fallback = "1000", .min = 1, .max = 100000, .section = PORT, .arg = "N",
     .help = "most open connections"},
    {.name = "drain", .type = OPTION_TIME, AT(drain_ms), .fallback = "5s",
     .min = 0, .max = 3600e3, .section = PORT, .arg = "TIME",
     .help = "how long running calls may take to finish when the service stops"},

    {.name = "cluster", .type = OPTION_TEXT, AT(cluster),
     .section = STORE, .arg = "URL",
     .help = "share the URLs with other processes that name the same "
             "kafka://HOST[:PORT][,...]/NAME; DIR has a copy of some shards"},
    {.name = "shards", .type = OPTION_COUNT, AT(shards), .fallback = "16",
     .min = 1, .max = 4096, .section = STORE, .arg = "N",
     .help = "of a new service in a cluster: into how many shards its URLs are "
             "divided, which cannot be changed"},
    {.name = "kafka-property", .type = OPTION_LIST, AT(kafka_property),
     .section = STORE, .arg = "NAME=VALUE",
     .help = "how to sign in at the brokers of --cluster, by librdkafka's "
             "names; can be repeated"},
    {.name = "memory", .type = OPTION_SIZE, AT(memory), .fallback = "256M",
     .min = 16.0 * 1048576, .max = 9007199254740992.0, .section = STORE,
     .arg = "SIZE",
     .help = "how much of its store the frontier may keep in memory"},
    {.name = "filter-memory", .type = OPTION_SIZE, AT(filter_memory),
     .fallback = "128M", .min = 1048576, .max = 9007199254740992.0,
     .section = STORE, .arg = "SIZE",
     .help = "how much memory the filters of /v1/filters may take"},
    {.name = "checkpoint", .type = OPTION_TIME, AT(checkpoint_ms),
     .fallback = "60s", .min = 100, .max = 86400e3, .section = STORE,
     .arg = "TIME",
     .help = "time between two checkpoints; acknowledged URLs are on disk "
             "without one"},

    {.name = "crawl", .type = OPTION_LIST, AT(crawl), .section = CRAWLS,
     .arg = "FILE.yaml",
     .help = "also run a crawl of its own, as `urlweir crawl -C` does with "
             "this file; it is kept in DIR/crawls under the file's name; can "
             "be repeated"},

    {.name = "crawl-memory", .type = OPTION_SIZE, AT(crawl_memory),
     .fallback = "machine", .min = 1, .max = 9007199254740992.0,
     .bare = "machine", .section = CRAWLS, .arg = "SIZE",
     .help = "how much the `memory` of all its crawls may be together for a "
             "client to make or resume another; machine: what this one has"},
    {.name = "crawl-threads", .type = OPTION_COUNT, AT(crawl_threads),
     .fallback = "auto", .min = 1, .max = 100000, .bare = "auto",
     .section = CRAWLS, .arg = "N",
     .help = "the same of their `threads`; auto: 64 a core"},

    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, AT(quiet),
     .fallback = "false", .section = OUTPUT,
     .help = "print errors only"},
    {.name = "verbose", .letter = 'v', .type = OPTION_FLAG, AT(verbose),
     .fallback = "false", .section = OUTPUT,
     .help = "also print what is done"},

    {.name = "sandbox", .type = OPTION_CHOICE, AT(sandbox), .fallback = "on",
     .words = sandbox_words, .section = RIGHTS,
     .help = "give up all rights that the service does not need, as far as "
             "the kernel can take them; off keeps them"},
    {.name = "user", .type = OPTION_TEXT, AT(user), .section = RIGHTS,
     .arg = "NAME",
     .help = "the user that root becomes; without it the owner of DIR, if "
             "that user can use all files that are named"},
};
/* clang-format on */

const struct option_table serve_options =
    OPTION_TABLE(specs, struct serve_settings);

const struct usage serve_usage = {
    .name = "serve",
    .synopsis =
        "serve DIR [--cluster URL] [--listen HOST:PORT] [--http HOST:PORT] "
        "[--token-file FILE] [--crawl FILE.yaml]... [options]",
    .about =
        "Serves a frontier for other crawlers: the URLFrontier API over gRPC, "
        "and JSON over HTTP. Its store is in DIR, which is made if it is "
        "missing. It can run crawls of its own too, each in DIR/crawls/NAME. "
        "SIGTERM ends it; everything that was acknowledged is on disk.",
    .table = &serve_options,
    .least = 1,
    .most = 1,
    .operand = "a directory",
};

/* ---- what must hold before anything is opened ---- */

/* `option`: the option that gave the address. */
static int check_address(const struct serve_settings *s, const char *option,
                         const char *address)
{
    bool loopback = false;

    if (listen_address_is_loopback(address, &loopback) != STATUS_OK)
        return usage_error(&serve_usage,
                           "%s: '%s' is not a HOST:PORT of this "
                           "machine",
                           option, address);
    if (loopback || s->allow_open || s->token_file != NULL ||
        s->client_ca != NULL)
        return EXIT_DONE;
    return usage_error(&serve_usage,
                       "%s: other machines could use '%s' without any check; "
                       "give --token-file, or --tls-cert with --client-ca, or "
                       "--allow-open",
                       option, address);
}

bool serve_has_http(const struct serve_settings *s)
{
    return strcmp(s->http, "none") != 0;
}

int serve_settings_check(const struct serve_settings *s)
{
    if (serve_shards_check(s) != EXIT_DONE)
        return EXIT_USAGE;
    if ((s->tls_cert == NULL) != (s->tls_key == NULL))
        return usage_error(&serve_usage,
                           "--tls-cert and --tls-key must be given "
                           "together");
    if (s->client_ca != NULL && s->tls_cert == NULL)
        return usage_error(&serve_usage, "--client-ca needs --tls-cert and "
                                         "--tls-key");
    if (check_address(s, "--listen", s->listen) != EXIT_DONE)
        return EXIT_USAGE;
    return serve_has_http(s) ? check_address(s, "--http", s->http) : EXIT_DONE;
}
