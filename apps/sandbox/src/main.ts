import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type Client, createClient } from "@outreach/client"
import { PreflightSettings } from "@outreach/domain/campaigns/PreflightSettings"
import { Deployment } from "@outreach/domain/Deployment"
import { adapters } from "@outreach/postgres/adapters"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { migrate } from "@outreach/postgres/migrate"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { runProcess } from "@outreach/process/runProcess"
import { secretsKey } from "@outreach/process/settings"
import { ConfigProvider, Effect, Layer, References, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { behaviorOf } from "./behaviorOf.ts"
import { openDatabase } from "./openDatabase.ts"
import { type Options, readOptions, USAGE } from "./options.ts"
import { checkDisk, checkPort, holdConsolePort, lockDirectory } from "./preconditions.ts"
import { folderError, SandboxError } from "./SandboxError.ts"
import { openSandboxState, writePrivate } from "./sandboxState.ts"
import { draftCampaign, earlierState, launchCampaign } from "./seed/launchCampaign.ts"
import { seedPartner, signInTokenOf } from "./seed/seedPartner.ts"
import { showProgress } from "./showProgress.ts"
import { simulateMailboxes } from "./simulateMailboxes.ts"
import { MAX_MAILS, startMailCatcher } from "./startMailCatcher.ts"
import { startSamplePartner } from "./startSamplePartner.ts"
import { startServices } from "./startServices.ts"

const SAMPLE = join(import.meta.dirname, "seed", "recipients.csv")

/** A first run takes some 50 MB, and PostgreSQL's write-ahead log grows. */
const MIN_FREE_BYTES = 150_000_000

const sandbox = Effect.fnUntraced(function* (options: Options) {
  const { folder, port } = options
  yield* lockDirectory(folder)
  const addresses = join(folder, "sandbox.json")
  yield* Effect.acquireRelease(
    Effect.promise(() => rm(addresses, { force: true })),
    () => Effect.promise(() => rm(addresses, { force: true })),
  )
  yield* checkPort(port)
  const baseUrl = `http://127.0.0.1:${port}`
  const consolePort = yield* holdConsolePort(options.consolePort)
  const consoleUrl = `http://127.0.0.1:${consolePort.port}`
  yield* checkDisk(folder, MIN_FREE_BYTES)

  const database = yield* openDatabase(options)
  const databaseUrl = database.url
  const state = yield* openSandboxState(folder, database.name)
  const { SECRETS_KEY, CURSOR_KEY } = state.read()

  return yield* Effect.gen(function* () {
    yield* migrate
    const mailboxes = yield* simulateMailboxes(baseUrl)
    const mail = yield* startMailCatcher({
      hasMailbox: (address) => !behaviorOf(address).bounces,
      onCaught: mailboxes.receive,
    })
    const kept = state.read()
    const partner = yield* startSamplePartner({
      databaseUrl,
      port: kept.partner_port ?? 0,
      secrets: () => [state.read().seeded?.signing_secret ?? []].flat(),
      consoleUrl: () => partnerConsoleUrl(consolePort.port, state.read().partner_sign_in_token),
    })
    yield* state.update({ partner_port: partner.port })
    const seeded = kept.seeded ?? (yield* seedPartner(partner.webhooksUrl))
    yield* state.update({ seeded })
    const signInToken = yield* signInTokenOf(
      { name: "Sandbox", role: "admin", organizationId: null },
      kept.sign_in_token,
    )
    const partnerSignInToken = yield* signInTokenOf(
      { name: "Sample partner", role: "partner", organizationId: seeded.organization_id },
      kept.partner_sign_in_token,
    )
    yield* state.update({ sign_in_token: signInToken, partner_sign_in_token: partnerSignInToken })
    const signInUrl = `${consoleUrl}/sign-in/${signInToken}`
    const partnerSignInUrl = partnerConsoleUrl(consolePort.port, partnerSignInToken)
    const recipients = options.recipients ?? kept.campaign?.recipients ?? SAMPLE
    const campaign =
      kept.campaign?.recipients === recipients
        ? kept.campaign
        : { id: yield* draftCampaign(seeded.program_id), recipients }
    yield* state.update({ campaign })
    const earlier = yield* earlierState(campaign.id)

    const environment = { DATABASE_URL: databaseUrl, SECRETS_KEY, CURSOR_KEY }
    yield* consolePort.release
    const services = yield* startServices({ folder, port, baseUrl, consoleUrl, smtpUrl: mail.smtpUrl, environment })

    const inboundUrl = `${baseUrl}/v1/partners/consumer/webhooks/${seeded.endpoint_id}`

    const run = Effect.gen(function* () {
      yield* Effect.promise(() =>
        writePrivate(addresses, {
          base_url: baseUrl,
          console_url: signInUrl,
          partner_console_url: partnerSignInUrl,
          api_key: seeded.api_key,
          organization_id: seeded.organization_id,
          program_id: seeded.program_id,
          campaign_id: campaign.id,
          endpoint_id: seeded.endpoint_id,
          signing_secret: seeded.signing_secret,
          inbound_url: inboundUrl,
          database_url: databaseUrl,
          partner_url: partner.url,
          mail_url: mail.url,
        }),
      )
      yield* printLine(`
API               ${baseUrl}
documents         ${baseUrl}/docs   how to begin, requests with curl, webhooks, errors, the reference
operator console  ${signInUrl}   signed in as an admin
partner's view    ${partnerSignInUrl}   the same console, signed in as the sample partner
sample partner    ${partner.url}   the events that it received, verified, deduplicated, reconciled and sent
mail catcher      ${mail.url}   the newest ${MAX_MAILS.toLocaleString("en")} e-mails; none leaves this machine
logs              ${["api.log", "worker.log", "console.log"].map((log) => join(folder, log)).join("  ")}
addresses         ${addresses}

Operate it in another terminal: npm run ops -- --help. Ctrl-C stops everything.
`)
      if (earlier !== undefined) yield* printLine(earlier)
      yield* launchCampaign(campaign.id, campaign.recipients, environment)
      const client = createClient({ apiKey: seeded.api_key, baseUrl })
      yield* printPullExample(baseUrl, seeded.api_key, client)
      yield* printLine(`Send the service an event about a clinician, as a partner does, and see the day's digest:

  npm run --silent webhook -- send --url ${inboundUrl} --secret ${seeded.signing_secret} --type clinician.account_created
  npm run ops -- inbox list --organization ${seeded.organization_id}
  npm run ops -- digests show ${new Date().toISOString().slice(0, 10)} --organization ${seeded.organization_id}
`)
      yield* printLine(`From now on the simulated clinicians act: within two minutes of their e-mail they open, click, bounce, unsubscribe, sign up and qualify.
`)
      yield* Effect.forkScoped(partner.pull(client))
      yield* Effect.forkScoped(partner.simulate(inboundUrl))
      return yield* showProgress(campaign.id, {
        incidents: services.incidents,
        mails: mail.count,
        unsubscribed: mailboxes.unsubscribed,
        partner: partner.counts,
      })
    })
    const diskFull = Effect.forever(Effect.andThen(checkDisk(folder), Effect.sleep(1000)))
    return yield* Effect.raceFirst(run, Effect.raceFirst(services.failed, diskFull))
  }).pipe(
    Effect.provide(
      adapters.pipe(
        Layer.provideMerge(
          databaseLayer({ database: databaseAt(databaseUrl), applicationName: "sandbox", maxConnections: 4 }),
        ),
        Layer.provideMerge(Layer.succeed(Deployment, { livemode: false })),
        Layer.provideMerge(Layer.succeed(PreflightSettings, { signsMail: null, publicBaseUrl: baseUrl })),
        Layer.provideMerge(
          Layer.effect(
            SecretCipher,
            Effect.map(secretsKey.parse(ConfigProvider.fromUnknown({ SECRETS_KEY })), SecretCipher.make),
          ),
        ),
        Layer.provideMerge(SecureRandom.layerWebCrypto),
      ),
    ),
  )
}, Effect.scoped)

/** The sample partner's link. It has another host than the admin's, so that a browser keeps the sessions of both. */
const partnerConsoleUrl = (port: number, token: string | undefined): string =>
  `http://localhost:${port}/sign-in/${token ?? ""}`

const printLine = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(`${text}\n`))

