import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { beforeAll, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

const OLD = SECRETS_KEY.toString("base64")
const NEW = Buffer.alloc(32, 8).toString("base64")
const RING = `k2:${NEW},k1:${OLD}`

let organization: string
let endpoint: string
beforeAll(async () => {
  const seeded = await meanwhile(seedCampaign({ recipients: 1 }))
  organization = seeded.organization.id
  endpoint = seeded.endpoint.id
})

const json = async (command: string, keys: string) => {
  const { code, stdout, stderr } = await run(["keys-at-rest", command, "--output", "json"], { SECRETS_KEY: keys })
  expect(stderr).toBe("")
  return { code, ...JSON.parse(stdout) }
}

it("keys-at-rest lists the ciphertexts by key, and reseals them with the newest key", async () => {
  const { data } = await json("list", OLD)
  expect(data).toContainEqual({ table: "signing_secrets", key_id: "k1", ciphertexts: 1 })
  const resealed = await run(["keys-at-rest", "reseal"], { SECRETS_KEY: RING })
  expect(resealed).toEqual({ code: 0, stdout: "resealed  1\nalready   0\nunopened  0\n", stderr: "" })
  const counts = { resealed: 0, already: 0, unopened: 1 }
  expect(await json("reseal", OLD)).toMatchObject({ code: 1, error: { code: "ciphertexts_unopened", ...counts } })
  expect((await run(["keys-at-rest", "list"], { SECRETS_KEY: OLD })).stdout).toMatch(/^signing_secrets +– +1$/m)
  expect(await json("reseal", `k1:${OLD},k2:${NEW}`)).toMatchObject({ code: 0, resealed: 1 })
})

it.each<[string, () => ReadonlyArray<string>]>([
  ["secrets rotate", () => ["--organization", organization]],
  ["endpoints test", () => [endpoint]],
  ["clinicians erase", () => ["--organization", organization, "--npi", npi(0), "--yes"]],
  ["senders create", () => ["--organization", organization, "--from", "outreach@acme.test"]],
])(
  "a SECRETS_KEY that doesn't open the stored secrets makes %s fail with a sentence, and encrypts nothing",
  async (command, args) => {
    const secrets = () => meanwhile(SqlClient.SqlClient.use((sql) => sql`select from signing_secrets`))
    const { length } = await secrets()
    expect(await run([...command.split(" "), ...args()], { SECRETS_KEY: NEW })).toEqual({
      ...{ code: 1, stdout: "" },
      stderr:
        "SECRETS_KEY does not decrypt a stored secret; set it to the key that encrypted it, or check that DATABASE_URL points to the right database.\n",
    })
    expect(await secrets()).toHaveLength(length)
  },
)
