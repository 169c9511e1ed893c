#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sets up what is asked for, once:  sim/setup/setup.sh python|<group>|icarus|verilator|chromium|axe ...
#
# 'python' is every package of requirements.txt, a group (simulate, report, ...) its packages there.
# Everything lands in the project's own folders (.venv, .tools), except that root installs Debian
# packages with apt. A part that is ready costs a few milliseconds. Environment: PYTHON (which
# Python to build the virtual environment from), VENV (where to put it), CXX.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${VENV:-.venv}
case $venv in /*) ;; *) venv=$root/$venv ;; esac
tools=$root/.tools
log=$tools/setup.log
# The Makefile puts the environment's own Python first; it cannot be built from itself.
PATH=${PATH#"$venv/bin:"}

say() { printf 'setup: %s\n' "$*"; }
die() {
    printf 'setup: error: %s\n' "$*" >&2
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }
# Runs a command with its output in the log.
logged() {
    mkdir -p "$tools"
    "$@" >>"$log" 2>&1
}

# ---------------------------------------------------------------- Debian packages

# apt_install PACKAGE...: as root, into the system.
apt_install() {
    have apt-get && is_root || return 1
    say "installing $* with apt"
    export DEBIAN_FRONTEND=noninteractive
    logged apt-get install -y --no-install-recommends "$@" && return 0
    # A new machine has no package lists yet, or stale ones.
    logged apt-get update && logged apt-get install -y --no-install-recommends "$@"
}

# apt_unpack PACKAGE...: without root, into .tools/root.
apt_unpack() {
    have apt-get && have dpkg || return 1
    say "unpacking $* into .tools"
    mkdir -p "$tools/deb" "$tools/root" "$tools/apt/lists/partial" "$tools/apt/cache/archives/partial"
    (
        cd "$tools/deb" || exit 1
        logged apt-get download "$@" && exit 0
        # No package lists on this machine: fetch them into a folder of our own.
        own_apt() {
            logged apt-get -o "Dir::State::lists=$tools/apt/lists" -o "Dir::Cache=$tools/apt/cache" "$@"
        }
        own_apt update && own_apt download "$@"
    ) || return 1
    for package; do
        for file in "$tools/deb/$package"_*.deb; do
            logged dpkg -x "$file" "$tools/root" || return 1
        done
    done
}

# ---------------------------------------------------------------- Python

# Prints major.minor of a Python, or nothing.
python_version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

choose_python() {
    if [ -n "${PYTHON:-}" ]; then
        have "$PYTHON" || die "PYTHON=$PYTHON: no such command; give a Python of 3.10 or later, as in: make PYTHON=python3.12"
        found=$(python_version "$PYTHON")
        [ -n "$found" ] || die "PYTHON=$PYTHON does not run; give a Python of 3.10 or later, as in: make PYTHON=python3.12"
        new_enough "$PYTHON" || die "PYTHON=$PYTHON is Python $found, but 3.10 or later is needed, as in: make PYTHON=python3.12"
        return
    fi
    for PYTHON in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        if have "$PYTHON" && new_enough "$PYTHON"; then return; fi
    done
    found=$(python_version python3)
    die "no Python of 3.10 or later on PATH${found:+ (python3 is $found)}; install one, or name it: make PYTHON=/path/to/python3.12"
}

# Simulators load Python as a library, which some distributions pack apart from the program. Prints
# the library's file, or nothing: cocotb looks in the same places, and in the virtual environment.
libpython() {
    "$PYTHON" - 2>/dev/null <<'LOOK' || true
import ctypes, os, sys, sysconfig
names = [sysconfig.get_config_var(name) or "" for name in ("INSTSONAME", "LDLIBRARY")]
names += ["libpython%d.%d.so" % sys.version_info[:2]]
folders = [sysconfig.get_config_var(name) or "" for name in ("LIBPL", "LIBDIR")]
folders += [os.path.join(sys.exec_prefix, "lib")]
for name in (name for name in names if not name.endswith(".a")):
    for path in (name, *(os.path.join(folder, name) for folder in folders if folder)):
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        sys.exit(print(path))
LOOK
}

# Before anything else is set up: without the library every simulation would end at its start.
need_libpython() {
    [ -z "$(libpython)" ] || return 0
    if from_debian && bring_libpython; then return 0; fi
    die "$(command -v "$PYTHON") has no shared library (libpython$version.so), which simulators load: install it (Debian: apt install libpython$version), or name a Python that has it: make PYTHON=/path/to/python3"
}

bring_libpython() {
    for package in "libpython$version" "libpython${version}t64"; do
        if apt_install "$package" && [ -n "$(libpython)" ]; then return 0; fi
        [ -n "$(unpacked_libpython)" ] || apt_unpack "$package" || continue
        [ -z "$(unpacked_libpython)" ] || return 0
    done
    return 1
}

# The library in .tools, when it was unpacked there.
unpacked_libpython() {
    for file in "$tools"/root/usr/lib/*/"libpython$version.so.1.0"; do
        [ ! -e "$file" ] || printf '%s\n' "$file"
    done
}

