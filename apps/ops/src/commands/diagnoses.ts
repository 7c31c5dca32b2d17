import { DnsServer } from "@outreach/process/dnsServers"
import { Effect } from "effect"
import { reading } from "../Declaration.ts"
import { flag, onlySwitch, optional, wholeNumber, withDefault } from "../inputs/Input.ts"
import { Output, print } from "../output/Output.ts"

export const doctor = reading({
  about:
    "Check settings, database, keys, mail server, DNS records, senders and endpoints, without changes. Fails if a check fails",
  examples: ["ops doctor", "ops doctor --dns-server 192.0.2.53"],
  input: {
    dnsServer: optional(flag(DnsServer, "The name server for DNS records, instead of this machine's", "ip[:port]")),
  },
  *run({ dnsServer }) {
    const { runDoctor } = yield* Effect.promise(() => import("../doctor/runDoctor.ts"))
    yield* runDoctor(dnsServer)
  },
})

export const status = reading({
  about: "Show how the database, the workers, the endpoints, the queues and the campaigns stand, on one screen",
  examples: ["ops status", "ops status --watch --interval 5"],
  input: {
    watch: onlySwitch(
      "Show it again and again until Ctrl-C: in place on a terminal, with --output json as a line for each reading; once without either",
    ),
    interval: withDefault(wholeNumber(1, 3600, "Seconds between two readings of --watch, 1 to 3600 (default 2)"), 2),
  },
  *run({ watch, interval }) {
    if (watch && ((yield* Output) === "json" || process.stdout.isTTY)) {
      const { watchStatus } = yield* Effect.promise(() => import("../status/watchStatus.ts"))
      return yield* watchStatus({ seconds: interval, terminal: process.stdout })
    }
    const { readStatus, statusServices } = yield* Effect.promise(() => import("../status/readStatus.ts"))
    const { formatStatus } = yield* Effect.promise(() => import("../status/formatStatus.ts"))
    const status = yield* Effect.provide(readStatus, statusServices)
    yield* print(status, () => formatStatus(status).join("\n"))
  },
})
