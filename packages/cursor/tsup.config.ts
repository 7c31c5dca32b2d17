import { defineConfig } from "tsup"

// By default tsup imports `crypto`, which is a package of that name to some bundlers; Deno and Workers know `node:crypto` alone.
export default defineConfig({ removeNodeProtocol: false })
