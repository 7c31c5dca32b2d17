import { globSync } from "node:fs"
import { dirname, join } from "node:path"
import type { findProgram, Missing } from "@outreach/debian-packages/findProgram"
import type { ProgramName } from "@outreach/debian-packages/programs"

export type Tool = Exclude<ReturnType<typeof findProgram>, Missing>

const below = (root: string, path: string) => globSync(path, { cwd: root }).map((found) => join(root, found))

/** Variables of languages that are unpacked in a separate folder. */
const UNPACKED: { readonly [Name in ProgramName]?: (tool: Tool) => Readonly<Record<string, string>> } = {
  python: ({ folder }) => ({ PYTHONHOME: join(folder, "usr") }),
  ruby: ({ folder }) => ({
    RUBYLIB: ["usr/lib/ruby/[0-9]*", "usr/lib/*/ruby/[0-9]*"].flatMap((path) => below(folder, path)).join(":"),
  }),
  go: ({ program }) => ({ GOROOT: dirname(dirname(program)), CGO_ENABLED: "0", GOFLAGS: "-mod=mod" }),
  mono: ({ folder }) => ({ MONO_PATH: join(folder, "usr/lib/mono/4.5"), MONO_CFG_DIR: join(folder, "etc") }),
}

/** Returns the environment of a language's program that works in a folder. */
export const environmentOf = (name: ProgramName, tool: Tool, home: string): Readonly<Record<string, string>> => {
  const libraries = ["usr/lib/*-linux-gnu", "lib/*-linux-gnu"].flatMap((path) => below(tool.folder, path))
  const unpacked = tool.folder === "/" ? {} : { LD_LIBRARY_PATH: libraries.join(":"), ...UNPACKED[name]?.(tool) }
  return { PATH: "/usr/bin:/bin", HOME: home, LC_ALL: "C.UTF-8", ...unpacked }
}
