#!/bin/sh
# trial.sh DEBS: the package on a minimal Debian, downloaded for it, with systemd as init. Takes minutes,
# root, a mirror and systemd-nspawn, so it is not part of `make check`: `make package-trial`.
set -eu
here=$(realpath "$(dirname "$0")")
mirror=${MIRROR:-http://deb.debian.org/debian}
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
passed=0 failed=0
for program in debootstrap systemd-nspawn; do
	command -v $program >/dev/null || {
		echo "$program is missing: deploy/deps.sh package" >&2
		exit 1
	}
done

tell() { # name, status
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $1"
	fi
}
in_root() {
	chroot "$scratch/root" "$@"
}
# First, because a concurrent build of packages removes these.
debs=$scratch/debs
mkdir "$debs" && cp "$1"/*.deb "$debs"

bare() {
	debootstrap --variant=minbase bookworm "$scratch/root" "$mirror" >"$scratch/log" 2>&1 || {
		tail "$scratch/log" >&2
		exit 1
	}
	cp /etc/resolv.conf "$scratch/root/etc/"
	in_root apt-get update -q >/dev/null
	mkdir -p "$scratch/root/debs/new"
	cp "$here/life.sh" "$here/machine.sh" "$scratch/root/debs/"
	for package in evenkeel evenkeel-tools libevenkeel0 libevenkeel-dev; do cp "$debs/${package}"_*.deb "$scratch/root/debs/new/"; done
	sh "$here/elder.sh" "$debs"/evenkeel_*.deb "$scratch/root/debs/old/evenkeel.deb"
}
boots() { # with an older version, and a unit that runs machine.sh and shuts down
	DEBIAN_FRONTEND=noninteractive in_root apt-get install -y -q --no-install-recommends systemd-sysv dbus >/dev/null 2>&1
	in_root apt-get install -y -q --no-install-recommends /debs/old/evenkeel.deb /debs/new/evenkeel-tools_*.deb >/dev/null 2>&1
	cat >"$scratch/root/etc/systemd/system/trial.service" <<-UNIT
		[Unit]
		After=multi-user.target
		[Service]
		Type=oneshot
		ExecStart=/bin/sh -c 'sh /debs/machine.sh >/debs/told 2>&1; systemctl poweroff'
		[Install]
		WantedBy=multi-user.target
	UNIT
	in_root systemctl enable trial.service 2>/dev/null
	timeout 300 systemd-nspawn -q -D "$scratch/root" -b --register=no --keep-unit --console=pipe </dev/null >/dev/null 2>&1 || true
}

bare
cp -a "$scratch/root" "$scratch/bare"
status=0
in_root sh /debs/life.sh /debs demo || status=$?
tell "installed on a bare machine, used, upgraded, removed, purged" $status
status=0
"${PYTHON:-python3}" "$here/image.py" "$scratch/bare" >"$scratch/log" 2>&1 || {
	status=$?
	tail -n 20 "$scratch/log"
}
tell "what the Dockerfile does, on a bare machine" $status
boots
sed 's/^/  /' "$scratch/root/debs/told" || true
status=0
grep -qx 'as it should be' "$scratch/root/debs/told" || status=$?
tell "the unit under systemd: started, reloaded, killed, upgraded, removed" $status
echo "$passed passed, $failed failed"
[ $failed = 0 ]
