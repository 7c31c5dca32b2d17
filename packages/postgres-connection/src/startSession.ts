import type { Socket } from "node:net"
import { endOfMessage, notPostgres, readField } from "./MessageScanner.ts"
import { SocketError } from "./SocketError.ts"

/** Maximum size of a session's start. */
const MAX_STARTUP_BYTES = 1_048_576

/** A server's rejection of a session, with its message. */
export class Refused extends Error {
  readonly code: string
  readonly bytes: Buffer
  constructor(code: string, bytes: Buffer) {
    super("The server refused the session")
    this.code = code
    this.bytes = bytes
  }
}

export interface StartedSession {
  /** Everything that the server sent, except authentication messages. */
  readonly bytes: Buffer
  /** Process id and secret of the session, as in a CancelRequest. */
  readonly key: Buffer | undefined
  readonly parameters: Map<string, string>
}

export const readParameter = (body: Buffer, parameters: Map<string, string>): void => {
  const [name, value] = body.toString("utf8").split("\0")
  parameters.set(name!, value ?? "")
}

/**
 * Sends a session's first message to a server, and reads until the server is ready for statements. Authentication requests are passed
 * to `authenticate`, and its replies to the socket. `opened` is called before any further data is read.
 *
 * Rejects with `Refused` if the server rejects the session, and with `SocketError` if it closes or sends invalid data.
 */
export const startSession = async (
  socket: Socket,
  first: Buffer,
  authenticate: (message: Buffer) => void,
  opened: (session: StartedSession) => void,
): Promise<void> =>
  await new Promise((resolve, reject) => {
    const held: Array<Buffer> = []
    const parameters = new Map<string, string>()
    let pending: Buffer = Buffer.alloc(0)
    let received = 0
    let key: Buffer | undefined
    const end = (settle: () => void) => {
      socket.off("data", onData).off("error", reject).off("close", onClose)
      settle()
    }
    /** Parses a message. Returns whether it is the last of the start. */
    const read = (message: Buffer): boolean => {
      const body = message.subarray(5)
      const kind = String.fromCharCode(message[0]!)
      if (kind === "E") throw new Refused(readField(body, "C") ?? "", message)
      if ((kind === "R" && body.length < 4) || (kind === "K" && body.length < 8)) throw notPostgres()
      // The driver authenticates at each server, and receives one success.
      if (kind === "R" && body.readUInt32BE(0) !== 0) {
        authenticate(message)
        return false
      }
      held.push(message)
      if (kind === "S") readParameter(body, parameters)
      if (kind === "K") key = Buffer.from(body)
      return kind === "Z"
    }
    const onData = (chunk: Buffer) => {
      try {
        received += chunk.length
        if (received > MAX_STARTUP_BYTES) throw notPostgres()
        pending = Buffer.concat([pending, chunk])
        while (pending.length >= 5) {
          const messageEnd = endOfMessage(pending, 0)
          if (messageEnd > pending.length) return
          const message = pending.subarray(0, messageEnd)
          pending = pending.subarray(messageEnd)
          if (!read(message)) continue
          end(() => opened({ bytes: Buffer.concat([...held, pending]), key, parameters }))
          return resolve()
        }
      } catch (error) {
        end(() => reject(error))
      }
    }
    const onClose = () => reject(new SocketError("ECONNRESET", "The connection was closed"))
    socket.on("data", onData).on("error", reject).on("close", onClose)
    socket.write(first)
  })
