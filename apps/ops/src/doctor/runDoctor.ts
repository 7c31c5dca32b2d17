import { formatCounted } from "@outreach/backoffice/format"
import { DATABASE_CHECKS, failoverFinding } from "@outreach/backoffice/inspection/databaseFindings"
import { countCiphertexts, listKeyUses } from "@outreach/backoffice/keys/keysAtRest"
import { lookUpSender } from "@outreach/backoffice/senders/SenderSetup"
import { TaskProgress } from "@outreach/backoffice/TaskProgress"
import { TodayReader } from "@outreach/backoffice/today/TodayReader"
import { checkPublicBaseUrl } from "@outreach/domain/campaigns/preflight"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { type Finding, failed, ok, skipped, warning } from "@outreach/domain/operators/Finding"
import { verifiedLinkDomain } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { createResolver, dnsFindings } from "@outreach/mail/dnsFindings"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { dnsServers } from "@outreach/process/dnsServers"
import { whereSet } from "@outreach/process/setting"
import { publicBaseUrl } from "@outreach/process/settings"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { failoverSeconds } from "@outreach/worker/WorkerConfig"
import { Cause, Effect, Result } from "effect"
import { describeFailure } from "../output/reportFailure.ts"
import { services } from "../services.ts"
import { linkTarget, Target } from "../Target.ts"
import { endpointFinding, type Options } from "./endpointFinding.ts"
import { SETTINGS_READERS } from "./processSettings.ts"
import { publicUrlFinding, settingFindings } from "./settingFindings.ts"
import { smtpFinding } from "./smtpFinding.ts"

const DATABASE_LIMIT = "10 seconds"

/** Runs all checks in sequence, and returns their findings. Without a name server it uses those of the settings. */
export const runDoctor = Effect.fnUntraced(function* (dnsServer: string | undefined) {
  const { advance } = yield* (yield* TaskProgress).bar("Checking", EXPECTED_CHECKS)
  const made: Array<Finding & { readonly check: string }> = []
  /** Adds the findings of a check. A failure of the check is also a finding. */
  const check = Effect.fnUntraced(function* <R>(
    name: string,
    findings: Effect.Effect<Finding | ReadonlyArray<Finding>, Finding, R>,
  ) {
    made.push(...[yield* Effect.catch(findings, Effect.succeed)].flat().map((finding) => ({ check: name, ...finding })))
    yield* advance(1)
  })
  /** Makes a check that needs the schema of this release. */
  const checkServed: typeof check = (name, findings) => {
    const isServed = !made.some((finding) => finding.check === "schema" && finding.status === "failed")
    return isServed ? check(name, findings) : check(name, NOT_SERVED)
  }

  const target = yield* Effect.result(Effect.provide(Target, Target.layer))
  const { sandboxUrl, livemode, allowHttp: allowPrivate } = Result.getOrElse(target, () => NO_TARGET)
  const isSandbox = sandboxUrl !== null
  yield* check("settings", isSandbox ? Effect.succeed(SANDBOX) : allSettingFindings)

  // The check of the settings has reported malformed ones.
  const servers = dnsServer !== undefined ? [dnsServer] : yield* Effect.orElseSucceed(dnsServers, () => [])
  const proxy = yield* Effect.orElseSucceed(webhookProxy, () => null)
  const failover = isSandbox ? undefined : yield* Effect.orElseSucceed(failoverSeconds, () => undefined)
  yield* Effect.gen(function* () {
    const { database, schema, role, clock, clock_faults } = DATABASE_CHECKS
    yield* check("database", readable(database))
    yield* check("schema", readable(schema))
    yield* check("role", readable(role))
    yield* checkServed("clock", readable(clock))
    if (failover !== undefined) yield* checkServed("failover", readable(failoverFinding(failover)))
    yield* checkServed("clock_faults", readable(clock_faults))
    yield* checkServed("keys", readable(secretsKeyFinding))
    yield* checkServed("endpoints", endpointFindings({ allowPrivate, servers, proxy }))
    yield* checkServed("failing", failingFindings)
    yield* checkServed("senders", allSenderFindings(servers))
  }).pipe(
    Effect.provide(services),
    Effect.catch((error) => check("database", Effect.fail(unreachable(error)))),
  )

  const mail = yield* Effect.result(smtpSettings)
  if (Result.isFailure(mail)) {
    const reason = (mail.failure.cause as Error).message
    yield* check("mail", Effect.succeed(skipped(`The mail server and its DNS records were not looked at: ${reason}`)))
  } else {
    yield* check("mail", smtpFinding(mail.success))
    for (const [name, finding] of Object.entries(dnsFindings(createResolver(servers), mail.success))) {
      yield* check(name, finding)
    }
  }
  yield* check("address", addressFinding({ sandboxUrl, livemode }))
  return made
}, Effect.scoped)

