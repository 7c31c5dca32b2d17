import { rm } from "node:fs/promises"
import { join } from "node:path"
import { createClient } from "@outreach/client"
import { PreflightSettings } from "@outreach/domain/Deployment"
import { servicesWith, uncheckedCipher } from "@outreach/ops/services"
import { Target } from "@outreach/ops/Target"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { runProcess } from "@outreach/process/runProcess"
import { secretsKey } from "@outreach/process/settings"
import { ConfigProvider, Effect, Layer, References } from "effect"
import { behaviorOf } from "./behaviorOf.ts"
import { COMMANDS } from "./commands.ts"
import { openDatabase } from "./openDatabase.ts"
import { type Display, openDisplay } from "./openDisplay.ts"
import { type Options, readOptions } from "./options.ts"
import { holdPort, lockDirectory } from "./preconditions.ts"
import { SandboxError } from "./SandboxError.ts"
import { openSandboxState, writePrivate } from "./sandboxState.ts"
import { draftCampaign, launchCampaign, writeSampleRecipients } from "./seed/launchCampaign.ts"
import { seedPartner, signInTokenOf } from "./seed/seedPartner.ts"
import { showCommands } from "./showCommands.ts"
import { showProgress } from "./showProgress.ts"
import { simulateMailboxes } from "./simulateMailboxes.ts"
import { MAX_MAILS, startMailCatcher } from "./startMailCatcher.ts"
import { startSamplePartner } from "./startSamplePartner.ts"
import { startServices } from "./startServices.ts"

const sandbox = Effect.fnUntraced(function* (options: Options, display: Display) {
  const { folder, host, port } = options
  yield* lockDirectory(folder)
  const addresses = join(folder, "sandbox.json")
  const removeAddresses = Effect.promise(() => rm(addresses, { force: true }))
  yield* Effect.acquireRelease(removeAddresses, () => removeAddresses)
  const apiPort = yield* holdPort(host, "--port", [port])
  const consolePort = yield* holdPort(host, "--console-port", options.consolePorts)
  const baseUrl = `http://${host}:${apiPort.port}`
  const consoleUrl = `http://${host}:${consolePort.port}`

  display.step("starting PostgreSQL")
  const { url: databaseUrl, settings: database, name } = yield* openDatabase(options)
  const state = yield* openSandboxState(folder, name)
  const { SECRETS_KEY, CURSOR_KEY } = state.read()

  return yield* Effect.gen(function* () {
    display.step("creating the schema")
    yield* runMigrations()
    const mailboxes = yield* simulateMailboxes(baseUrl)
    const mail = yield* startMailCatcher({
      host,
      hasMailbox: (address) => !behaviorOf(address).bounces,
      onCaught: mailboxes.receive,
    })
    const kept = state.read()
    const partner = yield* startSamplePartner({
      databaseUrl,
      host,
      port: kept.partner_port ?? 0,
      secrets: () => [state.read().seeded?.signing_secret ?? []].flat(),
      consoleUrl: () => partnerConsoleUrl(consoleUrl, state.read().partner_sign_in_token),
      onFirstWebhook: ({ event_type: type, event_id: id }) => {
        display.print(`first webhook ${type} · ${id} · received and verified after ${process.uptime().toFixed(1)} s`)
      },
    })
    yield* state.update({ partner_port: partner.port })
    const seeded = kept.seeded ?? (yield* seedPartner(partner.webhooksUrl))
    yield* state.update({ seeded })
    const signInToken = yield* signInTokenOf(
      { name: "Sandbox", role: "admin", organizationId: null },
      kept.sign_in_token,
    )
    const partnerSignInToken = yield* signInTokenOf(
      { name: "Sample partner", role: "partner-admin", organizationId: seeded.organization_id },
      kept.partner_sign_in_token,
    )
    yield* state.update({ sign_in_token: signInToken, partner_sign_in_token: partnerSignInToken })
    const signInUrl = `${consoleUrl}/sign-in/${signInToken}`
    const partnerSignInUrl = partnerConsoleUrl(consoleUrl, partnerSignInToken)
    const sample = yield* Effect.promise(() => writeSampleRecipients(folder))
    const recipients = options.recipients ?? kept.campaign?.recipients ?? sample
    const earlier = kept.campaign?.recipients === recipients ? kept.campaign : undefined
    const campaign = earlier ?? { id: yield* draftCampaign(seeded.program_id), recipients }
    yield* state.update({ campaign })

    const environment = { DATABASE_URL: databaseUrl, SECRETS_KEY, CURSOR_KEY }
    const addressLines = [
      ["documents", `${baseUrl}/docs#key=${seeded.api_key}`, "quick start and reference, with the key filled in"],
      ["sample partner", partner.url, "its webhooks, verified"],
      ["mail catcher", mail.url, `the newest ${MAX_MAILS.toLocaleString("en")} e-mails`],
      ["operator console", signInUrl, "signed in as an admin"],
      ["partner's view", partnerSignInUrl, "the console, signed in as the sample partner"],
      ["keys, commands", folder, "sandbox.json, commands.txt, logs"],
    ] as const
    for (const [name, url, note] of addressLines) display.print(`${name.padEnd(18)}${url}   ${note}`)
    if (earlier !== undefined) display.print(EARLIER_RUN)
    display.step("starting the API, the worker and the console")
    yield* Effect.andThen(apiPort.release, consolePort.release)
    const [failed] = yield* Effect.all(
      [
        startServices({
          ...{ folder, baseUrl, consoleUrl, smtpUrl: mail.smtpUrl, environment },
          onRestart: display.print,
        }),
        launchCampaign(campaign.id, campaign.recipients, environment),
      ],
      { concurrency: "unbounded" },
    )

    const inboundUrl = `${baseUrl}/v1/partners/consumer/webhooks/${seeded.endpoint_id}`

    const run = Effect.gen(function* () {
      yield* Effect.promise(() =>
        writePrivate(addresses, {
          base_url: baseUrl,
          console_url: signInUrl,
          partner_console_url: partnerSignInUrl,
          ...seeded,
          campaign_id: campaign.id,
          inbound_url: inboundUrl,
          database_url: databaseUrl,
          partner_url: partner.url,
          mail_url: mail.url,
        }),
      )
      const client = createClient({ apiKey: seeded.api_key, baseUrl })
      yield* Effect.forkScoped(partner.pull(client))
      yield* Effect.forkScoped(partner.simulate(client, seeded.endpoint_id))
      yield* Effect.forkScoped(showCommands(display, { folder, baseUrl, inboundUrl, seeded, client }))
      return yield* showProgress(campaign.id, display, {
        mails: mail.count,
        unsubscribed: mailboxes.unsubscribed,
        partner: partner.counts,
      })
    })
    return yield* Effect.raceFirst(run, failed)
  }).pipe(
    Effect.provide(
      servicesWith(uncheckedCipher).pipe(
        Layer.provideMerge(Layer.succeed(PreflightSettings, { signsMail: null, publicBaseUrl: baseUrl })),
        Layer.provide(
          Layer.succeed(Target, {
            ...{ name: "the database of DATABASE_URL", database, sandboxUrl: baseUrl },
            ...{ livemode: false, allowHttp: true, consoleUrl: Effect.succeed(consoleUrl) },
            secretsKey: secretsKey.parse(ConfigProvider.fromUnknown({ SECRETS_KEY })),
          }),
        ),
      ),
    ),
  )
})

