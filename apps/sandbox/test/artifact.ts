import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { eventually } from "@outreach/testing/eventually"
import { onTestFinished } from "vitest"

/** The root of this repository. */
export const REPOSITORY = resolve(import.meta.dirname, "../../..")

const run = promisify(execFile)

/** Builds the artifact of a checkout, of this one by default, into `<folder>/out`. */
export const buildArtifact = async (folder: string, checkout = REPOSITORY): Promise<void> => {
  await run("pnpm", ["package", "--out-dir", join(folder, "out")], { cwd: checkout })
}

/** Another user than this process's, and a Node that the user may run. */
export interface OtherUser {
  readonly node: string
  readonly uid: number
  readonly gid: number
}

/**
 * Runs the artifact in `<folder>/out`, as another user if one is given, with the settings that `settings` returns at that time.
 *
 * `atEnd` registers what ends a process. Default: it ends with the test. A command that takes longer than `commandMs` is killed.
 */
export const artifactIn = (
  folder: string,
  settings: () => Readonly<Record<string, string>>,
  {
    node = process.execPath,
    atEnd = onTestFinished,
    commandMs = 0,
    ...user
  }: Partial<OtherUser> & {
    readonly atEnd?: (end: () => Promise<void>) => void
    /** Default: no limit. */
    readonly commandMs?: number
  } = {},
) => {
  const ops = async (...args: ReadonlyArray<string>): Promise<string> =>
    (
      await run(node, ["out/ops.js", ...args], {
        ...{ cwd: folder, env: settings(), ...user },
        ...{ timeout: commandMs, killSignal: "SIGKILL" },
      })
    ).stdout

  return {
    /** Runs the command line, and returns what it prints. */
    ops,
    opsJson: async (...args: ReadonlyArray<string>) => JSON.parse(await ops(...args, "--output", "json")),

    /** Starts a process, and waits for its log line with this message. */
    start: async (
      name: "api" | "worker" | "console",
      message: string,
      others: Readonly<Record<string, string>> = {},
    ) => {
      const child = spawn(node, ["--enable-source-maps", `out/${name}.js`], {
        cwd: folder,
        env: { ADMIN_PORT: "0", ...settings(), ...others },
        ...user,
        stdio: ["ignore", "pipe", "pipe"],
      })
      const ended = once(child, "exit")
      const kill = () => child.kill("SIGKILL")
      process.once("exit", kill)
      atEnd(async () => {
        process.off("exit", kill)
        kill()
        await ended
      })
      let output = ""
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk) => {
          output += chunk
        })
      }
      const lineOf = (wanted: string) =>
        output
          .split("\n")
          .slice(0, -1)
          .filter((line) => line.startsWith("{"))
          .map((line) => JSON.parse(line))
          .find((line) => line.message === wanted)
      /** Waits for the log line with this message, and returns its annotations. */
      const waitFor = async (wanted: string) => {
        await eventually(
          () => lineOf(wanted) !== undefined || child.exitCode !== null,
          (over) => over,
        )
        const line = lineOf(wanted)
        if (line === undefined) throw new Error(`${name} ended:\n${output}`)
        return line.annotations
      }
      return {
        annotations: await waitFor(message),
        waitFor,
        /** Kills the process, and waits until it has ended. */
        kill: async (): Promise<void> => {
          kill()
          await ended
        },
        /** Stops the process, and returns its exit code. */
        stop: async (): Promise<number | null> => {
          child.kill("SIGTERM")
          return (await ended)[0]
        },
      }
    },
  }
}
