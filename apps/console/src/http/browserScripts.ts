import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"

/** The scripts of the browser. Each finds its elements, and every page works without scripts. */
const SCRIPTS = ["copy", "forms", "localTimes", "refresh"] as const

/** The texts of the scripts without types. The artifact contains them as built. */
export const browserScripts: ReadonlyArray<string> = await Promise.all(
  SCRIPTS.map(async (name) =>
    stripTypeScriptTypes(await readFile(fileURLToPath(import.meta.resolve(`#browser/${name}`)), "utf8")),
  ),
)
