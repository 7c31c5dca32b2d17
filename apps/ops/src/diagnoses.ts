import { formatCounted } from "@outreach/backoffice/format"
import { checkBox, field, withDefault } from "@outreach/backoffice/operations/Field"
import { operation } from "@outreach/backoffice/operations/Operation"
import { DescribedError } from "@outreach/domain/DescribedError"
import type { Finding } from "@outreach/domain/operators/Finding"
import { wholeNumber } from "@outreach/domain/textSchema"
import { DnsServer } from "@outreach/process/dnsServers"
import { Effect } from "effect"

// Loaded when a command runs, because they load the settings of all processes, and the readers.
const doctors = Effect.promise(() => import("./doctor/runDoctor.ts"))
const statuses = Effect.promise(() => import("./status/showStatus.ts"))

interface Diagnosis {
  readonly checks: ReadonlyArray<Finding & { readonly check: string }>
}

const failedOf = ({ checks }: Diagnosis) => checks.filter(({ status }) => status === "failed")

class DoctorFailed extends DescribedError("DoctorFailed", (diagnosis: Diagnosis) => {
  return `${formatCounted(failedOf(diagnosis).length, "check")} of ${diagnosis.checks.length} failed.`
}) {}

export const doctor = operation("doctor", {
  access: "reads",
  about:
    "Check settings, database, keys, mail server, DNS records, senders and endpoints, without changes. Fails if a check fails",
  input: { dnsServer: field(DnsServer, "The name server for DNS records as ip[:port], instead of this machine's") },
  *run({ dnsServer }) {
    return { checks: yield* (yield* doctors).runDoctor(dnsServer) }
  },
  show: ({ checks }) => [{ checks }],
  failure: (diagnosis) => (failedOf(diagnosis).length === 0 ? undefined : new DoctorFailed(diagnosis)),
  done: ({ checks }) => `${formatCounted(checks.length, "check")}, and none failed.`,
})

export const status = operation("status", {
  access: "reads",
  about: "Show how the database, the workers, the endpoints, the queues and the campaigns stand, on one screen",
  input: {
    watch: checkBox(
      "Show it again and again until Ctrl-C: in place on a terminal, with --output json as a line for each reading; once without either",
    ),
    interval: withDefault(field(wholeNumber(1, 3600), "Seconds between two readings of --watch, 1 to 3600"), "2"),
  },
  *run(input) {
    yield* (yield* statuses).showStatus(input)
  },
})