# Is this the distribution's own Python, which its packages fit?
from_debian() {
    have apt-get && [ "$("$PYTHON" -c 'import sys; print(sys.base_prefix)')" = /usr ]
}

make_venv() {
    logged "$PYTHON" -m venv --clear "$venv" && return 0
    # Debian splits ensurepip off from its Python.
    if "$PYTHON" -c 'import ensurepip' >/dev/null 2>&1; then
        die "$PYTHON -m venv failed: see $log"
    fi
    if apt_install python3-venv && logged "$PYTHON" -m venv --clear "$venv"; then return 0; fi
    # Without root: pip out of Debian's wheel, started as a file.
    if apt_unpack python3-pip-whl && logged "$PYTHON" -m venv --clear --without-pip "$venv"; then
        for wheel in "$tools"/root/usr/share/python-wheels/pip-*.whl; do
            logged "$venv/bin/python" "$wheel/pip" install --no-index "$wheel" && return 0
        done
    fi
    die "$PYTHON cannot make a virtual environment; install its venv module (Debian: apt install python3-venv)"
}

# The lines of some groups of requirements.txt.
group_lines() {
    awk -v groups=" $* " '/^# group / { sub(":", "", $3); wanted = index(groups, " " $3 " ") } wanted' \
        "$root/requirements.txt"
}

# Is a group, or everything, set up by the Python that is asked for?
is_ready() {
    for stamp in "$stamps" "$stamps-$1"; do
        [ -e "$stamp" ] || continue
        [ -n "${PYTHON:-}" ] || return 0
        choose_python
        [ "$(python_version "$PYTHON")" != "$(cat "$stamp")" ] || return 0
    done
    return 1
}

# setup_python GROUP...: the environment with the packages of these groups; 'python' is all of them.
setup_python() {
    # Ready means: these requirements, in this folder (scripts in a venv hold absolute paths), and
    # the library is still where it was.
    stamps=$venv/.ready-$({ cat "$root/requirements.txt" && echo "$venv"; } | cksum | cut -d ' ' -f 1)
    if ! { [ -x "$venv/bin/python" ] &&
        read -r library 2>/dev/null <"$venv/.libpython" && [ -e "$library" ]; }; then
        rm -f "$venv"/.ready-*
    fi
    missing=
    for group; do
        is_ready "$group" || missing="$missing $group"
    done
    [ -n "$missing" ] || return 0
    choose_python
    version=$(python_version "$PYTHON")
    need_libpython
    if ! { [ "$(python_version "$venv/bin/python")" = "$version" ] && [ -e "$venv/bin/pip" ]; }; then
        say "Python $version ($(command -v "$PYTHON")): virtual environment into ${venv#"$root"/}"
        missing=" $*"
        make_venv
    fi
    for stamp in "$venv"/.ready-*; do
        case $stamp in "$stamps"*) ;; *) rm -f "$stamp" ;; esac
    done
    unpacked=$(unpacked_libpython)
    [ -z "$unpacked" ] || ln -sf "$unpacked" "$venv/lib/"
    say "packages for:$missing"
    # shellcheck disable=SC2086 # one word a group
    install_groups $missing
    library=$("$venv/bin/python" -m find_libpython) ||
        die "$PYTHON has a shared library ($(libpython)$unpacked), but cocotb does not find it: name another Python: make PYTHON=/path/to/python3"
    echo "$library" >"$venv/.libpython"
    for group in $missing; do
        if [ "$group" = python ]; then stamp=$stamps; else stamp=$stamps-$group; fi
        echo "$version" >"$stamp"
    done
}

