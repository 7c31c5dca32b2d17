import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

// A mail server that accepts and counts every message. Its parent process requests the count.

let count = 0
const server = new SMTPServer({
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  onData: (stream, _, done) => {
    stream.on("data", () => {})
    stream.on("end", () => {
      count += 1
      done()
    })
  },
})
server.on("error", () => {})
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.server.address() as AddressInfo).port }))
process.on("message", () => process.send!({ count }))
process.on("disconnect", () => process.exit())
