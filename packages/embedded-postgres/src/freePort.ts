import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

/** Below the ports that systems give to connections and to listeners that name none: from 32,768 on, or from 49,152. */
const [FIRST, END] = [15_000, 30_000]

/** Returns a port of this machine that is free, and stays so until it is used: the system gives it to nobody who does not name it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END)
    const server = createServer().listen(port, "127.0.0.1")
    const isFree = await once(server, "listening").then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EADDRINUSE") return false
        throw error
      },
    )
    if (!isFree) continue
    server.close()
    await once(server, "close")
    return port
  }
}
