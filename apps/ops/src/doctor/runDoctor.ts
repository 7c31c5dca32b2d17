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
import { Cause, Clock, Config, Console, Effect, Layer, Result, Schema } from "effect"
import { database } from "../database.ts"
import { formatCell, formatCount } from "../output/format.ts"
import { Output, print } from "../output/Output.ts"
import { describeFailure } from "../output/reportFailure.ts"
import { senderRepository } from "../senderRepository.ts"
import { Target } from "../Target.ts"
import { enabledEndpoints, secretsKeyFinding, standbyFinding } from "./databaseFindings.ts"
import { endpointFinding } from "./endpointFinding.ts"
import { dnsFailedFinding, dnsFindings, senderFindings, smtpFinding } from "./mailFindings.ts"
import { publicUrlFinding } from "./publicUrlFinding.ts"
import { settingFindings } from "./settingFindings.ts"

const DATABASE_LIMIT = "10 seconds"
const ENDPOINT_CONCURRENCY = 16
const DNS_CONCURRENCY = 8
/** After this no further sender is looked up. */
const SENDERS_MS = 30_000
/** After this no further endpoint is tried. */
const ENDPOINTS_MS = 60_000

/** A check failed. */
class DoctorFailed extends Schema.TaggedError<DoctorFailed>()("DoctorFailed", {
  checks: Schema.Array(
    Schema.Struct({
      check: Schema.String,
      status: Schema.String,
      found: Schema.String,
      advice: Schema.NullOr(Schema.String),
    }),
  ),
}) {
  override get message(): string {
    const count = this.checks.filter(({ status }) => status === "failed").length
    return `${formatCount(count, "check")} of ${this.checks.length} failed.`
  }
}

interface CheckResult extends Finding {
  readonly check: string
}

type Emit = (check: string, ...findings: ReadonlyArray<Finding>) => Effect.Effect<void>

/** Makes all checks one after another, prints a line for each, and fails if one of them failed. Without a name server it asks those of the settings. */
export const runDoctor = Effect.fnUntraced(function* (dnsServer: string | undefined) {
  const { json } = yield* Output
  const checks: Array<CheckResult> = []
  const emit: Emit = (check, ...findings) =>
    Effect.forEach(
      findings,
      (finding) => {
        checks.push({ check, ...finding })
        return json ? Effect.void : Console.log(formatCheck(check, finding))
      },
      { discard: true },
    )

  const target = yield* Effect.result(
    Effect.provide(
      Effect.map(Target, (target) => target),
      Target.layer,
    ),
  )
  const sandboxUrl = Result.isSuccess(target) ? target.success.sandboxUrl : null
  if (sandboxUrl !== null) yield* emit("settings", skipped("The sandbox runs with settings of its own."))
  else {
    yield* emit("settings", ...(yield* settingFindings("API", Effect.scoped(Layer.build(ApiConfig.fromEnvironment)))))
    const worker = Config.all([WorkerConfig, logLevel, otlpEndpoint])
    yield* emit("settings", ...(yield* settingFindings("worker", worker)))
    const console = Effect.scoped(Layer.build(ConsoleConfig.fromEnvironment))
    yield* emit("settings", ...(yield* settingFindings("console", console)))
    yield* emit("settings", ...misspeltFindings())
  }

  // What is wrong with the setting was said above.
  const servers = dnsServer !== undefined ? [dnsServer] : yield* Effect.orElseSucceed(dnsServers, () => [])
  if (Result.isFailure(target)) yield* emit("database", failed(messageOf(Cause.fail(target.failure)), SET_DATABASE))
  else yield* checkDatabase(emit, { allowPrivate: target.success.allowHttp, isSandbox: sandboxUrl !== null, servers })
  yield* checkMail(emit, servers)
  yield* checkPublicUrl(
    emit,
    Result.getOrElse(target, () => ({ sandboxUrl: null, livemode: false })),
  )

  if (checks.some(({ status }) => status === "failed")) return yield* new DoctorFailed({ checks })
  yield* print({ checks }, () => `${formatCount(checks.length, "check")}, and none failed.`)
})