# pip_install OPTION...: nothing is byte-compiled beforehand, Python does that with what it loads.
pip_install() {
    logged "$venv/bin/python" -m pip install --disable-pip-version-check --retries 2 --no-compile "$@" || pip_failed
}

install_groups() {
    case " $* " in
    *" python "*) lines=$(cat "$root/requirements.txt") ;;
    *) lines=$(group_lines "$@") ;;
    esac
    # What packages bring with them is pinned by the whole list.
    printf '%s\n' "$lines" | pip_install -c "$root/requirements.txt" -r /dev/stdin
    # Its metadata asks for 3.11, but it works with 3.10; what it depends on is installed above.
    coverage=$(printf '%s\n' "$lines" | sed -n 's/^\(cocotb-coverage==[^;]*\).*/\1/p')
    if [ "$version" = 3.10 ] && [ -n "$coverage" ]; then
        pip_install --no-deps --ignore-requires-python "$coverage"
    fi
}

pip_failed() {
    if tail -n 40 "$log" | grep -qiE 'connection|resolution|timed out|network|unreachable|proxy'; then
        die "pip cannot reach its package index (no network, or a proxy is missing): run make again once 'pip download pyuvm' works; log: $log"
    fi
    die "pip could not install requirements.txt: $(grep '^ERROR' "$log" | tail -n 1) (log: $log)"
}

# ---------------------------------------------------------------- Icarus Verilog

icarus_help="install it (apt install iverilog | dnf install iverilog | brew install icarus-verilog | pacman -S iverilog), or use 'make SIM=verilator', which needs none of it"

