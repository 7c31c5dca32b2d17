import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"

// The artifact contains the texts of these files as built.

const read = (specifier: string): Promise<string> => readFile(fileURLToPath(import.meta.resolve(specifier)), "utf8")

/** The scripts of the browser. Each finds its elements, and every page works without scripts. */
const SCRIPTS = ["copy", "forms", "localTimes", "preview", "refresh"] as const

/** The texts of the scripts without types. */
export const scriptTexts: ReadonlyArray<string> = await Promise.all(
  SCRIPTS.map(async (name) => stripTypeScriptTypes(await read(`#browser/${name}`))),
)

export const styleText: string = (await read("@outreach/process/tokens.css")) + (await read("#styles/console.css"))
export const iconText: string = await read("#styles/icon.svg")
