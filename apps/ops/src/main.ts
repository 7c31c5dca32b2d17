import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { ops } from "./ops.ts"

ops(process.argv.slice(2)).pipe(
  Effect.tap((code) =>
    Effect.sync(() => {
      process.exitCode = code
    }),
  ),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain,
)
