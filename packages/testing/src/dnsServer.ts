import { createSocket } from "node:dgram"
import { once } from "node:events"
import { type Answer, decode, encode, RECURSION_AVAILABLE } from "dns-packet"
import { onTestFinished } from "vitest"

/** Starts a name server on this machine for the time of a test. It knows these records and no other names. Returns its address and port. */
export const dnsServer = async (records: ReadonlyArray<Answer>): Promise<string> => {
  const socket = createSocket("udp4")
  const names = new Set(records.map(({ name }) => name))
  socket.on("message", (bytes, { address, port }) => {
    const { id, questions = [] } = decode(bytes)
    const answers = records.filter((record) =>
      questions.some(({ name, type }) => record.name === name.toLowerCase() && record.type === type),
    )
    // 3: there is no such name.
    const code = questions.every(({ name }) => names.has(name.toLowerCase())) ? 0 : 3
    const flags = RECURSION_AVAILABLE | code
    socket.send(encode({ type: "response", ...(id !== undefined && { id }), flags, questions, answers }), port, address)
  })
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  onTestFinished(() => void socket.close())
  return `127.0.0.1:${socket.address().port}`
}
