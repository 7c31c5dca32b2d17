import { COMMANDS } from "./commands.ts"

// The command of the published package: `ops` and its arguments, or the sandbox.
if (process.argv[2] === "ops") {
  process.argv.splice(2, 1)
  process.env["OPS_COMMAND"] ??= COMMANDS.ops
  await import("@outreach/ops/main")
} else await import("./main.ts")
