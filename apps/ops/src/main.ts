import { enableCompileCache, findPackageJSON, registerHooks } from "node:module"
import { join } from "node:path"

/** The packages whose relative imports have file extensions, like those of this repository. */
const EXACT = /\/(?:effect|@effect\/[\w-]+)\/dist\//

/**
 * Loads this process's modules with less CPU time, because loading takes nearly all the time of a short command. Compiled code is cached in this
 * package's `node_modules`, and relative imports are resolved without file system calls.
 */
const loadModulesFast = (): void => {
  enableCompileCache(join(findPackageJSON(import.meta.url)!, "../node_modules/.cache/node"))
  registerHooks({
    resolve: (specifier, context, next) => {
      const format = formatOf(specifier, context.parentURL)
      if (format === undefined) return next(specifier, context)
      return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true }
    },
  })
}

/** Returns the module format of a relative import with a file extension; undefined for other imports. */
const formatOf = (specifier: string, importer = ""): string | undefined => {
  if (!specifier.startsWith(".")) return undefined
  if (specifier.endsWith(".ts")) return "module-typescript"
  return specifier.endsWith(".js") && EXACT.test(importer) ? "module" : undefined
}

loadModulesFast()
const { runOps } = await import("./ops.ts")
runOps()
