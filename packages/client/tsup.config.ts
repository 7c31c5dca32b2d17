import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }

export default defineConfig({
  entry: ["src/index.ts", "src/checkpoints.ts", "src/fileCheckpointStore.ts"],
  format: ["esm", "cjs"],
  define: { CLIENT_VERSION: JSON.stringify(version) },
  removeNodeProtocol: false,
  // Copies the contract's types into the declarations, so that nobody has to install zod for them.
  dts: { resolve: ["@outreach/contract/types"] },
  target: "node18",
  clean: true,
})
