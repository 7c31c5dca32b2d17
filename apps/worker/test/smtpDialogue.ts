import { once } from "node:events"
import { createConnection } from "node:net"
import { createInterface } from "node:readline"
import { onTestFinished } from "vitest"

/** Sends one command after each reply, and after the reply to DATA a body in pieces. Resolves to the replies when the connection ends. */
export const smtpDialogue = async (
  port: number,
  commands: ReadonlyArray<string>,
  body: Iterable<string | Uint8Array> = [],
): Promise<ReadonlyArray<string>> => {
  const socket = createConnection(port, "127.0.0.1")
  // The server may close the connection while the body is being written.
  socket.on("error", () => {})
  onTestFinished(() => void socket.destroy())
  const closed = once(socket, "close")
  const replies: string[] = []
  const next = commands.values()
  createInterface({ input: socket }).on("line", (reply) => {
    replies.push(reply)
    if (reply.startsWith("354 ")) void write()
    else if (/^\d{3} /.test(reply)) {
      const command = next.next()
      if (!command.done) socket.write(`${command.value}\r\n`)
    }
  })
  const write = async () => {
    for (const piece of body) {
      if (!socket.writable) return
      if (!socket.write(piece)) await Promise.race([once(socket, "drain"), closed])
    }
  }
  await closed
  return replies
}
