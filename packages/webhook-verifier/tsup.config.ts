import { readFileSync } from "node:fs"
import { defineConfig, type Options } from "tsup"

const common: Options = { format: ["esm", "cjs"], removeNodeProtocol: false, target: "node18" }
const entry = ["index", "deduplicate", "express", "fastify", "fetch", "hono", "lambda", "node", "schemas"].map(
  (name) => `src/${name}.ts`,
)

// The command holds the client, which names its version in each request.
const { version } = JSON.parse(readFileSync("../client/package.json", "utf8")) as { version: string }
const define = { CLIENT_VERSION: JSON.stringify(version) }

// Copies the contract's types into the declarations, so that nobody has to install it for them.
const dts = { only: true, compilerOptions: { paths: { "#contract": ["../contract/types.d.ts"] } } }

// Development dependencies are built in, so that whoever installs this package installs nothing else; the contract, a peer of
// `/schemas` alone, is built into the two entries that need but its samples.
export default defineConfig([
  { ...common, entry: [...entry, "src/index.node.ts"], splitting: true },
  { ...common, entry: ["src/testing.ts"], noExternal: [/contract/], splitting: false },
  { ...common, entry: ["src/cli.ts"], format: ["esm"], define, noExternal: [/contract/], splitting: false },
  { ...common, entry: [...entry, "src/testing.ts"], dts },
])
