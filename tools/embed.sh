#!/bin/sh
# Writes C that holds stdin: tools/embed.sh HEADER FUNCTION, where HEADER
# declares `struct bytes FUNCTION(void)`.
set -eu
echo "/* Made by tools/embed.sh. */"
echo "#include \"$1\""
echo "static const unsigned char content[] = {"
od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
echo "};"
echo "struct bytes $2(void)"
echo "{"
echo "    return bytes_of(content, sizeof content);"
echo "}"
