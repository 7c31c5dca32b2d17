import { dnsServer } from "@outreach/testing/startNameServer"
import type { Answer } from "dns-packet"

interface PrintedSender {
  readonly dns_records: ReadonlyArray<{
    readonly name: string
    readonly type: string
    readonly values: ReadonlyArray<string>
  }>
}

/** Publishes the records that a command has printed, with the values that the operator fills in. Returns the address of the name server. */
export const publishRecords = ({ dns_records }: PrintedSender) =>
  dnsServer(
    dns_records.flatMap(({ name, type, values }): ReadonlyArray<Answer> => {
      if (type === "MX") return [{ type, name, data: { preference: 10, exchange: "mx.acme.test" } }]
      if (type === "TXT") return [{ type, name, data: values.map((value) => value.replace(/<.*>/, "mailto.test")) }]
      // A resolver returns the address of the name that a CNAME record points to.
      return [
        { type: "CNAME", name, data: values[0]!.slice(0, -1) },
        { type: "A", name, data: "127.0.0.1" },
      ]
    }),
  )
