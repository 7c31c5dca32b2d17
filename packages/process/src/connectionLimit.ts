import type { IncomingMessage, Server } from "node:http"
import { networkOf } from "@outreach/domain/networkOf"
import { clientAddress, type TrustProxy } from "./trustProxy.ts"

/** Creates the function that counts an open item of a client address. It returns a function that releases the item; undefined above `limit`. */
export const addressCounts = (limit: number) => {
  const counts = new Map<string, number>()
  return (address: string): (() => void) | undefined => {
    const network = networkOf(address)
    const count = counts.get(network) ?? 0
    if (count >= limit) return undefined
    counts.set(network, count + 1)
    return () => {
      const left = counts.get(network)! - 1
      if (left === 0) counts.delete(network)
      else counts.set(network, left)
    }
  }
}

/** Limits the connections and forwarded requests per address, so that one client can't block the others. */
export const connectionLimit = (perAddress: number, trusts: TrustProxy = () => false) => {
  const openConnection = addressCounts(perAddress)
  const openRequest = addressCounts(perAddress)
  const exceeding = new WeakSet<object>()
  const isProxied = ({ socket }: IncomingMessage) => trusts(socket.remoteAddress ?? "", 0)
  return {
    /**
     * Closes connections above an address's limit immediately. Connections of trusted proxies aren't counted; instead, each client behind
     * them has a limit of concurrent requests. Calls `refused` for each rejected connection and request.
     */
    watch: (server: Server, refused = () => {}): void => {
      server.on("connection", (socket) => {
        const address = socket.remoteAddress ?? ""
        if (trusts(address, 0)) return
        const close = openConnection(address)
        if (close !== undefined) return void socket.once("close", close)
        socket.destroy()
        refused()
      })
      server.on("request", (request, response) => {
        if (!isProxied(request)) return
        const end = openRequest(clientAddress(request, trusts))
        if (end !== undefined) return void response.once("close", end)
        exceeding.add(request)
        refused()
      })
    },
    /** Returns whether the client of a forwarded request exceeded its limit when the request arrived. */
    isExceededBy: (request: object): boolean => exceeding.has(request),
  }
}

export type ConnectionLimit = ReturnType<typeof connectionLimit>
