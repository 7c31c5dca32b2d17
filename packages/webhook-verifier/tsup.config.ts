import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"
// @boundaries-ignore All published packages share these options.
import { published } from "../../tsup.config.ts"

const entry = ["index", "deduplicate", "express", "fastify", "fetch", "hono", "lambda", "node", "schemas"].map(
  (name) => `src/${name}.ts`,
)

// The command includes the client, which sends its version in each request.
const { version } = JSON.parse(readFileSync("../client/package.json", "utf8")) as { version: string }
const define = { CLIENT_VERSION: JSON.stringify(version) }

// Copies the contract's types into the declarations, so that they need no dependency.
const dts = { only: true, compilerOptions: { paths: { "#contract": ["../contract/types.d.ts"] } } }

// Development dependencies are bundled, so that this package has no dependencies; the contract, a peer only of
// `/schemas`, is bundled into the two entries that only need its samples.
export default defineConfig([
  { ...published, entry: [...entry, "src/index.node.ts"], splitting: true },
  { ...published, entry: ["src/testing.ts", "src/testing.node.ts"], noExternal: [/contract/], splitting: false },
  { ...published, entry: ["src/cli.ts"], format: ["esm"], define, noExternal: [/contract/], splitting: false },
  { ...published, entry: [...entry, "src/testing.ts"], dts },
])