# Without root: Debian's package in .tools, told where it lies.
unpack_icarus() {
    apt_unpack iverilog || return 1
    ivl=$(cd "$tools/root" && echo usr/lib/*/ivl)
    [ -d "$tools/root/$ivl" ] || return 1
    libs=${ivl#usr/}
    libs=${libs%/ivl} # lib/x86_64-linux-gnu; a package may have it under / or under /usr
    missing=$(ldd "$tools/root/usr/bin/vvp" | grep -c 'not found' || true)
    if [ "$missing" != 0 ]; then
        # shellcheck disable=SC2046 # one word a package
        apt_unpack $(apt-cache depends iverilog | sed -n 's/^ *Depends: \(lib[a-z].*\)/\1/p' | grep -v '^libc6') || return 1
    fi
    mkdir -p "$tools/bin"
    for pair in "iverilog -B" "vvp -M"; do
        program=${pair% *}
        cat >"$tools/bin/$program" <<WRAPPER
#!/bin/sh
root=\$(cd "\$(dirname "\$0")/../root" && pwd)
LD_LIBRARY_PATH=\$root/$libs:\$root/usr/$libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "\$root/usr/bin/$program" ${pair#* } "\$root/$ivl" "\$@"
WRAPPER
        chmod +x "$tools/bin/$program"
    done
}

setup_icarus() {
    PATH=$PATH:$tools/bin
    if ! { have iverilog && have vvp; }; then
        apt_install iverilog || unpack_icarus || true
        { have iverilog && have vvp; } ||
            die "Icarus Verilog is missing and could not be installed (log: $log): $icarus_help"
    fi
    # A read, not a pipe into head: iverilog -V has much more to say, and this runs every time.
    version=$(iverilog -V 2>/dev/null | sed -n 's/^Icarus Verilog version \([0-9][0-9]*\).*/\1/p;1q')
    [ "${version:-0}" -ge 11 ] ||
        die "Icarus Verilog ${version:-of unknown version} at $(command -v iverilog) is too old, 11 or later is needed: $icarus_help"
}

# ---------------------------------------------------------------- Verilator

# FST waves (WAVES=1) are compressed with lz4 and zlib; all else works without their headers.
setup_fst() {
    [ ! -e "$tools/fst" ] || return 0
    mkdir -p "$tools"
    if printf '#include <lz4.h>\n#include <zlib.h>\n' | "$cxx" -E -x c++ - >/dev/null 2>&1; then
        echo system >"$tools/fst"
    elif apt_install liblz4-dev zlib1g-dev; then
        echo system >"$tools/fst"
    elif apt_unpack liblz4-dev zlib1g-dev; then
        echo unpacked >"$tools/fst"
    else
        say "no lz4 or zlib headers (Debian: liblz4-dev zlib1g-dev): Verilator's waves will be VCD, not FST"
        echo missing >"$tools/fst"
    fi
}

need_compiler() {
    cxx=${CXX:-g++}
    have "$cxx" ||
        die "no C++ compiler ($cxx), which Verilator needs: install g++ (apt install g++ | dnf install gcc-c++ | pacman -S gcc | xcode-select --install), or name one: make CXX=clang++"
}

setup_verilator() {
    [ -e "$tools/fst" ] || VIRTUAL_ENV=$venv "$root/sim/setup/verilator" --version >/dev/null ||
        die "no usable Verilator: remove ${venv#"$root"/} and run make again"
    setup_fst
}

# ---------------------------------------------------------------- Chromium, to look at reports

setup_chromium() {
    if ! { have chromium && have chromedriver; }; then
        apt_install chromium chromium-driver ||
            die "chromium and chromedriver are missing and could not be installed: install them (apt install chromium chromium-driver), or leave this test out"
    fi
}

axe=4.14.1

setup_axe() {
    ! grep -qs "\"version\": \"$axe\"" "$tools/node_modules/axe-core/package.json" || return 0
    have npm || apt_install npm ||
        die "npm is missing and could not be installed: install it (apt install npm), or leave this test out"
    say "axe-core $axe, which looks for barriers in the report"
    logged npm install --prefix "$tools" --no-save --no-audit --no-fund --ignore-scripts "axe-core@$axe" ||
        die "axe-core $axe could not be installed: see ${log#"$root"/}"
}

# ---------------------------------------------------------------- what was asked for

# make, cocotb and the compilers paste these paths into commands.
for folder in "$root" "$venv"; do
    # shellcheck disable=SC1001 # a backslash before each, whether it needs one or not
    case $folder in *[]\ \	\'\"\`\$\#\:\;\,\%\&\|\<\>\(\)\{\}\*\?\!\[\\]*)
        die "$folder: no folder whose path has blanks or any of '\"\`\$#:;,%&|<>(){}[]*?!\\ will do: move it"
        ;;
    esac
done

# The compilers that are tried here, and all that runs later, write there.
if [ -n "${TMPDIR:-}" ]; then
    # In a shell of its own: where ':' cannot write, it ends the shell it is in.
    (: >"$TMPDIR/.ga2-setup-$$" && rm -f "$TMPDIR/.ga2-setup-$$") 2>/dev/null ||
        die "TMPDIR=$TMPDIR: no folder that can be written to: give another, or unset it"
fi

[ $# -gt 0 ] || set -- python
[ ! -e "$log" ] || : >"$log"
groups=
for part; do
    case $part in
    # What nothing here can bring is told first.
    verilator) need_compiler ;;
    icarus | chromium | axe) ;;
    *)
        [ "$part" = python ] || [ -n "$(group_lines "$part")" ] ||
            die "unknown part '$part': python, a group of requirements.txt, icarus, verilator, chromium or axe"
        groups="$groups $part"
        ;;
    esac
done
# shellcheck disable=SC2086 # one word a group
[ -z "$groups" ] || setup_python $groups
for part; do
    case $part in
    icarus) setup_icarus ;;
    verilator) setup_verilator ;;
    chromium) setup_chromium ;;
    axe) setup_axe ;;
    esac
done
