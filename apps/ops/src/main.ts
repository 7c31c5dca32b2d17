import { type ResolveFnOutput, registerHooks } from "node:module"

/** Packages with file extensions in their relative imports, like those of this repository. */
const EXACT = /\/(?:effect|@effect\/[\w-]+)\/dist\//

/**
 * Resolves relative imports without file system calls, because loading modules takes nearly all the time of a short command. It writes no compile
 * cache: on a deployed host, root would write it next to the installed files. In a clone, `run.js` has one.
 */
const loadModulesFast = (): void => {
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
