/**
 * Makes a release in `dist/release/`: the archive, the image, their SBOMs and the checksums. Only a commit with the tag of its version makes that
 * version; any other commit makes `0.0.0-dev` for a trial.
 *
 * `--tag` is the release's tag. It must match the version, and adds the notes.
 *
 * `--without-image` skips the image, which needs buildah, mmdebstrap and root.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { buildImage } from "./buildImage.ts"
import { nameRelease, serviceVersion } from "./nameRelease.ts"
import { notesOf } from "./notesOf.ts"
import { packArchive } from "./packArchive.ts"
import { root, run } from "./run.ts"
import { writeSbomOfArchive, writeSbomOfImage } from "./writeSboms.ts"

const { values } = parseArgs({ options: { "without-image": { type: "boolean" }, tag: { type: "string" } } })
const release = nameRelease()
const version = release.replace(/\+.*/, "")
if (values.tag !== undefined && values.tag !== `v${version}`) {
  throw new Error(
    `The tag is ${values.tag}, and what stands here is ${release}: the tag of a release is v${serviceVersion()}, on a commit without changes.`,
  )
}
// Before the build, because the notes may be missing.
const notes = values.tag === undefined ? undefined : notesOf(join(root, "deploy/CHANGELOG.md"), version)
const folder = join(root, "dist/release")
const name = `outreach-partner-api-${version}`
const epoch = run("git", ["log", "-1", "--format=%ct"])

rmSync(folder, { recursive: true, force: true })
rmSync(join(root, "out"), { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
run("pnpm", ["package"], { RELEASE: release })
packArchive(join(folder, `${name}.tar.gz`), name, epoch)
await writeSbomOfArchive(join(folder, `${name}.cdx.json`))
if (values["without-image"] !== true) {
  const architecture = process.arch === "x64" ? "amd64" : process.arch
  const image = join(folder, `${name}-${architecture}.oci.tar`)
  await writeSbomOfImage(
    join(folder, `${name}-${architecture}.cdx.json`),
    buildImage(image, { tag: version, release, epoch }),
  )
}
const sums = readdirSync(folder)
  .sort()
  .map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex")}  ${file}\n`,
  )
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""))
if (notes !== undefined) writeFileSync(join(folder, "NOTES.md"), `${notes}\n`)
console.log(`${release}\n${sums.join("")}`)
