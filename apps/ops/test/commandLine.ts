import { NodeServices } from "@effect/platform-node"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { migratedDatabase, runOnDatabase } from "@outreach/testing/runOnDatabase"
import { asRole } from "@outreach/testing/testRoles"
import { ConfigProvider, Console, Effect, Layer, ManagedRuntime, Option, Queue, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { afterAll, beforeAll, expect } from "vitest"
import { ops } from "../src/ops.ts"
import { client } from "../src/services.ts"
import { Target } from "../src/Target.ts"

const NO_TERMINAL = { canColor: false, canAnimate: false, canPrompt: false }

const configOf = (env: Readonly<Record<string, string>>) =>
  Layer.succeed(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { ...env } }))

/** Runs command lines in this process over the test file's database, and captures their output. */
export const commandLine = () => {
  const url = migratedDatabase()
  let settings: Readonly<Record<string, string>>
  const meanwhile = runOnDatabase({ url })
  let connections: ManagedRuntime.ManagedRuntime<Layer.Success<typeof client>, unknown>
  beforeAll(async () => {
    settings = { DATABASE_URL: asRole(url(), "operator"), SECRETS_KEY: SECRETS_KEY.toString("base64") }
    // Only the connections are shared: each command line reads its own settings.
    connections = ManagedRuntime.make(
      client.pipe(
        Layer.provide(Layer.fresh(Target.layer)),
        Layer.provide(NodeServices.layer),
        Layer.provide(configOf(settings)),
      ),
    )
    await connections.context()
  })
  afterAll(() => connections.dispose())

  /** Runs a command line. With `key`, runs it on a terminal where the user presses that key. */
  const run = async (args: ReadonlyArray<string>, changes: Readonly<Record<string, string>> = {}, key?: string) => {
    const output = { stdout: "", stderr: "" }
    const console = {
      ...globalThis.console,
      log: (text: string) => {
        output.stdout += `${text}\n`
      },
      error: (text: string) => {
        output.stderr += `${text}\n`
      },
    } as Console.Console
    const isElsewhere = Object.keys(changes).some((name) => name.startsWith("DATABASE_"))
    const code = await Effect.runPromise(
      ops(args).pipe(
        (effect) =>
          key === undefined ? effect : Effect.provideServiceEffect(effect, Terminal.Terminal, pressing(key)),
        Effect.provideService(Layer.CurrentMemoMap, isElsewhere ? Layer.makeMemoMapUnsafe() : connections.memoMap),
        Effect.provide(NodeServices.layer),
        Effect.provideService(Console.Console, console),
        // Independent of the terminal that the tests run in.
        Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
          ...NO_TERMINAL,
          canPrompt: key !== undefined,
        }),
        Effect.provide(configOf({ ...settings, ...changes })),
      ),
    )
    return { code, ...output }
  }

  return {
    url,
    run,
    /** Runs a command line with `--output json` that succeeds, and returns its JSON value. */
    runJson: async (...args: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await run([...args, "--output", "json"])
      expect({ code, stderr, stdout: code === 0 ? "" : stdout }).toEqual({ code: 0, stderr: "", stdout: "" })
      return JSON.parse(stdout)
    },
    /** Runs a command line with `--output json` that fails, and returns its error and exit code. */
    runFailing: async (...args: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await run([...args, "--output", "json"])
      expect({ failed: code > 0, stderr }).toEqual({ failed: true, stderr: "" })
      return { ...JSON.parse(stdout).error, exit: code }
    },
    /** Runs an effect on the database, as another process would. */
    meanwhile,
  }
}

/** Creates a terminal on which the user presses a key. It displays nothing. */
const pressing = (name: string) =>
  Effect.map(Queue.unbounded<Terminal.UserInput>(), (keys) => {
    Queue.offerUnsafe(keys, { input: Option.some(name), key: { name, ctrl: false, meta: false, shift: false } })
    return Terminal.make({
      columns: Effect.succeed(80),
      rows: Effect.succeed(24),
      size: Effect.never,
      readInput: Effect.succeed(keys),
      readLine: Effect.never,
      display: () => Effect.void,
    })
  })
