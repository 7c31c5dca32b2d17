import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A Redis server of a test. */
export interface RedisServer {
  readonly socket: string
  /** Starts it, and waits until it listens. */
  start(): Promise<void>
  /** Ends it as a crash does; its keys are lost. */
  kill(): Promise<void>
  /** Ends it, and removes its folder. */
  remove(): Promise<void>
}

/** Returns a Redis server on a socket of its own, which `start` starts. */
export function redisServer(program: string, options: readonly string[] = []): RedisServer {
  const folder = mkdtempSync(join(tmpdir(), "outreach-redis-"))
  const socket = join(folder, "redis.sock")
  let end = async () => {}
  return {
    socket,
    async start() {
      const args = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder, ...options]
      const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] })
      const ended = once(server, "exit")
      end = async () => {
        server.kill("SIGKILL")
        await ended
      }
      let output = ""
      for await (const text of server.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
        output += text
        if (/ready to accept connections/i.test(output)) break
      }
      server.stdout.resume()
    },
    kill: () => end(),
    async remove() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
