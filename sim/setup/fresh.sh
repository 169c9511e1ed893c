#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tries README's two commands on a new Debian machine:  sim/setup/fresh.sh DISTRO [root|user]
#
# The machine is a folder, build/fresh/DISTRO-USER, with debootstrap's smallest system and the
# packages that README asks for; this program enters it by chroot, as root, as an ordinary user, or
# (without a second word) as one after the other, on a machine each. Mounts and processes live in
# name spaces of their own and go with this program, however it ends. A machine on which something
# failed, or was interrupted, is left to be looked at. COMMANDS in the environment: other commands than README's.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
fresh=$root/build/fresh
packages=python3,python3-venv,g++,make,git

say() { printf 'fresh: %s\n' "$*"; }
die() {
    printf 'fresh: error: %s\n' "$*" >&2
    exit 2
}
have() { command -v "$1" >/dev/null 2>&1; }

# ---------------------------------------------------------------- what the machine is told

# Where this machine has Debian's packages from; nothing when it is no Debian.
mirror() {
    # shellcheck disable=SC2016 # apt fills these in
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/^Debian //p;T;q'
}

# Names and registries as on this machine.
tell_network() {
    cp /etc/resolv.conf /etc/hosts "$machine/etc/"
    if have apt-config; then
        apt-config dump 2>/dev/null | grep -i '^Acquire::https\{0,1\}::' >"$machine/etc/apt/apt.conf.d/90fresh" || true
    fi
    {
        echo '[global]'
        pip_settings
    } >"$machine/etc/pip.conf"
    for path in $(pip_paths); do
        [ ! -f "$path" ] || install -D -m 644 "$path" "$machine$path"
    done
}

# What pip goes by here, from files and environment: 'name = value', the environment's last.
pip_settings() {
    python3 -m pip config list 2>/dev/null |
        sed -n "s/^:env:\.\([a-z-]*\)='\(.*\)'\$/2 \1 = \2/p; s/^global\.\([a-z-]*\)='\(.*\)'\$/1 \1 = \2/p" |
        sort -r | awk '!seen[$2]++ { sub(/^[12] /, ""); print }'
}

# Files and folders named there; of an index on disk the folder that also holds its packages.
pip_paths() {
    pip_settings | tr ' ' '\n' | sed -n 's,^file://,,; s,/simple/*$,,; /^\//p'
}

# ---------------------------------------------------------------- the machine

# Unpacks a new machine; what debootstrap did is kept for the next one.
make_machine() {
    base=$fresh/$distro.tar
    rm -rf --one-file-system "$machine"
    if [ ! -e "$base" ]; then
        say "$distro: debootstrap, once"
        # shellcheck disable=SC2046 # no word when there is none
        debootstrap --variant=minbase --include="$packages" "$distro" "$machine" $(mirror) \
            >"$fresh/$distro.log" 2>&1 ||
            die "debootstrap of $distro failed: $(tail -n 1 "$fresh/$distro.log") (log: $fresh/$distro.log)"
        tar -C "$machine" -cf "$base.new" .
        mv "$base.new" "$base"
        rm -rf --one-file-system "$machine"
    fi
    mkdir "$machine"
    tar -C "$machine" -xf "$base"
    tell_network
    chroot "$machine" useradd --create-home user
    home=$(chroot "$machine" sh -c "echo ~$who")
    git clone -q "$root" "$machine$home/ga2"
    chroot "$machine" chown -R "$who:" "$home/ga2"
}

# Runs the commands on it.
enter_machine() {
    mount -t proc proc "$machine/proc"
    mount --rbind /dev "$machine/dev"
    for path in $(pip_paths); do
        [ -d "$path" ] || continue
        mkdir -p "$machine$path"
        mount --bind -o ro "$path" "$machine$path"
    done
    # A shell has its background ignore SIGINT, which the tests send.
    # shellcheck disable=SC2016 # the shell inside expands these
    exec chroot --userspec="$who:$who" "$machine" env -i --default-signal=INT,QUIT \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME="$home" \
        ${http_proxy+"http_proxy=$http_proxy"} ${https_proxy+"https_proxy=$https_proxy"} \
        sh -c 'cd ~/ga2 && echo "$1" | while read -r line; do
            echo "\$ $line"
            sh -c "$line" </dev/null || exit
        done' sh "$COMMANDS"
}

try_as() {
    who=$1
    machine=$fresh/$distro-$who
    say "$distro as $who: a new machine in $machine"
    mkdir -p "$fresh"
    begin=$(date +%s)
    # In a session of its own, so that Ctrl-C ends it from here, at once and in one line.
    setpriv --pdeathsig KILL setsid unshare --mount --pid --fork --kill-child --mount-proc \
        sh "$0" --inside "$distro" "$who" &
    inside=$!
    trap 'kill -KILL $inside 2>/dev/null; wait $inside 2>/dev/null || true; say interrupted; exit 130' INT TERM HUP
    status=0
    wait $inside || status=$?
    trap - INT TERM HUP
    took=$(($(date +%s) - begin))
    if [ $status = 0 ]; then
        rm -rf --one-file-system "$machine"
        outcome="PASS  $distro as $who, $took s"
    else
        failed=1
        outcome="FAIL  $distro as $who: exit $status after $took s; look into $machine"
    fi
    said="$said$outcome
"
}

# ---------------------------------------------------------------- what was asked for

if [ "${1:-}" = --inside ]; then
    distro=$2
    who=$3
    machine=$fresh/$distro-$who
    make_machine
    enter_machine
fi

distro=${1:-}
[ -n "$distro" ] || die "which Debian? As in: make test-fresh DISTRO=bookworm"
case ${2:-both} in root | user | both) ;; *) die "WHO=$2: root or user, or nothing for both" ;; esac
[ "$(id -u)" = 0 ] || die "making a machine in a folder takes root (debootstrap, chroot, mount): run it as root"
for command in debootstrap unshare setpriv setsid chroot; do
    have $command || die "no $command on this machine: install it (Debian: apt install debootstrap util-linux)"
done
[ -e "/usr/share/debootstrap/scripts/$distro" ] ||
    die "DISTRO=$distro: debootstrap knows no such release; bookworm and trixie are what the project is tried on"
unshare --mount --pid --fork true 2>/dev/null ||
    die "this machine lets nobody mount (a container?): run it where root may"

# README's first block of code, less its comments.
: "${COMMANDS:=$(awk '/^```/ { if (open++) exit; next } open { sub(/ *#.*/, ""); print }' "$root/README.md")}"
export COMMANDS
failed=0
said=
case ${2:-both} in
both)
    try_as root
    try_as user
    ;;
*) try_as "$2" ;;
esac
printf '%s' "$said"
exit $failed
