#!/bin/sh
# The unit on a machine run by systemd, from an older version to removal: prints each error, or
# `as it should be` without any. It needs no broker; the unit waits for one.
set -u
bad=0
unit=evenkeel@hotels
home=/etc/evenkeel/hotels

must() { # name, command...
	what=$1
	shift
	"$@" >/tmp/said 2>&1 && return 0
	echo "not so: $what"
	tail -n 15 /tmp/said
	journalctl -u "evenkeel@*" -n 8 --no-pager
	bad=1
}
is() { # property, value
	[ "$(systemctl show -P "$1" $unit)" = "$2" ]
}
becomes() { # property, value: within half a minute
	for _ in $(seq 60); do
		is "$@" && return 0
		sleep 0.5
	done
	return 1
}
told() { # text in the log, within half a minute
	for _ in $(seq 60); do
		journalctl -u $unit --no-pager | grep -q "$1" && return 0
		sleep 0.5
	done
	return 1
}
process() {
	systemctl show -P MainPID $unit
}
runs_as() { # user
	[ "$(sed -nE 's/^Uid:\s+([0-9]+)\s.*/\1/p' "/proc/$(process)/status")" = "$(id -u "$1")" ]
}
another_than() { # PID
	is ActiveState active && [ "$(process)" != "$1" ]
}
ended() { # PID
	is ActiveState inactive && [ ! -e "/proc/$1" ]
}
not() {
	! "$@"
}
sets_up() {
	cp -r /etc/evenkeel/example $home && cd $home &&
		evenkeel generate hotel --lists 200 --manifest-out features.yaml -o /tmp/train.txt &&
		evenkeel profile --manifest features.yaml --letor /tmp/train.txt -o profile.ekp && cd /
}
demo_unit() { # all features of the program, in the same sandbox
	mkdir -p /run/systemd/system/evenkeel@demo.service.d
	cat >/run/systemd/system/evenkeel@demo.service.d/demo.conf <<-CONF
		[Unit]
		ConditionPathExists=
		[Service]
		Type=oneshot
		ExecStart=
		ExecStart=/usr/bin/evenkeel demo
		Restart=no
		TimeoutStartSec=200s
	CONF
	systemctl daemon-reload && systemctl start evenkeel@demo
}

must "an instance is set up" sets_up
must "it starts without a token" systemctl start $unit
must "it can be asked once it has started" evenkeel status -c $home/evenkeel.yaml
must "it runs as a user of its own" runs_as evenkeel
must "reload" systemctl reload $unit
must "it has heard that" told event=reload
must "it stops" systemctl stop $unit
must "in good order" is Result success
sed -i 's/  # token_file/  token_file/' $home/evenkeel.yaml
must "without a token, where one is asked for, it does not start" not systemctl start $unit
must "and is not started again" is ExecMainStatus 78
(umask 077 && echo "ana 0123456789-a-token-of-ana" >$home/token)
must "with one it does" systemctl restart $unit
must "the token counts" evenkeel pause --url http://127.0.0.1:9464 --token-file $home/token
kill -KILL "$(process)"
must "after a crash it is started again" becomes NRestarts 1
must "and runs" becomes ActiveState active
before=$(process)
must "an upgrade while it runs" dpkg -i /debs/new/evenkeel_*.deb
must "to a later version" sh -c 'dpkg-query -W -f "\${Version}" evenkeel | grep -vq ^0.0.'
must "it goes on with the new program" another_than "$before"
must "it stops again" systemctl stop $unit
echo "nonsense: 1" >>$home/evenkeel.yaml
must "a fault of the configuration fails the start" not systemctl start $unit
must "and is no reason to start again" is ActiveState failed
must "the demonstration under the same sandbox" demo_unit
sed -i '/^nonsense/d' $home/evenkeel.yaml
must "without the fault it starts" systemctl start $unit
before=$(process)
must "removal while it runs" dpkg -r evenkeel
must "ends it" ended "$before"
must "purge" dpkg -P evenkeel
must "what people made is left to them" test -s $home/profile.ekp
[ $bad = 0 ] && echo "as it should be"
