import type { Answer } from "dns-packet"
import { NXDOMAIN, startNameServer } from "./startNameServer.ts"
import type { AtEnd } from "./startProcess.ts"

/** Starts a name server on this machine until the end of the test, or until `atEnd` calls back. It knows only these records. Returns its address and port. */
export const dnsServer = async (records: ReadonlyArray<Answer>, atEnd?: AtEnd): Promise<string> => {
  const { address } = await startNameServer((asked, type) => {
    const known = records.filter(({ name }) => name === asked)
    return { records: known.filter((record) => record.type === type), ...(known.length === 0 && { code: NXDOMAIN }) }
  }, atEnd)
  return address
}
