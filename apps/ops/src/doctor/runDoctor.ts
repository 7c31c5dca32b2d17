import type { Resolver } from "node:dns/promises"
import { ApiConfig } from "@outreach/api/ApiConfig"
import { DatabaseInspection } from "@outreach/backoffice/inspection/DatabaseInspection"
import {
  clockFinding,
  connectionFinding,
  failoverFinding,
  partitionsFinding,
  roleFinding,
  schemaFinding,
} from "@outreach/backoffice/inspection/databaseFindings"
import { ConsoleConfig } from "@outreach/console/ConsoleConfig"
import { checkPublicBaseUrl } from "@outreach/domain/campaigns/preflight"
import { type Finding, failed, ok, skipped, warning } from "@outreach/domain/operators/Finding"
import type { SenderWithKeys } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { createResolver } from "@outreach/mail/createResolver"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { standbySettings } from "@outreach/postgres-connection/databaseSettings"
import { dnsServers } from "@outreach/process/dnsServers"
import { misspeltSettings } from "@outreach/process/misspeltSettings"
import { logLevel, otlpEndpoint, publicBaseUrl } from "@outreach/process/settings"
import { failoverSeconds, WorkerConfig } from "@outreach/worker/WorkerConfig"
import {
  Array as Arr,
  Cause,
  Clock,
  Config,
  Console,
  type Duration,
  Effect,
  Exit,
  Layer,
  Record as Rec,
  Result,
} from "effect"
import { database } from "../database.ts"
import { formatCount, formatFinding } from "../output/format.ts"
import { Output, print } from "../output/Output.ts"
import { refuse } from "../output/refuse.ts"
import { describeFailure } from "../output/reportFailure.ts"
import { senderRepository } from "../senderRepository.ts"
import { Target } from "../Target.ts"
import { enabledEndpoints, secretsKeyFinding, standbyFinding } from "./databaseFindings.ts"
import { endpointFinding } from "./endpointFinding.ts"
import { dnsFindings, senderFindings, smtpFinding } from "./mailFindings.ts"
import { publicUrlFinding } from "./publicUrlFinding.ts"
import { settingFindings } from "./settingFindings.ts"

const DATABASE_LIMIT = "10 seconds"

type Findings<R = never> = Effect.Effect<ReadonlyArray<Finding>, never, R>

/** Makes all checks one after another, prints a line for each, and fails if one of them failed. Without a name server it asks those of the settings. */
export const runDoctor = Effect.fnUntraced(function* (dnsServer: string | undefined) {
  const { json } = yield* Output
  const made: Array<Finding & { readonly check: string }> = []
  const make = <Checks extends Readonly<Record<string, Findings<unknown>>>>(checks: Checks) =>
    Effect.forEach(
      Object.entries(checks) as ReadonlyArray<[string, Findings<Effect.Services<NonNullable<Checks[keyof Checks]>>>]>,
      Effect.fnUntraced(function* ([check, findings]) {
        for (const finding of yield* findings) {
          made.push({ check, ...finding })
          if (!json) yield* Console.log(formatFinding(`${check.padEnd(10)}  `, finding))
        }
      }),
      { discard: true },
    )

  const target = yield* Effect.result(Effect.provide(Target.use(Effect.succeed), Target.layer))
  const { sandboxUrl, livemode, allowHttp } = Result.getOrElse(target, () => NO_TARGET)
  yield* make(
    sandboxUrl === null ? settingChecks : { settings: one(skipped("The sandbox runs with settings of its own.")) },
  )

  // What is wrong with the setting was said above.
  const servers = dnsServer !== undefined ? [dnsServer] : yield* Effect.orElseSucceed(dnsServers, () => [])
  if (Result.isFailure(target)) yield* make({ database: unreachable(target.failure) })
  else {
    const options = { allowPrivate: allowHttp, isSandbox: sandboxUrl !== null, servers }
    yield* Effect.gen(function* () {
      yield* make({ database: guarded(connectionFinding) })
      const schema = yield* guarded(schemaFinding)
      yield* make({ schema: Effect.succeed(schema), role: guarded(roleFinding) })
      yield* make(schema[0]?.status === "failed" ? UNSERVED : yield* servingChecks(options))
    }).pipe(
      Effect.provide(databaseServices),
      Effect.catch((error) => make({ database: unreachable(error) })),
    )
  }
  yield* make(yield* mailChecks(servers))
  yield* make({ address: addressFindings({ sandboxUrl, livemode }) })

  const count = made.filter(({ status }) => status === "failed").length
  if (count > 0) {
    const sentence = `${formatCount(count, "check")} of ${made.length} failed.`
    return yield* refuse("DoctorFailed", sentence, { checks: made })
  }
  yield* print({ checks: made }, () => `${formatCount(made.length, "check")}, and none failed.`)
})

