import { NodeServices } from "@effect/platform-node"
import { adaptersFor, SECRETS_KEY } from "@outreach/postgres/test/adaptersFor"
import { migratedDatabase } from "@outreach/postgres/test/migratedDatabase"
import { ConfigProvider, Console, Effect, type Layer, Option, Queue, References, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { expect } from "vitest"
import { ops } from "../src/ops.ts"

const NO_TERMINAL = { canColor: false, canAnimate: false, canPrompt: false }

type Ports = Layer.Success<ReturnType<typeof adaptersFor>>

/** A command line over a database of the test file's own, run in this process with its output kept. */
export const commandLine = () => {
  const url = migratedDatabase()

  /** Runs a command line as a process would; with `typed` on a terminal, where somebody presses that key. */
  const run = async (args: ReadonlyArray<string>, settings: Record<string, string> = {}, typed?: string) => {
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
    const env = { DATABASE_URL: url(), SECRETS_KEY: SECRETS_KEY.toString("base64"), ...settings }
    const code = await Effect.runPromise(
      ops(args).pipe(
        (effect) =>
          typed === undefined ? effect : Effect.provideServiceEffect(effect, Terminal.Terminal, typing(typed)),
        Effect.provide(NodeServices.layer),
        Effect.provideService(Console.Console, console),
        // Whatever the tests themselves run in.
        Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
          ...NO_TERMINAL,
          canPrompt: typed !== undefined,
        }),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
      ),
    )
    return { code, ...output }
  }

  return {
    url,
    run,
    /** Runs a command line with `--json` that succeeds, and reads its one value. */
    answer: async (...args: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await run([...args, "--json"])
      expect({ code, stderr, stdout: code === 0 ? "" : stdout }).toEqual({ code: 0, stderr: "", stdout: "" })
      return JSON.parse(stdout)
    },
    /** Runs a command line with `--json` that fails, and reads its error. */
    refusal: async (...args: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await run([...args, "--json"])
      expect({ failed: code > 0, stderr }).toEqual({ failed: true, stderr: "" })
      return { ...JSON.parse(stdout).error, exit: code }
    },
    /** Does to the database what another process would. */
    meanwhile: <A, E>(effect: Effect.Effect<A, E, Ports>): Promise<A> =>
      Effect.runPromise(
        effect.pipe(Effect.provide(adaptersFor(url())), Effect.provideService(References.MinimumLogLevel, "None")),
      ),
  }
}

/** A terminal on which a key is pressed, and which shows nothing. */
const typing = (name: string) =>
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
