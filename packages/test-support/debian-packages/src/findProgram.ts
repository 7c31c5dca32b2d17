import { existsSync, globSync } from "node:fs"
import { join } from "node:path"
import { INSTALLED, type InstalledName, type Program, UNPACKED, type UnpackedName } from "./programs.ts"

/** Where `.ci/prepare` unpacks programs. */
const FOLDER = "/var/cache/outreach-programs"

/** The reason why a proof is skipped on this machine. */
export interface Missing {
  readonly missing: string
}

/** Returns the path of an installed program, or the reason to skip its proofs. */
export const findInstalled = (name: InstalledName): { readonly program: string } | Missing => {
  const program = INSTALLED[name].paths.find((path) => existsSync(path))
  return program === undefined ? missing(name) : { program }
}

/** Returns an unpacked program and the folder with its libraries, or the reason to skip its proofs. The folder is `/` if the machine has the program. */
export const findUnpacked = (name: UnpackedName): { readonly folder: string; readonly program: string } | Missing => {
  const { paths, own = false }: Program = UNPACKED[name]
  for (const folder of own ? ["/", folderOf(name)] : [folderOf(name)]) {
    const [program] = paths.flatMap((path) => globSync(path, { cwd: folder }))
    if (program !== undefined) return { folder, program: join(folder, program) }
  }
  return missing(name)
}

export const folderOf = (name: UnpackedName): string => join(FOLDER, name)

const missing = (name: string): Missing => ({
  missing: `${name} is not on this machine; "bash .ci/prepare ${name}" installs it, as root on Debian`,
})
