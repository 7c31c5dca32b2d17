import { createServer, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { listen } from "@outreach/testing/listen"
import { Changes } from "@outreach/testing/until"

type Reply = string | null | undefined

/** Starts a server that sends the reply to each line of a client, starting with `connected`; null closes the connection. */
export const lineServer = async (replyTo: (line: string, socket: Socket) => Reply) => {
  const lines: string[] = []
  const changes = new Changes()
  let closed = 0
  const port = await listen(
    createServer((socket) => {
      const hear = (line: string) => {
        lines.push(line)
        changes.announce()
        const reply = replyTo(line, socket)
        if (reply === null) socket.destroy()
        else if (typeof reply === "string") socket.write(`${reply}\r\n`)
      }
      socket.on("close", () => {
        closed += 1
        changes.announce()
      })
      hear("connected")
      createInterface(socket).on("line", hear)
    }),
  )
  return { port, url: `smtp://127.0.0.1:${port}`, lines, changes, closed: () => closed }
}

const WILLING: ReadonlyArray<readonly [RegExp, string]> = [
  [/^connected/, "220 hello"],
  [/^EHLO/, "250-mx.test\r\n250 SIZE"],
  [/^DATA/, "354 go on"],
  [/^(MAIL|RCPT|\.$)/, "250 fine"],
]
/** Accepts every command, and doesn't reply to the lines of a message. */
export const willingReply = (line: string) => WILLING.find(([pattern]) => pattern.test(line))?.[1]

/** Replies like `willingReply`, except to these commands. */
export const willingExcept = (others: Readonly<Record<string, Reply>>) => (line: string) => {
  const command = line.split(" ", 1)[0]!
  return Object.hasOwn(others, command) ? others[command] : willingReply(line)
}
