import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/eventually"
import { until } from "@outreach/testing/until"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { createCampaign, createPartner } from "./createPartner.ts"
import { mailGate } from "./mailGate.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const RECIPIENTS = 120
/** The mail server accepts this number before the freeze, so that the organization moves in the middle of its campaign. */
const MAILED_BEFORE = 40
const PER_MINUTE = 1200

type Place = "source" | "target"

/** A step of a move, as `ops organizations plan-move` prints it. */
interface Step {
  readonly at: Place | "both"
  readonly commands: ReadonlyArray<string>
  readonly statements: ReadonlyArray<string>
}

it("moves an organization to another server in the middle of a campaign: no webhook is lost, and nobody is mailed twice", async () => {
  const folder = await temporaryFolder("move")
  await buildArtifact(folder)
  const source = await startPostgres({ settings: { wal_level: "logical", max_wal_senders: "10" } })
  onTestFinished(source.stop)
  const target = await startPostgres()
  // Before the source, whose stop would wait for the connection of this subscriber.
  onTestFinished(target.stop)
  const servers = { source, target }
  const mail = await mailGate()
  mail.accept(MAILED_BEFORE / 2)
  const serviceOn = (server: typeof source) =>
    artifactIn(folder, () => ({ DATABASE_URL: server.url, SMTP_URL: mail.url }))
  const services = { source: serviceOn(source), target: serviceOn(target) }
  const query = <Row extends object>(at: Place, text: string, values: ReadonlyArray<unknown> = []) =>
    withClient(servers[at].url, async (client) => (await client.query<Row>(text, [...values])).rows)

  for (const at of ["source", "target"] as const) {
    await services[at].ops("migrate")
    await services[at].start("worker")
  }
  const { opsJson } = services.source

  const partner = await createPartner(opsJson)
  const organizationId = partner.ofAcme[1]!
  const mailed = (count: number) => until(mail, ({ messages }) => messages.length >= count)
  const flags = ["--per-minute", String(PER_MINUTE)]
  const campaign = await createCampaign(opsJson, {
    programId: partner.programId,
    folder,
    recipients: RECIPIENTS,
    flags,
  })

  const { steps } = (await opsJson("organizations", "plan-move", organizationId)) as { steps: Array<Step> }
  const [publish, subscribe, copying, freeze, compare, shrink, keepOne, serve, ...cleanUp] = steps as [
    ...[Step, Step, Step, Step, Step, Step, Step, Step],
    ...Array<Step>,
  ]
  const runCommands = async ({ at, commands }: Step, ...more: ReadonlyArray<string>) => {
    for (const command of commands) await services[at as Place].ops(...command.split(" ").slice(1), ...more)
  }
  /** Runs a step on one server as psql would, and returns the rows of its last statement. */
  const run = (step: Step, at = step.at as Place) =>
    withClient(servers[at].url, async (client) => {
      let rows: Array<Record<string, unknown>> = []
      for (const statement of step.statements) {
        rows = (await client.query(statement.replace(/connection '[^']*'/, `connection '${source.url}'`))).rows
      }
      return rows
    })

  await opsJson("campaigns", "schedule", campaign)
  await mailed(MAILED_BEFORE / 2)
  await run(publish)
  await run(subscribe)
  await eventually(
    () => run(copying),
    (tables) => tables.length === 0,
  )
  mail.accept(MAILED_BEFORE / 2)
  await mailed(MAILED_BEFORE)

  mail.accept()
  await runCommands(freeze)
  await withClient(source.url, async (client) => {
    const [note, look] = freeze.statements as [string, string]
    await client.query(note)
    await eventually(
      async () => (await client.query(look)).rows[0].drained,
      (drained) => drained === true,
    )
  })
  const sourceRows = await run(compare, "source")
  // The clock of the source when the organization left.
  const clock = "select last::text from organization_clock where organization_id = $1"
  const [left] = await query<{ last: string }>("source", clock, [organizationId])
  expect(await run(compare, "target")).toEqual(sourceRows)
  expect(await query("target", clock, [organizationId])).toEqual([left])
  await run(shrink)
  await run(keepOne)
  await runCommands(serve, "--yes")
  await mailed(RECIPIENTS)
  await partner.receives("outreach.email_sent", RECIPIENTS)
  expect(await query("target", "select subenabled from pg_subscription")).toEqual([{ subenabled: true }])
  expect(new Set(mail.messages.map(({ to }) => to[0])).size).toBe(mail.messages.length)
  // The source wrote nothing more for it.
  expect(await query("source", clock, [organizationId])).toEqual([left])

  for (const step of cleanUp) await run(step)
  expect((await run(compare, "source")).filter(({ count }) => count !== "0")).toEqual([])
  expect((await run(compare, "target")).find(({ table }) => table === "recipients")).toMatchObject({
    count: String(RECIPIENTS),
  })
})
