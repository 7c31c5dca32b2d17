import type { Answer } from "dns-packet"
import { onTestFinished } from "vitest"
import { NXDOMAIN, startNameServer } from "./startNameServer.ts"

/** Starts a name server on this machine until the end of the test. It knows only these records. Returns its address and port. */
export const dnsServer = async (records: ReadonlyArray<Answer>): Promise<string> => {
  const names = new Set(records.map(({ name }) => name))
  const { address, close } = await startNameServer((asked, type) => ({
    records: records.filter((record) => record.name === asked && record.type === type),
    ...(!names.has(asked) && { code: NXDOMAIN }),
  }))
  onTestFinished(close)
  return address
}
