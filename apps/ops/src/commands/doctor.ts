import { isIP } from "node:net"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"

/** The address of a name server, with or without a port. */
const DnsServer = textSchema(
  "an IP address, or one with a port such as 192.0.2.53:5353 or [2001:db8::53]:5353",
  (text) => {
    if (isIP(text) !== 0) return text
    const [, ipv4, ipv6, port] = /^(?:([\d.]+)|\[([0-9a-fA-F:.]+)\]):(\d{1,5})$/.exec(text) ?? []
    return isIP(ipv4 ?? ipv6 ?? "") !== 0 && Number(port) >= 1 && Number(port) <= 65_535 ? text : undefined
  },
)

/** `ops doctor` */
export const doctor = reading(
  "doctor",
  {
    dnsServer: parsedFlag(
      "dns-server",
      DnsServer,
      "The name server to ask for DNS records, instead of this machine's",
    ).pipe(Flag.withMetavar("ip[:port]"), Flag.optional),
  },
  Effect.fn("ops.doctor")(function* ({ dnsServer }) {
    // Loaded here, because the help does not need the checks.
    const { runDoctor } = yield* Effect.promise(() => import("../doctor/runDoctor.ts"))
    yield* runDoctor({ dnsServer: Option.getOrUndefined(dnsServer) })
  }),
).pipe(
  Command.withDescription(
    "Check the settings, the database, the keys, the mail server, its DNS records and the endpoints; change nothing, and fail if a check fails",
  ),
  Command.withExamples([{ command: "ops doctor" }, { command: "ops doctor --dns-server 192.0.2.53" }]),
)
