import { authenticate } from "mailauth"

/** Verifies a message's DKIM signatures with an independent library, using only these TXT records. Returns the results. */
export const verifySignatures = async (message: string, records: Readonly<Record<string, string>>) => {
  const resolver = async (name: string, type: string) => {
    if (type === "TXT" && records[name] !== undefined) return [[records[name]]]
    throw Object.assign(new Error("no such record"), { code: "ENOTFOUND" })
  }
  const { dkim } = await authenticate(message, { trustReceived: false, disableArc: true, disableDmarc: true, resolver })
  return dkim.results
}
