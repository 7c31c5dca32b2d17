import { enableCompileCache, findPackageJSON, type ResolveFnOutput, registerHooks } from "node:module"
import { join } from "node:path"

/** The packages whose relative imports have file extensions, like those of this repository. */
const EXACT = /\/(?:effect|@effect\/[\w-]+)\/dist\//

/**
 * Loads this process's modules with less CPU time, because loading takes nearly all the time of a short command. Compiled code is cached in this
 * package's `node_modules`, and relative imports are resolved without file system calls.
 */
const loadModulesFast = (): void => {
  enableCompileCache(join(findPackageJSON(import.meta.url)!, "../node_modules/.cache/node"))
  const found = new Map<string, ResolveFnOutput>()
  registerHooks({
    resolve: (specifier, context, next) => {
      const { parentURL = "" } = context
      const format = formatOf(specifier, parentURL)
      if (format !== undefined) return { url: new URL(specifier, parentURL).href, format, shortCircuit: true }
      if (specifier.startsWith(".")) return next(specifier, context)
      const key = `${specifier} ${parentURL.slice(0, parentURL.search(/\/(?:src|dist)\//))}`
      const known = found.get(key) ?? { ...next(specifier, context), shortCircuit: true }
      found.set(key, known)
      return known
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
