import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

const OTHER_KEY = Buffer.alloc(32, 9).toString("base64")
const SENTENCE =
  "SECRETS_KEY does not open a secret that is stored; set it to the key that encrypted it, or check that DATABASE_URL names the right database.\n"

const secretCount = SqlClient.SqlClient.use((sql) => sql`select from signing_secrets`).pipe(
  Effect.map(({ length }) => length),
)

let organization: string
let endpoint: string
beforeAll(async () => {
  const seeded = await meanwhile(seedCampaign({ recipients: 1 }))
  organization = seeded.organization.id
  endpoint = seeded.endpoint.id
  await meanwhile(rotateSecret(seeded.organization.id, 0))
})

it.each<[string, () => ReadonlyArray<string>]>([
  ["secrets rotate", () => ["--organization", organization]],
  ["endpoints test", () => [endpoint]],
  ["clinicians erase", () => ["--organization", organization, "--npi", npi(0), "--yes"]],
  ["senders create", () => ["--organization", organization, "--from", "outreach@acme.test"]],
])("ops %s says in a sentence that SECRETS_KEY is wrong, and stores nothing under it", async (command, args) => {
  const before = await meanwhile(secretCount)
  const ended = await run([...command.split(" "), ...args()], { SECRETS_KEY: OTHER_KEY })
  expect(ended).toEqual({ code: 1, stdout: "", stderr: SENTENCE })
  expect(await meanwhile(secretCount)).toBe(before)
})
