import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Version } from "@cyclonedx/cyclonedx-library/Spec"
import { JsonStrictValidator } from "@cyclonedx/cyclonedx-library/Validation"
import type { DebianPackage } from "./buildImage.ts"
import { root } from "./run.ts"

interface Sbom {
  readonly components: ReadonlyArray<object>
}

/** Writes the SBOM of `out/`, made by its build, under another name. Throws if it violates CycloneDX's schema. */
export const writeSbomOfArchive = (file: string): Promise<void> => write(file, bundled())

/** Writes the SBOM of the image: `out/`, Node and the Debian packages. Throws if it violates CycloneDX's schema. */
export const writeSbomOfImage = (file: string, debian: ReadonlyArray<DebianPackage>): Promise<void> => {
  const node = { type: "application", name: "node", version: process.versions.node }
  const added = [
    { ...node, purl: `pkg:generic/node@${node.version}`, licenses: [{ license: { id: "MIT" } }] },
    ...debian.map(({ name, version, architecture }) => {
      const query = `arch=${architecture}&distro=bookworm`
      return { type: "library", name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?${query}` }
    }),
  ].map((component) => ({ "bom-ref": component.purl, ...component }))
  const sbom = bundled()
  return write(file, { ...sbom, components: [...sbom.components, ...added] })
}

const bundled = (): Sbom => JSON.parse(readFileSync(join(root, "out/sbom.json"), "utf8"))

const write = async (file: string, sbom: Sbom): Promise<void> => {
  const text = JSON.stringify(sbom, null, 2)
  const errors = await new JsonStrictValidator(Version.v1dot6).validate(text)
  if (errors !== null) throw new Error(`${file} would not follow CycloneDX: ${JSON.stringify(errors)}`)
  writeFileSync(file, text)
}