/** For the progress; some are made only with certain settings. */
const EXPECTED_CHECKS = 17

const SANDBOX = skipped("The sandbox runs with settings of its own.")
const NOT_SERVED = Effect.succeed(skipped("The database does not serve this release."))
const NO_TARGET = { sandboxUrl: null, livemode: false, allowHttp: false }

const unreachable = (error: unknown) =>
  failed(messageOf(Cause.fail(error)), "Set DATABASE_URL as the processes have it.")

const messageOf = (cause: Cause.Cause<unknown>): string => describeFailure(cause).message.split("\n")[0]!

/** A query that fails or times out is a finding of its check. */
const readable = <A, E, R>(
  query: Effect.Effect<A, E, R>,
  problem = "check could not be made",
): Effect.Effect<A, Finding, R> =>
  query.pipe(
    Effect.timeout(DATABASE_LIMIT),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.fail(failed(`The ${problem}: ${messageOf(cause)}`, "Look at the database's log.")),
    ),
  )

/** Reads the settings of each serving process. */
const allSettingFindings = Effect.map(
  Effect.forEach([SETTINGS_READERS.api, SETTINGS_READERS.worker, SETTINGS_READERS.console], settingFindings),
  (findings) => findings.flat(),
)

const secretsKeyFinding = Effect.gen(function* () {
  const { secretsKey } = yield* Target
  const stored = yield* countCiphertexts
  const secrets = formatCounted(stored, "stored secret")
  const keys = yield* Effect.result(secretsKey)
  if (Result.isFailure(keys)) {
    return skipped(`SECRETS_KEY cannot be read here, so ${secrets} were not opened.`)
  }
  if (stored === 0) return ok("SECRETS_KEY is valid, and no secret is stored yet.")
  const listed = listKeyUses(() => Effect.void)
  const uses = yield* Effect.provideService(listed, SecretCipher, SecretCipher.make(keys.success))
  const under = (isMeant: (keyId: string | null) => boolean) =>
    uses.reduce((sum, { keyId, ciphertexts }) => sum + (isMeant(keyId) ? ciphertexts : 0), 0)
  const closed = under((keyId) => keyId === null)
  if (closed > 0) {
    return failed(
      `SECRETS_KEY does not decrypt ${closed} of ${secrets}.`,
      "Add the key that encrypted them; see docs/keys.md. Webhooks of their organizations cannot be signed.",
    )
  }
  const older = under((keyId) => keyId !== keys.success[0].id)
  return ok(`SECRETS_KEY opens each of ${secrets}${older > 0 ? `, ${older} of them with an older key` : ""}.`)
})

/** Runs several checks in parallel until the time is over. Unfinished ones are undefined. */
const lookInTime = Effect.fnUntraced(function* <A, B, R>(
  things: ReadonlyArray<A>,
  limits: { readonly ms: number; readonly concurrency: number },
  look: (thing: A) => Effect.Effect<B, never, R>,
) {
  const until = (yield* readMonotonicMs) + limits.ms
  return yield* Effect.forEach(
    things,
    (thing) => Effect.flatMap(readMonotonicMs, (now) => (now < until ? look(thing) : Effect.undefined)),
    limits,
  )
})

