import { execFileSync } from "node:child_process"
import { join } from "node:path"

/** The root of the repository. */
export const root: string = join(import.meta.dirname, "../..")

/** Runs a command in the repository's root and returns its output. Its errors go to standard error. */
export const run = (command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): string =>
  execFileSync(command, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 26,
  }).trim()

/** Runs a command as root, with `sudo` if necessary. */
export const runAsRoot = (command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): string =>
  process.getuid?.() === 0
    ? run(command, args, env)
    : run("sudo", [...Object.entries(env).map(([name, value]) => `${name}=${value}`), command, ...args])
