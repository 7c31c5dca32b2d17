/** The setting of processes that tests start by which they share the compiled modules of the run; see `vitest.config.ts`. */
export const compileCache = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
