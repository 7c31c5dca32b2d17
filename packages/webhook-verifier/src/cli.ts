#!/usr/bin/env node
import { readFileSync } from "node:fs"
import { runCli } from "./runCli.ts"

runCli(process.argv.slice(2), { env: process.env, readInput: () => readFileSync(0), print: console.log }).then(
  (code) => {
    process.exitCode = code
  },
  (error: Error) => {
    console.error(`webhook-verifier: ${error.message} (--help tells more)`)
    process.exitCode = 2
  },
)
