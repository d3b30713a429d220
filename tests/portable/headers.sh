#!/bin/sh
# tests/portable/headers.sh FOLDER: copies the headers of the libraries, and argp.h, into FOLDER.
# The folder of the system has headers of the GNU C library, too, which another one must not see.
set -eu
folder=$1
rm -rf "$folder"
for package in $(deploy/deps.sh --libraries | tr ',' ' '); do
	case $package in libc6-dev | check) continue ;; esac
	dpkg -L "$package" | grep '^/usr/include/.*\.' | while read -r header; do
		name=$(echo "$header" | sed -E 's|^/usr/include/([a-z0-9_]+-linux-gnu/)?||')
		mkdir -p "$folder/$(dirname "$name")"
		cp -L "$header" "$folder/$name"
	done
done
# argp-standalone has the same declarations as the GNU C library, which marks them for its own compiler.
{
	printf '#define __THROW\n#define __NTH(function) function\n#include <stddef.h>\n'
	printf '#ifdef __cplusplus\n#define __BEGIN_DECLS extern "C" {\n#define __END_DECLS }\n'
	printf '#else\n#define __BEGIN_DECLS\n#define __END_DECLS\n#endif\n'
	sed '/^#include <bits.floatn.h>/,/^#endif/d' /usr/include/argp.h
} > "$folder/argp.h"
