import { randomInt } from "node:crypto"

/**
 * Returns an address of this machine that only the caller uses: a random one of 127.0.0.0/8 on Linux, where all of them exist. A server can listen there on
 * a fixed port, also after a restart, without a conflict. Elsewhere it returns 127.0.0.1.
 */
export const loopbackAddress = (): string =>
  process.platform === "linux" ? `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}` : "127.0.0.1"
