import type { IncomingMessage, Server } from "node:http"
import { networkOf } from "@outreach/rate-limit"
import { clientAddress, type TrustProxy } from "./trustProxy.ts"

/** Creates counts of what each client address has open at once, of which it may have `limit`. */
export const addressCounts = (limit: number) => {
  const counts = new Map<string, number>()
  return {
    /** Counts one more for an address, and returns what ends it; undefined where the address has as many as it may. */
    open: (address: string): (() => void) | undefined => {
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

/** Creates a limit of the connections, and forwarded requests under way, of each address, so that one client cannot shut the others out. */
export const connectionLimit = (perAddress: number, trusts: TrustProxy = () => false) => {
  const connections = addressCounts(perAddress)
  const requests = addressCounts(perAddress)
  const exceeding = new WeakSet<object>()
  const isProxied = ({ socket }: IncomingMessage) => trusts(socket.remoteAddress ?? "", 0)
  return {
    /**
     * Closes at once a connection of an address that has as many as it may. The connections of a trusted proxy are not counted: each client
     * behind it has as many requests under way. Calls `refused` for each connection and request that is too much.
     */
    watch: (server: Server, refused = () => {}): void => {
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
    /** Reports whether the client of a forwarded request had too many under way when it came. */
    isExceededBy: (request: object): boolean => exceeding.has(request),
  }
}

export type ConnectionLimit = ReturnType<typeof connectionLimit>
