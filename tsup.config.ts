import { readFileSync, writeFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { defineConfig, type Options } from "tsup"

/** The options of every published package. */
export const published: Options = {
  format: ["esm", "cjs"],
  target: "node18",
  sourcemap: true,
  // By default tsup imports `crypto`, which is a package of that name to some bundlers; Deno and Workers know `node:crypto` alone.
  removeNodeProtocol: false,
  plugins: [
    {
      name: "no paths of this machine in source maps",
      // The conversion of shared chunks to CommonJS names the file that it converts by its whole path.
      buildEnd({ writtenFiles }) {
        for (const { name } of writtenFiles.filter(({ name }) => name.endsWith(".map"))) {
          const map = readFileSync(name, "utf8")
          writeFileSync(name, map.replaceAll(`${resolve(dirname(name))}/`, ""))
        }
      },
    },
  ],
}

// For the packages without a configuration of their own.
export default defineConfig(published)
