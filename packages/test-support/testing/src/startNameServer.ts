import { createSocket } from "node:dgram"
import { once } from "node:events"
import { type Answer, decode, encode, RECURSION_AVAILABLE } from "dns-packet"
import { onTestFinished } from "vitest"
import type { AtEnd } from "./startProcess.ts"

/** A name server's reply: records, or a failure code of RFC 1035. */
export interface NameServerReply {
  readonly records?: ReadonlyArray<Answer>
  readonly code?: number
}

export const SERVFAIL = 2
export const NXDOMAIN = 3

/** Starts a name server on this machine until the end of the test, or until `atEnd` calls back. It doesn't reply if `replyTo` returns undefined. */
export const startNameServer = async (
  replyTo: (name: string, type: string) => NameServerReply | undefined | Promise<NameServerReply | undefined>,
  atEnd: AtEnd = onTestFinished,
) => {
  const socket = createSocket("udp4")
  const asked: Array<string> = []
  socket.on("message", async (bytes, { address, port }) => {
    const { id, questions = [] } = decode(bytes)
    const [{ name, type }] = questions as [NonNullable<typeof questions>[number]]
    asked.push(`${type} ${name.toLowerCase()}`)
    const reply = await replyTo(name.toLowerCase(), type)
    if (reply === undefined) return
    const { records = [], code = 0 } = reply
    const flags = RECURSION_AVAILABLE | code
    socket.send(encode({ type: "response", id: id!, flags, questions, answers: [...records] }), port, address)
  })
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  atEnd(async () => void socket.close())
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** The received questions, such as `A partner.test`, including repeated ones. */
    asked,
  }
}

/** Starts a name server that knows only these records. Returns its address and port. */
export const dnsServer = async (records: ReadonlyArray<Answer>, atEnd?: AtEnd): Promise<string> => {
  const { address } = await startNameServer((asked, type) => {
    const known = records.filter(({ name }) => name === asked)
    return { records: known.filter((record) => record.type === type), ...(known.length === 0 && { code: NXDOMAIN }) }
  }, atEnd)
  return address
}
