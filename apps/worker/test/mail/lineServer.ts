import { createServer, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { listen } from "@outreach/testing/listen"
import { Changes } from "@outreach/testing/until"

/** Starts a server that passes each line of a client to `serve`, starting with `connected`. */
export const lineServer = async (serve: (line: string, socket: Socket) => void) => {
  const lines: string[] = []
  const changes = new Changes()
  let closed = 0
  const port = await listen(
    createServer((socket) => {
      const hear = (line: string) => {
        lines.push(line)
        changes.announce()
        serve(line, socket)
      }
      socket.on("close", () => {
        closed += 1
        changes.announce()
      })
      hear("connected")
      createInterface(socket).on("line", hear)
    }),
  )
  return { port, lines, changes, closed: () => closed }
}