/** Returns a warning for each variable that looks like a setting of a process that was read before. */
const misspeltFindings = () =>
  misspeltSettings(Object.keys(process.env)).map(({ name, similar }) =>
    warning(`${name} is not a setting, and looks like ${similar}.`, "Correct its name, or remove it."),
  )

const SET_DATABASE = "Set DATABASE_URL as the processes have it."

const formatCheck = (check: string, { status, found, advice }: Finding): string =>
  formatCell(`${status.padEnd(7)}  ${check.padEnd(10)}  ${found}${advice === null ? "" : ` ${advice}`}`)

/** A query that fails, or takes too long, is a finding of its check. */
const guarded = <E, R>(finding: Effect.Effect<Finding, E, R>): Effect.Effect<Finding, never, R> =>
  finding.pipe(
    Effect.timeout(DATABASE_LIMIT),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.succeed(failed(`The check could not be made: ${messageOf(cause)}`, "Look at the database's log.")),
    ),
  )

const messageOf = (cause: Cause.Cause<unknown>): string => describeFailure(cause).message.split("\n")[0]!

const checkDatabase = (
  emit: Emit,
  options: { readonly allowPrivate: boolean; readonly isSandbox: boolean; readonly servers: ReadonlyArray<string> },
) =>
  Effect.gen(function* () {
    yield* emit("database", yield* guarded(connectionFinding))
    const schema = yield* guarded(schemaFinding)
    yield* emit("schema", schema)
    yield* emit("role", yield* guarded(roleFinding))
    if (schema.status === "failed") {
      const finding = skipped("The database does not serve this release.")
      for (const check of ["clock", "partitions", "keys", "endpoints", "senders"]) yield* emit(check, finding)
      return
    }
    yield* emit("clock", yield* guarded(clockFinding))
    // A malformed setting is a finding of the settings.
    const failover = options.isSandbox ? 0 : yield* Effect.orElseSucceed(failoverSeconds, () => 0)
    if (failover > 0) yield* emit("failover", yield* guarded(failoverFinding))
    yield* emit("partitions", yield* guarded(partitionsFinding))
    // A malformed address is a finding of the settings.
    const standby = options.isSandbox ? undefined : yield* Effect.orElseSucceed(standbySettings, () => undefined)
    if (standby !== undefined) yield* emit("standby", yield* guarded(standbyFinding(standby)))
    yield* emit("keys", yield* guarded(secretsKeyFinding))
    yield* emit("endpoints", ...(yield* checkEndpoints(options)))
    yield* emit("senders", ...(yield* checkSenders(createResolver(options.servers))))
  }).pipe(
    Effect.provide(
      Layer.mergeAll(DatabaseInspection.layer, DeliveryGauges.layer, EndpointRepositoryPg, senderRepository).pipe(
        Layer.provideMerge(database),
      ),
    ),
    Effect.catch((error) => emit("database", failed(messageOf(Cause.fail(error)), SET_DATABASE))),
  )

const checkEndpoints = Effect.fnUntraced(function* (options: {
  readonly allowPrivate: boolean
  readonly servers: ReadonlyArray<string>
}) {
  const listed = yield* enabledEndpoints.pipe(Effect.timeout("30 seconds"), Effect.exit)
  if (listed._tag === "Failure") {
    return [failed(`The endpoints could not be read: ${messageOf(listed.cause)}`, "Look at the database's log.")]
  }
  const endpoints = listed.value
  if (endpoints.length === 0) return [skipped("There is no enabled endpoint.")]
  const until = (yield* Clock.currentTimeMillis) + ENDPOINTS_MS
  const findings = yield* Effect.forEach(
    endpoints,
    (endpoint) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        now < until ? endpointFinding(endpoint, options) : Effect.undefined,
      ),
    { concurrency: ENDPOINT_CONCURRENCY },
  )
  const made = findings.filter((finding) => finding !== undefined)
  const problems = made.filter(({ status }) => status !== "ok")
  const reached = made.filter(({ status }) => status !== "failed").length
  const said = `Connections succeed to ${reached} of ${formatCount(endpoints.length, "enabled endpoint")}.`
  const untried = endpoints.length - made.length
  return [
    ...problems,
    ...(untried > 0
      ? [
          warning(
            `${formatCount(untried, "endpoint")} were not tried for lack of time.`,
            "Mend the others, and run it again.",
          ),
        ]
      : []),
    ...(reached > 0 ? [ok(said)] : []),
  ]
})