const SINCE = "2020-01-01T00:00:00Z"

/** Pulls the oldest recipient record, and prints `curl` commands that pull records. */
const printPullExample = Effect.fnUntraced(function* (baseUrl: string, apiKey: string, client: Client) {
  // The API may be restarting.
  const oldest = yield* Effect.tryPromise(() =>
    client.listTokens({ since: SINCE, limit: 1 })[Symbol.asyncIterator]().next(),
  ).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)
  const tokens = `${baseUrl}/v1/partners/consumer/tokens`
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`
  yield* printLine(`
Pull the records as a partner does, two per page, or one by its token:

  ${curl} '${tokens}?since=${SINCE}&limit=2'
  ${curl} ${tokens}/${oldest.value!.token}
`)
})

const main = Effect.gen(function* () {
  const options = yield* readOptions(process.argv.slice(2))
  if (options === undefined) return yield* printLine(USAGE)
  return yield* Effect.catchDefect(sandbox(options), (defect) => {
    const message = folderError(options.folder, defect)
    return message === undefined ? Effect.die(defect) : Effect.fail(new SandboxError({ message }))
  })
}).pipe(
  Effect.catchTag(["SandboxError", "MigrationMismatch", "MigrationFailed", "SchemaLocked", "NotOwner"], ({ message }) =>
    Effect.sync(() => {
      process.stderr.write(`${message}\n`)
      process.exitCode = 1
    }),
  ),
)

runProcess(Effect.provideService(main, References.MinimumLogLevel, "Warn"))
