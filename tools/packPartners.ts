/** Packs every published package as it is built, without its version in the name: `node tools/packPartners.ts [folder]`, default `dist/partners`. */
import { execFile } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { promisify } from "node:util"
import { publishedPackages, root } from "./publishedPackages.ts"

const folder = resolve(process.argv[2] ?? join(root, "dist/partners"))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const tarballs = publishedPackages().map(async (each) => {
  const tarball = join(folder, `${basename(each.folder)}.tgz`)
  await promisify(execFile)("pnpm", ["pack", "--out", tarball], { cwd: each.folder })
  return tarball
})
for (const tarball of await Promise.all(tarballs)) console.log(tarball)
