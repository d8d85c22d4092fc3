/*
 * version.h - what `urlweir --version` says.
 */
#ifndef URLWEIR_CLI_VERSION_H
#define URLWEIR_CLI_VERSION_H

#include <stdio.h>

/* Prints the version of the program, of the libraries that it runs with, and
 * what they and the build make possible. The first line is "urlweir VERSION";
 * each further one is a name, white space, and what it says. */
void version_print(FILE *to);

#endif
