/*
 * serve_settings.h - the options of `urlweir serve`.
 *
 * Main thread.
 */
#ifndef URLWEIR_CLI_RUN_SERVE_SETTINGS_H
#define URLWEIR_CLI_RUN_SERVE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command_line.h"
#include "config/option.h"
#include "job/settings/options.h"

struct serve_settings {
    char *listen, *http;
    char *token_file, *tls_cert, *tls_key, *client_ca;
    bool allow_open;
    int64_t connections;
    int64_t drain_ms;
    uint64_t memory, filter_memory;
    int64_t checkpoint_ms;
    struct option_list crawl;
    uint64_t crawl_memory;
    int64_t crawl_threads;
    bool quiet, verbose;
    enum sandbox_choice sandbox;
    char *user, *cluster;
    int64_t shards;
    struct option_list kafka_property;
    uint8_t from[22];
};

extern const struct option_table serve_options;
extern const struct usage serve_usage;

/* EXIT_USAGE: the reason was printed. */
int serve_settings_check(const struct serve_settings *s);
bool serve_has_http(const struct serve_settings *s);

#endif
