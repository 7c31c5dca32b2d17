/** Packs every built published package into `dist/partners`, without the version in the name. With `--build` it builds them first. */
import { execFile, execFileSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs, promisify } from "node:util"
import { publishedPackages, root } from "./publishedPackages.ts"

const { values } = parseArgs({ options: { build: { type: "boolean" } } })
// Standard output lists only the tarballs, so turbo writes to standard error.
if (values.build) execFileSync("pnpm", ["run", "build"], { cwd: root, stdio: ["ignore", 2, 2] })

const folder = join(root, "dist/partners")
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const tarballs = publishedPackages().map(async (each) => {
  const tarball = join(folder, `${basename(each.folder)}.tgz`)
  await promisify(execFile)("pnpm", ["pack", "--out", tarball], { cwd: each.folder })
  return tarball
})
for (const tarball of await Promise.all(tarballs)) console.log(tarball)
