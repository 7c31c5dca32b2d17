import { connect, createServer, type Socket } from "node:net"
import { onTestFinished } from "vitest"
import { listen } from "./listen.ts"
import { loopbackAddress } from "./loopbackAddress.ts"

/**
 * Starts a TCP proxy on this machine that fails as networks do, in front of a primary or between a standby and its primary. It ends
 * with the test, or when `atEnd` calls back.
 *
 * A mute connection stays open at both ends and loses every byte, also the other side's end. The kernel still
 * acknowledges TCP keep-alive, so only a process's own time limits and heartbeats notice.
 */
export const tcpProxy = async (target: number, atEnd: (end: () => Promise<void>) => void = onTestFinished) => {
  let to = target
  let state: "open" | "mute" | "cut" = "open"
  const connections = new Set<Connection>()

  // If one side ends a mute connection, the other side must not notice.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (state === "cut") {
      client.resetAndDestroy()
      return
    }
    const connection: Connection = { client, upstream: undefined, isMute: state === "mute" }
    connections.add(connection)
    client.on("error", () => {})
    if (connection.isMute) {
      client.resume()
      return
    }
    const upstream = connect({ host: "127.0.0.1", port: to, noDelay: true, allowHalfOpen: true })
    connection.upstream = upstream
    forward(client, upstream, () => connection.isMute)
    forward(upstream, client, () => connection.isMute)
    client.on("close", () => {
      if (connection.isMute) return
      upstream.destroy()
      connections.delete(connection)
    })
    upstream.on("error", () => {
      if (!connection.isMute) client.resetAndDestroy()
    })
    upstream.on("close", () => {
      if (connection.isMute) return
      client.destroySoon()
      connections.delete(connection)
    })
  })

  const muteOpen = () => {
    for (const connection of connections) connection.isMute = true
  }
  const resetOpen = () => {
    for (const { client, upstream } of connections) {
      client.resetAndDestroy()
      upstream?.resetAndDestroy()
    }
    connections.clear()
  }
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
    connections: () => [...connections].filter(({ isMute }) => !isMute).length,
  }
}

/** Forwards one side's data and its end, unless they are lost. */
const forward = (from: Socket, to: Socket, isLost: () => boolean): void => {
  from.on("data", (bytes) => {
    if (!isLost()) to.write(bytes)
  })
  from.on("end", () => {
    if (!isLost()) to.end()
  })
}

interface Connection {
  readonly client: Socket
  upstream: Socket | undefined
  isMute: boolean
}