/** The sample partner's link. It has another host than the admin's, so that a browser keeps the sessions of both. */
const partnerConsoleUrl = (consoleUrl: string, token: string | undefined): string =>
  `${consoleUrl.replace("//127.0.0.1:", "//localhost:")}/sign-in/${token ?? ""}`

const EARLIER_RUN = `
This continues an earlier run. The mail catcher begins empty, because e-mails are not kept from one run to the next.
To start from scratch: ${COMMANDS.sandbox} --fresh
`

/** How the data of a run is used again. */
const farewell = ({ folder }: Options): string =>
  process.env["DATABASE_URL"]
    ? "Stopped. The data is kept in the database of DATABASE_URL. The next start continues with it."
    : `Stopped. The data is kept in ${folder}. The next start continues with it, \`${COMMANDS.sandbox} --fresh\` starts from scratch.`

const main = Effect.gen(function* () {
  const options = yield* readOptions(process.argv.slice(2))
  const display = openDisplay()
  if (typeof options === "string") return display.print(options)
  const printOnInterrupt = (text: string) => Effect.onInterrupt(() => Effect.sync(() => display.print(text)))
  return yield* sandbox(options, display).pipe(
    printOnInterrupt("Stopping."),
    Effect.scoped,
    Effect.catchDefect((defect) =>
      // An error of the file system, such as a full disk, is not a fault of the sandbox.
      defect instanceof Error && "syscall" in defect
        ? Effect.fail(new SandboxError({ message: defect.message }))
        : Effect.die(defect),
    ),
    printOnInterrupt(farewell(options)),
  )
}).pipe(
  Effect.catchTag(
    ["SandboxError", "DatabaseUnreachable", "MigrationMismatch", "MigrationFailed", "SchemaLocked", "NotOwner"],
    ({ message }) =>
      Effect.sync(() => {
        process.stderr.write(`${message}\n`)
        process.exitCode = 1
      }),
  ),
)

// A terminated npm ends without its command, whose parent process changes then.
const { ppid } = process
const stopIfOrphaned = () => process.ppid === ppid || process.kill(process.pid, "SIGTERM")
if (process.env["npm_lifecycle_event"] !== undefined) setInterval(stopIfOrphaned, 500).unref()

runProcess(Effect.provideService(main, References.MinimumLogLevel, "Warn"))
