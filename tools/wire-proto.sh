#!/bin/sh
# Rewrites a .proto on stdin so that protoc-c makes exact code of it; what
# stands on the wire stays the same:
#   string -> bytes         protobuf-c ends a string at its first zero byte
#   map<string, V> -> the repeated entries that it is on the wire
#   optional -> a oneof of one member, which protobuf-c knows
exec sed \
    -e 's/^\( *\)map<string, \([A-Za-z0-9]*\)> \([A-Za-z_]*\) = \([0-9]*\);/\1message \3_entry { string key = 1; \2 value = 2; } repeated \3_entry \3 = \4;/' \
    -e 's/^\( *\)optional \([a-z0-9]* \)\([A-Za-z_]*\)\( = [0-9]*;\)/\1oneof has_\3 { \2\3\4 }/' \
    -e 's/\([ {]\)string \([A-Za-z_]* = [0-9]*;\)/\1bytes \2/g'
