import { createServer, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { listen } from "@outreach/testing/listen"

/** Starts a server that passes each line of a client to `serve`, starting with `connected`. */
export const lineServer = async (serve: (line: string, socket: Socket) => void) => {
  const lines: string[] = []
  const port = await listen(
    createServer((socket) => {
      const hear = (line: string) => {
        lines.push(line)
        serve(line, socket)
      }
      hear("connected")
      createInterface(socket).on("line", hear)
    }),
  )
  return { port, lines }
}
