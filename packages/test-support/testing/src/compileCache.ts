/** The setting by which the processes of tests share the compiled modules of the run (`vitest.config.ts`). */
export const compileCache = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
