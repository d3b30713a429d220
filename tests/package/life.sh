#!/bin/sh
# Lifecycle of the package on one machine: install, use, upgrade, remove, purge. Runs as root in a separate root
# directory, which it changes:
#
#   life.sh FOLDER [demo]    FOLDER has old/evenkeel.deb (a lower version with other conffiles) and new/*.deb
#
# Prints a line for each error, and then exits with 1.
set -u
debs=$1 demo=${2:-}
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
bad=0

must() { # name, command...
	what=$1
	shift
	"$@" >/tmp/said 2>&1 && return 0
	echo "not so: $what"
	tail -n 15 /tmp/said | sed 's/^/    /'
	bad=1
}
traces() {
	find /etc /usr /lib /var /run /opt -xdev -name '*evenkeel*' 2>/dev/null | sort
	getent passwd evenkeel
	getent group evenkeel
}
# Missing dependencies are downloaded if possible.
installs() { # packages
	dpkg --force-unsafe-io --force-confold -i "$@" && return 0
	command -v apt-get >/dev/null &&
		apt-get install -y -q -f --no-install-recommends -o Dpkg::Options::=--force-confold
}
owned() { # "root evenkeel 750", path
	[ "$(stat -c '%U %G %a' "$2")" = "$1" ]
}
as_user() {
	setpriv --reuid evenkeel --regid evenkeel --clear-groups "$@"
}
not() {
	! "$@"
}
# An instance set up from the example and the files that it names.
sets_up() {
	cp -r /etc/evenkeel/example /etc/evenkeel/hotels && cd /etc/evenkeel/hotels &&
		evenkeel generate hotel --lists 200 --seed 1 --manifest-out features.yaml -o /tmp/train.txt &&
		evenkeel profile --manifest features.yaml --letor /tmp/train.txt -o profile.ekp && cd / &&
		as_user evenkeel check /etc/evenkeel/hotels/evenkeel.yaml
}
links() {
	ldconfig && ldconfig -p | grep -q 'libevenkeel\.so\.0'
}
gone() { # path...
	for path in "$@"; do
		[ ! -e "$path" ] || return 1
	done
}

traces >/tmp/before
must "a lower version is installed" installs "$debs/old/evenkeel.deb" "$debs"/new/evenkeel-tools_*.deb
must "it is the lower one" sh -c 'dpkg-query -W -f "\${Version}" evenkeel | grep -q ^0.0.'
must "there is a user of its own" getent passwd evenkeel
must "that user cannot log in" sh -c 'getent passwd evenkeel | grep -q /nologin$'
must "its configuration is not for everybody" owned "root evenkeel 750" /etc/evenkeel
must "an instance is set up and found sound by that user" sets_up
echo "# a word of ours" >>/etc/evenkeel/example/rules.yaml
must "the upgrade, all packages" installs "$debs"/new/*.deb
must "it is a later one" sh -c 'dpkg-query -W -f "\${Version}" evenkeel | grep -vq ^0.0.'
must "what was changed is kept" grep -q "a word of ours" /etc/evenkeel/example/rules.yaml
must "what was not is the new one" not grep -q "an elder example" /etc/evenkeel/example/evenkeel.yaml
must "instances are left alone" test -s /etc/evenkeel/hotels/profile.ekp
must "the new program finds them sound" as_user evenkeel check /etc/evenkeel/hotels/evenkeel.yaml
must "its rules" evenkeel check /usr/share/evenkeel/rules/travel.yaml
must "rules of Prometheus" grep -q "alert: Evenkeel" /usr/share/evenkeel/prometheus/evenkeel.rules.yml
must "the dashboard of Grafana" grep -q '"uid": "evenkeel"' /usr/share/evenkeel/grafana/evenkeel.json
must "the other dashboard" grep -q '"uid": "evenkeel-internals"' /usr/share/evenkeel/grafana/evenkeel-internals.json
must "the shared library is found" links
must "nothing is enabled" gone /etc/systemd/system/multi-user.target.wants/evenkeel@hotels.service
enabled=/etc/systemd/system/multi-user.target.wants/evenkeel@hotels.service
mkdir -p "$(dirname $enabled)" && ln -s /lib/systemd/system/evenkeel@.service $enabled
[ -z "$demo" ] || must "the demonstration" as_user evenkeel demo
must "removal of the tools" dpkg -r evenkeel-tools
must "a command of theirs names the package" sh -c 'evenkeel generate hotel 2>&1 | grep -q "needs the package evenkeel-tools"'
must "removal" dpkg -r evenkeel libevenkeel-dev libevenkeel0
must "the program is gone" gone /usr/bin/evenkeel /usr/bin/evenkeel-tools /usr/share/evenkeel /usr/include/evenkeel.h /lib/systemd/system/evenkeel@.service
must "the configuration is not" test -s /etc/evenkeel/example/rules.yaml
must "purge" dpkg -P evenkeel evenkeel-tools libevenkeel-dev libevenkeel0
must "what people made is left to them" test -s /etc/evenkeel/hotels/profile.ekp
rm -rf /etc/evenkeel
traces >/tmp/after
must "nothing else is left" diff /tmp/before /tmp/after
exit $bad