const NO_TARGET = { sandboxUrl: null, livemode: false, allowHttp: false }

const databaseServices = Layer.mergeAll(
  DatabaseInspection.layer,
  DeliveryGauges.layer,
  EndpointRepositoryPg,
  senderRepository,
).pipe(Layer.provideMerge(database))

const one = (finding: Finding): Findings => Effect.succeed([finding])

const unreachable = (error: unknown): Findings =>
  one(failed(messageOf(Cause.fail(error)), "Set DATABASE_URL as the processes have it."))

const messageOf = (cause: Cause.Cause<unknown>): string => describeFailure(cause).message.split("\n")[0]!

/** A query that fails, or takes too long, is a finding of its check. */
const guarded = <E, R>(finding: Effect.Effect<Finding, E, R>): Findings<R> =>
  finding.pipe(
    Effect.timeout(DATABASE_LIMIT),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.succeed(failed(`The check could not be made: ${messageOf(cause)}`, "Look at the database's log.")),
    ),
    Effect.map(Arr.of),
  )

const settingsOf = <E, R>(layer: Layer.Layer<never, E, R>) => Effect.scoped(Layer.build(layer))

/** The settings of each process, and the variables that look like a setting of a process that was read before. */
const settingChecks = {
  settings: Effect.map(
    Effect.all([
      settingFindings("API", settingsOf(ApiConfig.fromEnvironment)),
      settingFindings("worker", Config.all([WorkerConfig, logLevel, otlpEndpoint])),
      settingFindings("console", settingsOf(ConsoleConfig.fromEnvironment)),
      Effect.sync(() =>
        misspeltSettings(Object.keys(process.env)).map(({ name, similar }) =>
          warning(`${name} is not a setting, and looks like ${similar}.`, "Correct its name, or remove it."),
        ),
      ),
    ]),
    Arr.flatten,
  ),
}

/** The checks of a database that serves this release. */
const servingChecks = Effect.fnUntraced(function* (options: {
  readonly allowPrivate: boolean
  readonly isSandbox: boolean
  readonly servers: ReadonlyArray<string>
}) {
  // A malformed setting is a finding of the settings.
  const failover = options.isSandbox ? 0 : yield* Effect.orElseSucceed(failoverSeconds, () => 0)
  const standby = options.isSandbox ? undefined : yield* Effect.orElseSucceed(standbySettings, () => undefined)
  return {
    clock: guarded(clockFinding),
    ...(failover > 0 && { failover: guarded(failoverFinding) }),
    partitions: guarded(partitionsFinding),
    ...(standby !== undefined && { standby: guarded(standbyFinding(standby)) }),
    keys: guarded(secretsKeyFinding),
    endpoints: listed("endpoints", enabledEndpoints, "30 seconds", (endpoints) => endpointFindings(endpoints, options)),
    senders: listed(
      "senders",
      SenderRepository.use(({ list }) => list()),
      DATABASE_LIMIT,
      (senders) => sendersFindings(senders, createResolver(options.servers)),
    ),
  }
})

/** The findings instead, where the database does not serve this release. */
const UNSERVED = Object.fromEntries(
  ["clock", "partitions", "keys", "endpoints", "senders"].map((check) => [
    check,
    one(skipped("The database does not serve this release.")),
  ]),
)

/** Reads a list, and looks at what is on it. */
const listed = <A, E, R, R2>(
  noun: string,
  list: Effect.Effect<ReadonlyArray<A>, E, R>,
  limit: Duration.Input,
  look: (items: ReadonlyArray<A>) => Findings<R2>,
): Findings<R | R2> =>
  Effect.flatMap(Effect.exit(Effect.timeout(list, limit)), (read) =>
    Exit.isSuccess(read)
      ? look(read.value)
      : one(failed(`The ${noun} could not be read: ${messageOf(read.cause)}`, "Look at the database's log.")),
  )

