import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"
import { transformSync } from "esbuild"

// Node.js strips types, but compiles no JSX. Imported with `--import` when the console runs from its sources; the artifact is compiled.
registerHooks({
  load: (url, context, next) => {
    if (!url.endsWith(".tsx")) return next(url, context)
    const { code } = transformSync(readFileSync(fileURLToPath(url), "utf8"), {
      loader: "tsx",
      jsx: "automatic",
      jsxImportSource: "preact",
      target: "node22",
      sourcefile: url,
      sourcemap: "inline",
    })
    return { format: "module", source: code, shortCircuit: true }
  },
})
