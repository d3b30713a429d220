#!/bin/sh
# java/jdk.sh: print the folder of a JDK 22 or later: JAVA_HOME, the one in the path, or one of /usr/lib/jvm. Print nothing
# if there is none.
for folder in "${JAVA_HOME:-}" "$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /)")")")" /usr/lib/jvm/*; do
	[ -x "$folder/bin/javac" ] || continue
	release=$("$folder/bin/javac" -version 2>&1 | sed -nE 's/^javac ([0-9]+).*/\1/p')
	if [ "${release:-0}" -ge 22 ]; then
		echo "$folder"
		exit
	fi
done
