import { randomInt } from "node:crypto"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:net"

/** Below the ports that systems give to connections and to listeners that name none: from 32,768 on, or from 49,152. */
const [FIRST, END] = [15_000, 30_000]

/**
 * Reserves a TCP port of this machine on which nothing listens: for servers that must know their port beforehand. The reservation ends with this
 * process, or when `atEnd` calls back.
 *
 * The system gives it to nobody who does not name it. An open UDP socket of the same number keeps it from all who reserve a port by this function,
 * also in other processes.
 */
export async function reservePort(atEnd: (end: () => void) => void = () => {}): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END)
    const reservation = createSocket("udp4").unref()
    if (!(await succeeds(reservation, () => reservation.bind({ port, address: "127.0.0.1", exclusive: true }))))
      continue
    const server = createServer()
    if (await succeeds(server, () => server.listen(port, "127.0.0.1"))) {
      server.close()
      await once(server, "close")
      atEnd(() => reservation.close())
      return port
    }
    reservation.close()
  }
}

/** Returns whether a socket listens after `bind`: false if somebody else has the port. */
async function succeeds(socket: NodeJS.EventEmitter, bind: () => unknown): Promise<boolean> {
  bind()
  return await once(socket, "listening").then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") return false
      throw error
    },
  )
}
