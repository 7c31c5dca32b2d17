import { Effect } from "effect"
import { Command } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { dnsServer } from "../inputs/dnsServer.ts"

/** `ops doctor` */
export const doctor = reading(
  "doctor",
  { dnsServer },
  Effect.fn("ops.doctor")(function* ({ dnsServer }) {
    // Loaded here, because the help does not need the checks.
    const { runDoctor } = yield* Effect.promise(() => import("../doctor/runDoctor.ts"))
    yield* runDoctor(dnsServer)
  }),
).pipe(
  Command.withDescription(
    "Check the settings, the database, the keys, the mail server, its DNS records, the senders and the endpoints; change nothing, and fail if a check fails",
  ),
  Command.withExamples([{ command: "ops doctor" }, { command: "ops doctor --dns-server 192.0.2.53" }]),
)
