import { connect, createServer, type Socket } from "node:net"
import { onTestFinished } from "vitest"
import { listen } from "./listen.ts"
import { loopbackAddress } from "./loopbackAddress.ts"
import type { AtEnd } from "./startProcess.ts"

/**
 * Starts a TCP proxy on this machine that fails as networks do, in front of a primary or between a standby and its primary. It ends
 * with the test, or when `atEnd` calls back.
 *
 * A mute connection stays open at both ends and loses every byte, also the other side's end. The kernel still
 * acknowledges TCP keep-alive, so only a process's own time limits and heartbeats notice.
 */
export const tcpProxy = async (target: number, atEnd: AtEnd = onTestFinished) => {
  let to = target
  let state: "open" | "mute" | "cut" = "open"
  /** The clients of open connections with the other end of each. */
  const forwarded = new Map<Socket, Socket>()
  const muted = new Set<Socket>()

  const mute = (socket: Socket) => muted.add(socket.unpipe().resume())
  const muteOpen = () => {
    for (const socket of [...forwarded].flat()) mute(socket)
    forwarded.clear()
  }
  const resetOpen = () => {
    const sockets = [...[...forwarded].flat(), ...muted]
    forwarded.clear()
    muted.clear()
    for (const socket of sockets) socket.resetAndDestroy()
  }

  // If one side ends a mute connection, the other side must not notice.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on("error", () => {})
    if (state === "cut") client.resetAndDestroy()
    if (state === "mute") mute(client)
    if (state !== "open") return
    const upstream = connect({ host: "127.0.0.1", port: to, noDelay: true, allowHalfOpen: true })
    forwarded.set(client, upstream)
    client.pipe(upstream).pipe(client)
    client.on("close", () => forwarded.delete(client) && upstream.destroy())
    upstream.on("error", () => forwarded.has(client) && client.resetAndDestroy())
    upstream.on("close", () => forwarded.delete(client) && client.destroySoon())
  })
  atEnd(async () => resetOpen())
  const host = loopbackAddress()
  const port = await listen(server, atEnd, host)
  return {
    /** Its host and port. */
    address: `${host}:${port}`,
    /** Returns the URL of the target with the proxy's address instead. */
    through: (url: string): string => Object.assign(new URL(url), { host: `${host}:${port}` }).href,
    /** Forwards new connections to another port, as a moved virtual IP does. Open connections go mute or are reset. */
    moveTo: (next: number, open: "mute" | "reset"): void => {
      to = next
      state = "open"
      if (open === "mute") muteOpen()
      else resetOpen()
    },
    /** Mutes open connections permanently, and accepts new ones without a reply. */
    mute: (): void => {
      state = "mute"
      muteOpen()
    },
    /** Resets open connections, and every new one at once. */
    cut: (): void => {
      state = "cut"
      resetOpen()
    },
    /** Forwards new connections again. */
    heal: (): void => {
      state = "open"
    },
    connections: () => forwarded.size,
  }
}