const endpointFindings = Effect.fnUntraced(function* (options: Options) {
  const { list, address } = yield* EndpointRepository
  const listed = yield* readable(list(), "endpoints could not be read")
  const endpoints = listed.filter(({ enabled }) => enabled)
  if (endpoints.length === 0) return [skipped("There is no enabled endpoint.")]
  const findings = yield* lookInTime(endpoints, { ms: 60_000, concurrency: 16 }, (endpoint) =>
    readable(address(endpoint.id), `endpoint ${endpoint.id} could not be read`).pipe(
      Effect.flatMap((url) => endpointFinding({ ...endpoint, url }, options)),
      Effect.catch(Effect.succeed),
    ),
  )
  const made = findings.filter((finding) => finding !== undefined)
  const reached = made.filter(({ status }) => status !== "failed").length
  const untried = formatCounted(endpoints.length - made.length, "endpoint")
  return [
    made.filter(({ status }) => status !== "ok"),
    made.length < endpoints.length
      ? warning(`${untried} were not tried for lack of time.`, "Mend the others, and run it again.")
      : [],
    reached > 0
      ? ok(`Connections succeed to ${reached} of ${formatCounted(endpoints.length, "enabled endpoint")}.`)
      : [],
  ].flat()
})

/** Names the endpoints with only failed calls for a day, and whether their contacts were notified. */
const failingFindings = Effect.map(
  readable(TodayReader.use(({ readFailingEndpoints }) => readFailingEndpoints(null))),
  (endpoints) =>
    endpoints.map(({ id, organizationId, failingSince, disabledAt, hasContacts }) =>
      warning(
        `Every call to the endpoint ${id} has failed since ${failingSince.slice(0, 16)}Z${disabledAt === null ? "" : ", and it was disabled"}; ${hasContacts ? "the contacts of its organization are notified" : "its organization has no contacts to tell"}.`,
        hasContacts
          ? `Ask the partner. \`ops endpoints enable ${id}\` says what it missed.`
          : `Name them with \`ops organizations update ${organizationId} --contact\`.`,
      ),
    ),
)

const allSenderFindings = Effect.fnUntraced(function* (servers: ReadonlyArray<string>) {
  const senders = yield* readable((yield* SenderRepository).list(), "senders could not be read")
  const { allowHttp: allowPrivateAddresses, secretsKey } = yield* Target
  const link = yield* Effect.orElseSucceed(linkTarget, () => ({
    publicBaseUrl: null,
    allowPrivateAddresses,
    secretsKey,
  }))
  const found = yield* lookInTime(senders, { ms: 30_000, concurrency: 8 }, (sender) =>
    lookUpSender(servers, link, sender, verifiedLinkDomain(sender)),
  )
  const findings = senders.map(({ id, keys, linkDomain, linkDomainVerifiedAt }, i) => {
    const problems = found[i]?.filter(({ status }) => status !== "ok")
    if (problems === undefined) {
      return [warning(`The records of ${id} were not looked up for lack of time.`, "Name another --dns-server.")]
    }
    const waiting = [
      ...(keys.some(({ signsFrom }) => signsFrom === null) ? [`The key of ${id} signs nothing yet.`] : []),
      ...(linkDomain !== null && linkDomainVerifiedAt === null
        ? [`No link of ${id} stands on ${linkDomain} yet.`]
        : []),
    ]
    return problems.length === 0
      ? waiting.map((found) => warning(found, `Run \`ops senders verify ${id}\`.`))
      : problems
  })
  const right = findings.filter(({ length }) => length === 0).length
  return [
    ...findings.flat(),
    ...(right > 0 ? [ok(`The DNS records of ${right} of ${formatCounted(senders.length, "sender")} are right.`)] : []),
  ]
})

const addressFinding = Effect.fnUntraced(function* (target: Pick<Target["Service"], "sandboxUrl" | "livemode">) {
  const { sandboxUrl, livemode } = target
  const url = yield* Effect.result(sandboxUrl === null ? whereSet(publicBaseUrl) : Effect.succeed(sandboxUrl))
  // The check of the settings has reported this.
  if (Result.isFailure(url)) return skipped("PUBLIC_BASE_URL is malformed.")
  if (url.success === null) return skipped("PUBLIC_BASE_URL is not set, so the links of e-mails lead to this machine.")
  const secure = checkPublicBaseUrl({ livemode, publicBaseUrl: url.success })
  return secure.status === "failed" ? secure : yield* publicUrlFinding(url.success)
})
