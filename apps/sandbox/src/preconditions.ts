import { mkdir } from "node:fs/promises"
import { createServer } from "node:net"
import { DirectoryInUse, lockDirectory as lock } from "@outreach/embedded-postgres/lockDirectory"
import { whyNoPostgres } from "@outreach/embedded-postgres/whyNoPostgres"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"
import { close, listen, portOf } from "./serveHttp.ts"

/** Fails if there is no PostgreSQL for this machine and no `DATABASE_URL`. */
export const checkMachine = Effect.suspend(() => {
  const message = process.env["DATABASE_URL"] ? undefined : whyNoPostgres()
  return message === undefined ? Effect.void : Effect.fail(new SandboxError({ message }))
})

/** Fails if a port is in use. */
export const checkPort = (host: string, port: number) =>
  openPort(host, port).pipe(
    Effect.mapError(() => portInUse(port, "--port")),
    Effect.flatMap(close),
  )

const CONSOLE_PORT = 8090

/**
 * Reserves the port of the console until `release`, so that no other sandbox takes it. The default is 8090 or a free one.
 */
export const holdConsolePort = Effect.fnUntraced(function* (host: string, asked: number | undefined) {
  const open =
    asked === undefined
      ? Effect.catch(openPort(host, CONSOLE_PORT), () => Effect.orDie(openPort(host, 0)))
      : Effect.mapError(openPort(host, asked), () => portInUse(asked, "--console-port"))
  const probe = yield* Effect.acquireRelease(open, close)
  return { port: portOf(probe), release: close(probe) }
})

const portInUse = (port: number, option: string) =>
  new SandboxError({ message: `Port ${port} is in use; free it, or choose another with ${option}.` })

const openPort = (host: string, port: number) => Effect.suspend(() => listen(createServer(), host, port))

/** Locks a folder for this process until the scope closes. Fails if another running sandbox has locked it; replaces the lock of a dead one. */
export const lockDirectory = Effect.fnUntraced(function* (folder: string) {
  yield* Effect.promise(() => mkdir(folder, { recursive: true }))
  yield* Effect.acquireRelease(
    Effect.promise(() => lock(folder)),
    (unlock) => Effect.promise(unlock),
  ).pipe(
    Effect.catchDefect((error) =>
      error instanceof DirectoryInUse
        ? new SandboxError({
            message: `A sandbox runs on ${folder} already, as process ${error.holder}. Stop it, or give --folder and --port.`,
          })
        : Effect.die(error),
    ),
  )
})
