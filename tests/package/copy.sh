#!/bin/sh
# copy.sh FOLDER COMMAND...: run a command in a copy-on-write root of this machine, with FOLDER at /debs, and
# discard the copy. Exits with 77 if that is not possible.
set -eu
folder=$(realpath "$1")
shift
[ "$(id -u)" = 0 ] || {
	echo "not root"
	exit 77
}
scratch=$(mktemp -d)
mounted=
end() {
	for each in $mounted; do umount -l "$each"; done
	rmdir "$scratch"
}
trap end EXIT
mount_it() { # path, arguments of mount...
	where=$1
	shift
	mount "$@" "$where" 2>"/dev/null" || {
		echo "no mount of $where"
		exit 77
	}
	mounted="$where $mounted"
}
mount_it "$scratch" -t tmpfs none
mkdir "$scratch/changes" "$scratch/work" "$scratch/root"
mount_it "$scratch/root" -t overlay -o "lowerdir=/,upperdir=$scratch/changes,workdir=$scratch/work" overlay
mkdir -p "$scratch/root/debs"
mount_it "$scratch/root/debs" --bind "$folder"
mount_it "$scratch/root/proc" -t proc proc
mount_it "$scratch/root/dev" --bind /dev
mount_it "$scratch/root/tmp" -t tmpfs none
chroot "$scratch/root" "$@"
