import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { promisify } from "node:util"
import { isRootOnDebian } from "./installDebianPackages.ts"

/** Downloads packages, and the dependencies that the machine lacks, into a folder of its own, which gets its name when it is complete. */
const SCRIPT = `
set -e
folder=$1
shift
if [ "$(id -u)" = 0 ]; then
  exec 9>/var/lock/outreach-apt.lock
  flock 9
  test -e "$folder" && exit
  apt-get update -q
fi
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
test -e "$folder" || mv -T "$fetched" "$folder"
`

/**
 * Unpacks Debian packages and what they depend on into a folder, once for every run on this machine, and installs nothing: a mail server that the machine has stays.
 * Absolute links lead to what is in the folder, where it has it.
 *
 * Where that fails, root on Debian throws; elsewhere the reason to skip is returned and written to stderr.
 */
export async function unpackDebianPackages(
  packages: readonly [string, ...ReadonlyArray<string>],
  folder: string,
): Promise<{ readonly folder: string } | { readonly missing: string }> {
  if (existsSync(folder)) return { folder }
  try {
    await promisify(execFile)("sh", ["-c", SCRIPT, "unpack", folder, ...packages], { maxBuffer: 2 ** 26 })
    return { folder }
  } catch (error) {
    if (isRootOnDebian()) throw error
    const missing = `${packages.join(", ")} cannot be fetched here, which takes Debian's apt-get`
    process.stderr.write(`Skipped: ${missing}.\n`)
    return { missing }
  }
}
