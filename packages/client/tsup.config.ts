import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"
// @boundaries-ignore All published packages share these options.
import { published } from "../../tsup.config.ts"

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }

export default defineConfig({
  ...published,
  entry: ["src/index.ts", "src/checkpoints.ts", "src/fileCheckpointStore.ts"],
  define: { CLIENT_VERSION: JSON.stringify(version) },
  // Copies the contract's types into the declarations, so that nobody has to install zod for them.
  dts: { resolve: ["@outreach/contract/types"] },
  clean: true,
})
