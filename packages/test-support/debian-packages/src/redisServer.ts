import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Returns a Redis server that `start` starts. `options` are further ones of its command line, such as `--appendonly yes`. */
export function redisServer(program: string, options: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "outreach-redis-"))
  const socket = join(folder, "redis.sock")
  let server: ChildProcess | undefined
  /** Sends it a signal; after one that ends it, waits for the end. */
  const signal = async (name: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, "exit")
    server.kill(name)
    if (name === "SIGTERM" || name === "SIGKILL") await ended
  }
  return {
    socket,
    signal,
    /** Starts it, and waits until it listens. */
    async start(): Promise<void> {
      const args = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder, ...options]
      server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] })
      for await (const line of createInterface({ input: server.stdout! })) {
        if (/ready to accept connections/i.test(line)) break
      }
      server.stdout!.resume()
    },
    /** Ends it, and removes its folder. */
    async remove(): Promise<void> {
      await signal("SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
