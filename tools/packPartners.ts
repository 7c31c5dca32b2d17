/**
 * Packs every built published library into `dist/partners`, without the version in the name. With `--build` it builds them first.
 * Reports the progress on standard error. Standard output lists the tarballs.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs, promisify } from "node:util"
import { publishedLibraries, root } from "./publishedPackages.ts"

const { values } = parseArgs({ options: { build: { type: "boolean" } } })
const libraries = publishedLibraries()

/** Returns a function that reports a step of each library, and how many steps remain. */
const progressOf = () => {
  let remaining = libraries.length
  return (step: string) => {
    remaining -= 1
    console.error(`${step} (${remaining} remain)`)
  }
}

/** Builds the libraries that have changed. Shows the output of the builds only if one fails. */
async function build(): Promise<void> {
  const filters = libraries.map(({ name }) => `--filter=${name}`)
  const turbo = spawn("pnpm", ["exec", "turbo", "run", "build", "--output-logs=new-only", ...filters], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  })
  const report = progressOf()
  let output = ""
  for await (const line of createInterface({ input: turbo.stdout })) {
    output += `${line}\n`
    const [, name, state] = /^(\S+):build: cache (hit|miss)/.exec(line) ?? []
    if (name !== undefined) report(state === "hit" ? `${name} is built already` : `building ${name}`)
  }
  if (turbo.exitCode === null) await once(turbo, "exit")
  if (turbo.exitCode === 0) return
  console.error(output)
  process.exit(1)
}

if (values.build) await build()
const folder = join(root, "dist/partners")
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const report = progressOf()
const tarballs = libraries.map(async (each) => {
  const tarball = join(folder, `${basename(each.folder)}.tgz`)
  await promisify(execFile)("pnpm", ["pack", "--out", tarball], { cwd: each.folder })
  report(`packed ${each.name}`)
  return tarball
})
const packed = await Promise.all(tarballs)
console.error(`${packed.length} tarballs in ${folder}, after ${process.uptime().toFixed(1)} s`)
for (const tarball of packed) console.log(tarball)