/** Looks at several things at once, until the time is over. Those that it does not come to are undefined. */
const lookInTime = Effect.fnUntraced(function* <A, B, R>(
  things: ReadonlyArray<A>,
  limits: { readonly ms: number; readonly concurrency: number },
  look: (thing: A) => Effect.Effect<B, never, R>,
) {
  const until = (yield* Clock.currentTimeMillis) + limits.ms
  return yield* Effect.forEach(
    things,
    (thing) => Effect.flatMap(Clock.currentTimeMillis, (now) => (now < until ? look(thing) : Effect.undefined)),
    limits,
  )
})

const endpointFindings = Effect.fnUntraced(function* (
  endpoints: ReadonlyArray<Effect.Success<typeof enabledEndpoints>[number]>,
  options: { readonly allowPrivate: boolean; readonly servers: ReadonlyArray<string> },
) {
  if (endpoints.length === 0) return [skipped("There is no enabled endpoint.")]
  const findings = yield* lookInTime(endpoints, { ms: 60_000, concurrency: 16 }, (endpoint) =>
    endpointFinding(endpoint, options),
  )
  const made = findings.filter((finding) => finding !== undefined)
  const reached = made.filter(({ status }) => status !== "failed").length
  const untried = formatCount(endpoints.length - made.length, "endpoint")
  return [
    made.filter(({ status }) => status !== "ok"),
    made.length < endpoints.length
      ? warning(`${untried} were not tried for lack of time.`, "Mend the others, and run it again.")
      : [],
    reached > 0 ? ok(`Connections succeed to ${reached} of ${formatCount(endpoints.length, "enabled endpoint")}.`) : [],
  ].flat()
})

const sendersFindings = Effect.fnUntraced(function* (senders: ReadonlyArray<SenderWithKeys>, resolver: Resolver) {
  const found = yield* lookInTime(senders, { ms: 30_000, concurrency: 8 }, (sender) => senderFindings(resolver, sender))
  const findings = senders.map(({ id, keys }, i) => {
    const problems = found[i]?.filter(({ status }) => status !== "ok")
    if (problems === undefined) {
      return [warning(`The records of ${id} were not looked up for lack of time.`, "Name another --dns-server.")]
    }
    return problems.length === 0 && keys.some(({ signsFrom }) => signsFrom === null)
      ? [warning(`The key of ${id} signs nothing yet.`, `Run \`ops senders verify ${id}\`.`)]
      : problems
  })
  const right = findings.filter(({ length }) => length === 0).length
  return [
    ...findings.flat(),
    ...(right > 0 ? [ok(`The DNS records of ${right} of ${formatCount(senders.length, "sender")} are right.`)] : []),
  ]
})

const mailChecks = Effect.fnUntraced(function* (servers: ReadonlyArray<string>) {
  const settings = yield* Effect.result(smtpSettings)
  if (Result.isFailure(settings)) {
    const reason = (settings.failure.cause as Error).message
    return { mail: one(skipped(`The mail server and its DNS records were not looked at: ${reason}`)) }
  }
  const records = dnsFindings(createResolver(servers), settings.success)
  return Rec.map({ mail: smtpFinding(settings.success), ...records }, Effect.map(Arr.of<Finding>))
})

const addressFindings = Effect.fnUntraced(function* (target: Pick<Target["Service"], "sandboxUrl" | "livemode">) {
  const { sandboxUrl, livemode } = target
  const isSet = (yield* Effect.orDie(Config.String("PUBLIC_BASE_URL").pipe(Config.withDefault("")))) !== ""
  if (sandboxUrl === null && !isSet) {
    return [skipped("PUBLIC_BASE_URL is not set, so the links of e-mails lead to this machine.")]
  }
  const url = yield* Effect.result(sandboxUrl === null ? publicBaseUrl : Effect.succeed(sandboxUrl))
  // The check of the settings has said so.
  if (Result.isFailure(url)) return [skipped("PUBLIC_BASE_URL is malformed.")]
  const secure = checkPublicBaseUrl({ livemode, publicBaseUrl: url.success })
  return [secure.status === "failed" ? secure : yield* publicUrlFinding(url.success)]
})
