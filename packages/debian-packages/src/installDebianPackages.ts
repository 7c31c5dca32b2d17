import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { promisify } from "node:util"

/**
 * Installs what is missing, one process at a time, since `apt-get update` waits for no lock of its own.
 * A daemon that a package brings must not start: `policy-rc.d` forbids it where the machine has no such policy.
 * An earlier installation that was ended midway is finished first, since nothing can be installed before.
 */
const SCRIPT = `
set -e
program=$1
shift
exec 9>/var/lock/outreach-apt.lock
flock 9
test -e "$program" && exit
policy=/usr/sbin/policy-rc.d
if ! test -e $policy; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy
  chmod 755 $policy
fi
apt-get update -q
dpkg --configure -a || apt-get install -qyf --no-install-recommends
apt-get install -qy --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
`

/**
 * Returns the first of `programs` that is there, after installing `packages` where none is; only root on Debian installs, elsewhere the reason to skip is returned and written to stderr.
 *
 * Throws when the installation fails. The first of `programs` is the one that the packages bring.
 */
export async function installDebianPackages(
  packages: readonly [string, ...ReadonlyArray<string>],
  programs: readonly [string, ...ReadonlyArray<string>],
): Promise<{ readonly program: string } | { readonly missing: string }> {
  const found = () => programs.find((program) => existsSync(program))
  const present = found()
  if (present !== undefined) return { program: present }
  if (!isRootOnDebian()) {
    const missing = `none of ${programs.join(", ")} is there, and only root on Debian installs ${packages.join(", ")}`
    process.stderr.write(`Skipped: ${missing}.\n`)
    return { missing }
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  await promisify(execFile)("sh", ["-c", SCRIPT, "install", programs[0], ...packages], { env, maxBuffer: 2 ** 26 })
  const program = found()
  if (program === undefined) throw new Error(`${packages.join(", ")} did not bring ${programs[0]}`)
  return { program }
}

/** Reports whether this process may install Debian packages. */
export const isRootOnDebian = (): boolean =>
  userInfo().uid === 0 && existsSync("/etc/os-release") && /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"))