const checkSenders = Effect.fnUntraced(function* (resolver: ReturnType<typeof createResolver>) {
  const listed = yield* Effect.flatMap(SenderRepository, ({ list }) => list()).pipe(
    Effect.timeout(DATABASE_LIMIT),
    Effect.exit,
  )
  if (listed._tag === "Failure") {
    return [failed(`The senders could not be read: ${messageOf(listed.cause)}`, "Look at the database's log.")]
  }
  const senders = listed.value
  const until = (yield* Clock.currentTimeMillis) + SENDERS_MS
  const findings = yield* Effect.forEach(
    senders,
    Effect.fnUntraced(function* (sender) {
      if ((yield* Clock.currentTimeMillis) >= until) {
        return [
          warning(`The records of ${sender.id} were not looked up for lack of time.`, "Name another --dns-server."),
        ]
      }
      const found = yield* senderFindings(resolver, sender)
      const problems = found.filter(({ status }) => status !== "ok")
      if (problems.length > 0) return problems
      return sender.keys.some(({ signsFrom }) => signsFrom === null)
        ? [warning(`The key of ${sender.id} signs nothing yet.`, `Run \`ops senders verify ${sender.id}\`.`)]
        : []
    }),
    { concurrency: DNS_CONCURRENCY },
  )
  const right = findings.filter(({ length }) => length === 0).length
  return [
    ...findings.flat(),
    ...(right > 0 ? [ok(`The DNS records of ${right} of ${formatCount(senders.length, "sender")} are right.`)] : []),
  ]
})

const checkMail = Effect.fnUntraced(function* (emit: Emit, servers: ReadonlyArray<string>) {
  const settings = yield* Effect.result(smtpSettings)
  if (Result.isFailure(settings)) {
    const reason = (settings.failure.cause as Error).message
    return yield* emit("mail", skipped(`The mail server and its DNS records were not looked at: ${reason}`))
  }
  yield* emit("mail", yield* smtpFinding(settings.success))
  for (const [check, lookUp] of Object.entries(dnsFindings(createResolver(servers), settings.success))) {
    yield* emit(check, yield* Effect.catch(lookUp, (error) => Effect.succeed(dnsFailedFinding(error))))
  }
})

const checkPublicUrl = Effect.fnUntraced(function* (
  emit: Emit,
  target: Pick<Target["Service"], "sandboxUrl" | "livemode">,
) {
  const { sandboxUrl, livemode } = target
  const isSet = (yield* Config.String("PUBLIC_BASE_URL").pipe(Config.withDefault(""))) !== ""
  if (sandboxUrl === null && !isSet) {
    return yield* emit("address", skipped("PUBLIC_BASE_URL is not set, so the links of e-mails lead to this machine."))
  }
  const url = yield* Effect.result(sandboxUrl === null ? publicBaseUrl : Effect.succeed(sandboxUrl))
  // The check of the settings has said so.
  if (Result.isFailure(url)) return yield* emit("address", skipped("PUBLIC_BASE_URL is malformed."))
  const secure = checkPublicBaseUrl({ livemode, publicBaseUrl: url.success })
  yield* emit("address", secure.status === "failed" ? secure : yield* publicUrlFinding(url.success))
})
