import { wholeNumber } from "@outreach/domain/textSchema"
import { DnsServer } from "@outreach/process/dnsServers"
import { Context, type Effect, type FileSystem, type Path } from "effect"
import { checkBox, field, withDefault } from "./Field.ts"
import { operation, type TaggedFailure } from "./Operation.ts"

type Diagnosis<Options> = (options: Options) => Effect.Effect<void, TaggedFailure, FileSystem.FileSystem | Path.Path>

/** Reads the state of a deployment with its own connections, and prints it as it finds it. */
export class Diagnoses extends Context.Service<
  Diagnoses,
  {
    readonly doctor: Diagnosis<{ readonly dnsServer?: string }>
    /** `interval` is in seconds. */
    readonly status: Diagnosis<{ readonly watch?: boolean; readonly interval: number }>
  }
>()("backoffice/Diagnoses") {}

export const doctor = operation("doctor", {
  access: "reads",
  about:
    "Check settings, database, keys, mail server, DNS records, senders and endpoints, without changes. Fails if a check fails",
  input: { dnsServer: field(DnsServer, "The name server for DNS records as ip[:port], instead of this machine's") },
  run: (input) => Diagnoses.use(({ doctor }) => doctor(input)),
  examples: ["ops doctor", "ops doctor --dns-server 192.0.2.53"],
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
  run: (input) => Diagnoses.use(({ status }) => status(input)),
  examples: ["ops status", "ops status --watch --interval 5"],
})
