import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { addOperator, createSignInLink, signIn } from "@outreach/domain/operators/Operators"
import { adaptersFor, SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { Effect, Redacted } from "effect"

/** A console in a separate process, and a session of an admin. */
export interface RunningConsole {
  readonly url: string
  readonly cookie: string
  readonly stop: () => Promise<void>
}

/** Starts the console from its sources, like the sandbox. */
export async function startConsole(databaseUrl: string): Promise<RunningConsole> {
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--import",
      import.meta.resolve("@outreach/console/compileJsx"),
      fileURLToPath(import.meta.resolve("@outreach/console/main")),
    ],
    {
      env: {
        NODE_ENV: "production",
        DATABASE_URL: databaseUrl,
        SECRETS_KEY: SECRETS_KEY.toString("base64"),
        CURSOR_KEY: SECRETS_KEY.toString("base64"),
        PORT: "0",
        ADMIN_PORT: "0",
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  )
  const exited = once(child, "exit")
  process.once("exit", () => child.kill("SIGKILL"))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout })
      .on("line", (line) => {
        const { message, annotations } = JSON.parse(line)
        if (message === "listening") resolve(annotations.url)
        else if (message !== "admin port open") process.stderr.write(`${line}\n`)
      })
      .on("close", () => reject(new Error("the console exited before it listened")))
  })
  const session = await Effect.runPromise(Effect.provide(openSession, adaptersFor(databaseUrl)))
  return {
    url,
    cookie: `session=${session}`,
    stop: async () => {
      child.kill("SIGTERM")
      await exited
    },
  }
}

const openSession = Effect.gen(function* () {
  const { id } = yield* addOperator({ name: `Benchmark ${Date.now()}`, role: "admin", organizationId: null })
  const { token } = yield* createSignInLink(id, { seconds: 3600, once: true })
  const session = yield* signIn({ linkToken: Redacted.value(token) })
  return Redacted.value(session!.token)
})
