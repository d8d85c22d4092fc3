/*
 * verify_repair.h - believes the rows of a store: what follows from them is
 * made anew.
 */
#ifndef URLWEIR_CLI_VERIFY_VERIFY_REPAIR_H
#define URLWEIR_CLI_VERIFY_VERIFY_REPAIR_H

#include "frontier/reader.h"

/* Writes the manifest from the store and removes the filter's file, to be
 * rebuilt; with `runs` makes frontier.runs anew first. Prints what it did.
 * Returns the command's exit status. */
int verify_repair(struct reader *r, bool service, bool runs);

#endif
