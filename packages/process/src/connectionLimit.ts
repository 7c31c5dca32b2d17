import type { IncomingMessage, Server } from "node:http"
import { networkOf } from "./addressLimit.ts"
import { clientAddress, type TrustProxy } from "./trustProxy.ts"

/** Counts what each client address has open at once. */
export interface AddressCounts {
  /** Counts one more for an address, and returns what ends it; undefined where the address has as many as it may. */
  readonly open: (address: string) => (() => void) | undefined
}

/** Creates counts of at most `limit` for an address. */
export const addressCounts = (limit: number): AddressCounts => {
  const counts = new Map<string, number>()
  return {
    open: (address) => {
      const network = networkOf(address)
      const count = counts.get(network) ?? 0
      if (count >= limit) return undefined
      counts.set(network, count + 1)
      return () => {
        const left = counts.get(network)! - 1
        if (left === 0) counts.delete(network)
        else counts.set(network, left)
      }
    },
  }
}

/** Bounds what one client has open, so that it cannot shut the others out. */
export interface ConnectionLimit {
  /**
   * Closes at once a connection of an address that has as many as it may. The connections of a trusted proxy are not counted: each client
   * behind it has as many requests under way. Calls `refused` for each connection and request that is too much.
   */
  readonly watch: (server: Server, refused?: () => void) => void
  /** Reports whether the client of a forwarded request had too many under way when it came. */
  readonly isExceededBy: (request: object) => boolean
}

/** Creates a limit of the connections, and forwarded requests under way, of each address. */
export const connectionLimit = (perAddress: number, trusts: TrustProxy = () => false): ConnectionLimit => {
  const connections = addressCounts(perAddress)
  const requests = addressCounts(perAddress)
  const exceeding = new WeakSet<object>()
  const isProxied = ({ socket }: IncomingMessage) => trusts(socket.remoteAddress ?? "", 0)
  return {
    watch: (server, refused = () => {}) => {
      server.on("connection", (socket) => {
        const address = socket.remoteAddress ?? ""
        if (trusts(address, 0)) return
        const close = connections.open(address)
        if (close !== undefined) return void socket.once("close", close)
        socket.destroy()
        refused()
      })
      server.on("request", (request, response) => {
        if (!isProxied(request)) return
        const end = requests.open(clientAddress(request, trusts))
        if (end !== undefined) return void response.once("close", end)
        exceeding.add(request)
        refused()
      })
    },
    isExceededBy: (request) => exceeding.has(request),
  }
}
