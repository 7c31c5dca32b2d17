import { defineConfig } from "tsup"

// `@outreach/signature` is a development dependency, so it is built in, and whoever installs this package installs nothing else.
export default defineConfig([
  {
    entry: ["src/index.ts", "src/index.node.ts"],
    format: ["esm", "cjs"],
    splitting: true,
    clean: true,
    removeNodeProtocol: false,
    target: "node18",
  },
  {
    entry: ["src/index.ts"],
    format: ["esm", "cjs"],
    target: "node18",
    dts: { only: true },
  },
])
