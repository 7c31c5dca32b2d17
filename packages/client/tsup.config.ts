import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }

export default defineConfig({
  entry: ["src/index.ts", "src/checkpoints.ts", "src/fileCheckpointStore.ts"],
  format: ["esm", "cjs"],
  define: { CLIENT_VERSION: JSON.stringify(version) },
  removeNodeProtocol: false,
  dts: true,
  target: "node18",
  clean: true,
})
