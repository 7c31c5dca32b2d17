import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"
import { transform } from "sucrase"

// Node.js strips types but compiles no JSX. Imported with `--import` to run the console from its sources; the artifact is compiled.
registerHooks({
  load: (url, context, next) => {
    if (!url.endsWith(".tsx")) return next(url, context)
    // Lines keep their numbers, so stack traces need no source map.
    const { code } = transform(readFileSync(fileURLToPath(url), "utf8"), {
      transforms: ["typescript", "jsx"],
      jsxRuntime: "automatic",
      jsxImportSource: "preact",
      production: true,
      disableESTransforms: true,
    })
    return { format: "module", source: code, shortCircuit: true }
  },
})
