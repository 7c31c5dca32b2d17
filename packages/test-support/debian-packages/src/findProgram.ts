import { globSync } from "node:fs"
import { join } from "node:path"
import { PROGRAMS, type Program, type ProgramName } from "./programs.ts"

/** The reason why a proof is skipped on this machine. */
export interface Missing {
  readonly missing: string
}

/** Returns a program and the folder with its libraries, or the reason to skip its proofs. The folder is `/` if it is the machine's. */
export const findProgram = (name: ProgramName): { readonly folder: string; readonly program: string } | Missing => {
  const { paths, place = "unpacked" }: Program = PROGRAMS[name]
  const folders = { installed: ["/"], unpacked: [folderOf(name)], either: ["/", folderOf(name)] }[place]
  for (const folder of folders) {
    const [program] = paths.flatMap((path) => globSync(path, { cwd: folder }))
    if (program !== undefined) return { folder, program: join(folder, program) }
  }
  return { missing: `${name} is not on this machine; "bash .ci/prepare ${name}" installs it, as root on Debian` }
}

/** Where `.ci/prepare` unpacks a program. */
export const folderOf = (name: ProgramName): string => join("/var/cache/outreach-programs", name)
