import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { ops } from "./ops.ts"

/** Runs the command line of this process, and sets its exit code. */
export const runOps = (): void =>
  ops(process.argv.slice(2)).pipe(
    Effect.tap((code) =>
      Effect.sync(() => {
        process.exitCode = code
      }),
    ),
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain,
  )
