import { connect, createServer, type Socket } from "node:net"
import { onTestFinished } from "vitest"
import { listen } from "./listen.ts"

/**
 * Starts a TCP proxy on this machine that fails as networks do: the address of a primary, or the link of a standby. It ends
 * with the test, or when `atEnd` calls back.
 *
 * A connection that is mute stays open at both ends, and loses every byte, also the end of the other side. The kernel still
 * answers TCP keep-alive, so only a process's own time limits and heartbeats notice.
 */
export const tcpProxy = async (
  target: number,
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<TcpProxy> => {
  let to = target
  let state: "open" | "mute" | "cut" = "open"
  const connections = new Set<Connection>()

  // A side that ends a mute connection must not see the other end it, too.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (state === "cut") {
      client.resetAndDestroy()
      return
    }
    const connection: Connection = { client, upstream: undefined, isMute: state === "mute" }
    connections.add(connection)
    client.setNoDelay(true)
    client.on("data", (bytes) => {
      if (!connection.isMute) connection.upstream?.write(bytes)
    })
    client.on("end", () => {
      if (!connection.isMute) connection.upstream?.end()
    })
    client.on("error", () => {})
    client.on("close", () => {
      if (connection.isMute) return
      connection.upstream?.destroy()
      connections.delete(connection)
    })
    if (connection.isMute) return
    const upstream = connect({ host: "127.0.0.1", port: to, noDelay: true, allowHalfOpen: true })
    connection.upstream = upstream
    upstream.on("data", (bytes) => {
      if (!connection.isMute) client.write(bytes)
    })
    upstream.on("end", () => {
      if (!connection.isMute) client.end()
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
  const port = await listen(server, atEnd)
  return {
    port,
    moveTo: (next, open) => {
      to = next
      state = "open"
      if (open === "mute") muteOpen()
      else resetOpen()
    },
    mute: () => {
      state = "mute"
      muteOpen()
    },
    cut: () => {
      state = "cut"
      resetOpen()
    },
    heal: () => {
      state = "open"
    },
    connections: () => [...connections].filter(({ isMute }) => !isMute).length,
  }
}

interface Connection {
  readonly client: Socket
  upstream: Socket | undefined
  isMute: boolean
}

interface TcpProxy {
  readonly port: number
  /** Forwards new connections to another port, as a moved virtual IP does. Those that are open go mute, or are reset. */
  readonly moveTo: (port: number, open: "mute" | "reset") => void
  /** Lets open connections go mute for good, and accepts new ones without a reply. */
  readonly mute: () => void
  /** Resets open connections, and every new one at once. */
  readonly cut: () => void
  /** Forwards new connections again. */
  readonly heal: () => void
  /** Counts the connections that are forwarded. */
  readonly connections: () => number
}
