import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const seed = () => meanwhile(seedCampaign({ recipients: 3 }))

it("prints the planned change in one sentence, or its count as JSON, and changes no data without --yes or a terminal", async () => {
  const { id } = (await seed()).campaign
  const cancel = ["campaigns", "cancel", id]
  const { code, stdout, stderr } = await run(cancel)
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
  expect(stderr).toMatch(/^Nothing was done: give --yes to cancel “Spring”: 3 of 3 recipients of [^\n]+\.\n$/)
  expect(await runFailing(...cancel)).toMatchObject({ code: "not_confirmed", count: 3, exit: 1 })
  expect((await runJson("campaigns", "show", id)).status).toBe("draft")
})

it("prompts only on a terminal without --output json, with no as the default", async () => {
  const { id } = (await seed()).campaign
  const cancel = ["campaigns", "cancel", id]
  for (const key of ["n", "enter"]) expect((await run(cancel, {}, key)).code).toBe(1)
  expect((await run([...cancel, "--output", "json"], {}, "y")).code).toBe(1)
  expect((await runJson("campaigns", "show", id)).status).toBe("draft")
  expect((await run(cancel, {}, "y")).code).toBe(0)
  expect((await runJson("campaigns", "show", id)).status).toBe("cancelled")
})

it("doesn't prompt for a command that would make no change", async () => {
  const { program, campaign } = await seed()
  const remove = ["suppressions", "remove", "--program", program.id, "--npi", npi(9), "--reason", "asked"]
  expect(await runJson(...remove)).toMatchObject({ removed: 0 })
  await runJson("campaigns", "cancel", campaign.id, "--yes")
  expect(await runFailing("campaigns", "cancel", campaign.id)).toMatchObject({ code: "campaign_not_in_status" })
})
