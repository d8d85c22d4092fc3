/*
 * filter_commands.h - the parts of `urlweir filter`, one function for each.
 *
 * argv[0] is the part's name ("add"). Each returns an enum exit_code.
 */
#ifndef URLWEIR_CLI_FILTER_COMMANDS_H
#define URLWEIR_CLI_FILTER_COMMANDS_H

#include <stdbool.h>

int filter_create_command(int argc, char **argv);
int filter_add_command(int argc, char **argv);
int filter_check_command(int argc, char **argv);
int filter_remove_command(int argc, char **argv);
int filter_merge_command(int argc, char **argv);
int filter_info_command(int argc, char **argv);
int filter_predict_command(int argc, char **argv);
int filter_bench_command(int argc, char **argv);
/* Of filters in Redis alone. */
int filter_rebuild_command(int argc, char **argv);
int filter_drop_command(int argc, char **argv);
int filter_redis_info(const char *command, const char *url, bool json);

/* The words of --kind, ending in NULL: the kinds that live in memory, and in a
 * file. */
extern const char *const filter_kind_words[];

#endif
