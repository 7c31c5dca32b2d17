import { gzipSync } from "node:zlib"
import { build } from "esbuild"

/** Bundles a module with all its imports, and returns its size minified and gzipped. Node's modules are external. */
export async function bundleBytes(code: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    write: false,
    logLevel: "silent",
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}
