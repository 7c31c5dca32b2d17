import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

const OLD = SECRETS_KEY.toString("base64")
const NEW = Buffer.alloc(32, 8).toString("base64")
const RING = `k2:${NEW},k1:${OLD}`

const json = async (command: string, keys: string) => {
  const { code, stdout, stderr } = await run(["keys-at-rest", command, "--output", "json"], { SECRETS_KEY: keys })
  expect(stderr).toBe("")
  return { code, ...JSON.parse(stdout) }
}
const usesOf = async (keys: string) => (await json("list", keys)).data

// Each test begins with what the old key encrypted.
beforeEach(() => json("reseal", `k1:${OLD},k2:${NEW}`))
beforeAll(async () => {
  for (let i = 0; i < 3; i++) await meanwhile(seedCampaign({ recipients: 0 }))
  const { organization } = await meanwhile(seedCampaign({ recipients: 0 }))
  await meanwhile(
    SqlClient.SqlClient.use((sql) => sql`delete from signing_secrets where organization_id = ${organization.id}`),
  )
  await runJson("senders", "create", "--organization", organization.id, "--from", "outreach@acme.test")
})

describe("keys-at-rest", () => {
  it("lists how much is stored under which key, and reseals it with the newest", async () => {
    expect(await usesOf(OLD)).toEqual([
      { table: "signing_secrets", key_id: "k1", ciphertexts: 3 },
      { table: "erasure_keys", key_id: "k1", ciphertexts: 0 },
      { table: "dkim_keys", key_id: "k1", ciphertexts: 1 },
    ])
    expect(await usesOf(RING)).toEqual([
      { table: "signing_secrets", key_id: "k2", ciphertexts: 0 },
      { table: "signing_secrets", key_id: "k1", ciphertexts: 3 },
      { table: "erasure_keys", key_id: "k2", ciphertexts: 0 },
      { table: "erasure_keys", key_id: "k1", ciphertexts: 0 },
      { table: "dkim_keys", key_id: "k2", ciphertexts: 0 },
      { table: "dkim_keys", key_id: "k1", ciphertexts: 1 },
    ])
    const resealed = await run(["keys-at-rest", "reseal"], { SECRETS_KEY: RING })
    expect(resealed).toEqual({ code: 0, stdout: "resealed  4\nalready   0\nunopened  0\n", stderr: "" })
    expect(await json("reseal", RING)).toEqual({ code: 0, resealed: 0, already: 4, unopened: 0 })
    expect(await usesOf(`k2:${NEW}`)).toEqual([
      { table: "signing_secrets", key_id: "k2", ciphertexts: 3 },
      { table: "erasure_keys", key_id: "k2", ciphertexts: 0 },
      { table: "dkim_keys", key_id: "k2", ciphertexts: 1 },
    ])
  })

  it("fails when no key opens a ciphertext, and says how many", async () => {
    await json("reseal", RING)
    const failed = await json("reseal", OLD)
    expect(failed).toMatchObject({
      code: 1,
      error: { code: "ciphertexts_unopened", resealed: 0, already: 0, unopened: 4 },
    })
    expect((await run(["keys-at-rest", "list"], { SECRETS_KEY: OLD })).stdout).toBe(
      "table            key_id  ciphertexts\nsigning_secrets  k1      0\nsigning_secrets  –       3\nerasure_keys     k1      0\ndkim_keys        k1      0\ndkim_keys        –       1\n",
    )
  })
})
