import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"
// @boundaries-ignore All published packages share these options.
import { published } from "../../tsup.config.ts"

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }

export default defineConfig({
  ...published,
  entry: ["src/index.ts", "src/checkpoints.ts", "src/fileCheckpointStore.ts"],
  define: { CLIENT_VERSION: JSON.stringify(version) },
  // Copies what is used of the contract in, so that nobody has to install zod for it.
  dts: { resolve: ["@outreach/contract/types", "@outreach/contract/catalogs"] },
  clean: true,
})
