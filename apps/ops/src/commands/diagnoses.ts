import { checkBox, field, withDefault } from "@outreach/backoffice/operations/Field"
import { operation } from "@outreach/backoffice/operations/Operation"
import { wholeNumber } from "@outreach/domain/textSchema"
import { DnsServer } from "@outreach/process/dnsServers"
import { Effect } from "effect"
import { command } from "../command.ts"

export const doctor = command(
  operation("doctor", {
    access: "reads",
    about:
      "Check settings, database, keys, mail server, DNS records, senders and endpoints, without changes. Fails if a check fails",
    input: { dnsServer: field(DnsServer, "The name server for DNS records as ip[:port], instead of this machine's") },
    *run({ dnsServer }) {
      const { runDoctor } = yield* Effect.promise(() => import("../doctor/runDoctor.ts"))
      yield* runDoctor(dnsServer)
    },
    examples: ["ops doctor", "ops doctor --dns-server 192.0.2.53"],
  }),
)

export const status = command(
  operation("status", {
    access: "reads",
    about: "Show how the database, the workers, the endpoints, the queues and the campaigns stand, on one screen",
    input: {
      watch: checkBox(
        "Show it again and again until Ctrl-C: in place on a terminal, with --output json as a line for each reading; once without either",
      ),
      interval: withDefault(field(wholeNumber(1, 3600), "Seconds between two readings of --watch, 1 to 3600"), "2"),
    },
    *run(input) {
      const { showStatus } = yield* Effect.promise(() => import("../status/showStatus.ts"))
      yield* showStatus(input)
    },
    examples: ["ops status", "ops status --watch --interval 5"],
  }),
)
