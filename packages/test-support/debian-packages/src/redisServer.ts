import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface RedisServer {
  readonly socket: string
  /** Starts it, and waits until it listens. */
  start(): Promise<void>
  /** Sends it a signal; after one that ends it, waits for the end. */
  signal(signal: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>
  /** Ends it, and removes its folder. */
  remove(): Promise<void>
}

/** Returns a Redis server that `start` starts. `options` are further ones of its command line, such as `--appendonly yes`. */
export function redisServer(program: string, options: readonly string[] = []): RedisServer {
  const folder = mkdtempSync(join(tmpdir(), "outreach-redis-"))
  const socket = join(folder, "redis.sock")
  let server: ChildProcess | undefined
  const signal: RedisServer["signal"] = async (name) => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, "exit")
    server.kill(name)
    if (name === "SIGTERM" || name === "SIGKILL") await ended
  }
  return {
    socket,
    async start() {
      const args = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder, ...options]
      server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] })
      let output = ""
      for await (const text of server.stdout!.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
        output += text
        if (/ready to accept connections/i.test(output)) break
      }
      server.stdout!.resume()
    },
    signal,
    async remove() {
      await signal("SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
