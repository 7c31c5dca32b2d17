import { NodeServices } from "@effect/platform-node"
import { backoffice } from "@outreach/backoffice/backoffice"
import { adaptersFor, SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { asRole } from "@outreach/testing/testRoles"
import { ConfigProvider, Console, Effect, Layer, Option, Queue, References, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { expect } from "vitest"
import { ops } from "../src/ops.ts"

const NO_TERMINAL = { canColor: false, canAnimate: false, canPrompt: false }

const servicesFor = (url: string) => Layer.provideMerge(backoffice, adaptersFor(url))
type Services = Layer.Success<ReturnType<typeof servicesFor>>

/** Runs command lines in this process over the test file's database, and captures their output. */
export const commandLine = () => {
  const url = migratedDatabase()

  /** Runs a command line. With `key`, runs it on a terminal where the user presses that key. */
  const run = async (args: ReadonlyArray<string>, settings: Record<string, string> = {}, key?: string) => {
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
    const env = { DATABASE_URL: asRole(url(), "operator"), SECRETS_KEY: SECRETS_KEY.toString("base64"), ...settings }
    const code = await Effect.runPromise(
      ops(args).pipe(
        (effect) =>
          key === undefined ? effect : Effect.provideServiceEffect(effect, Terminal.Terminal, pressing(key)),
        Effect.provide(NodeServices.layer),
        Effect.provideService(Console.Console, console),
        // Independent of the terminal that the tests run in.
        Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
          ...NO_TERMINAL,
          canPrompt: key !== undefined,
        }),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
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
    meanwhile: <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> =>
      Effect.runPromise(
        effect.pipe(Effect.provide(servicesFor(url())), Effect.provideService(References.MinimumLogLevel, "None")),
      ),
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
