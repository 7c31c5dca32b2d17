import { execFile } from "node:child_process"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { compileCache } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { expect, it } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi } from "../startApi.ts"

const POLLER = fileURLToPath(import.meta.resolve("@outreach/examples/poller"))

const api = startApi()

it("the poller of the examples stores each event of the feed once, and continues from its checkpoint", async () => {
  const { campaign, key } = await api().seed(1)
  const folder = temporaryFolder("poller")
  const file = join(folder, "events.db")
  const poll = async () => {
    const args = [POLLER, "--once", file]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...compileCache, OUTREACH_KEY: key, OUTREACH_URL: api().url },
    })
    return stdout
  }
  const stored = () => {
    using database = new DatabaseSync(file)
    return database
      .prepare("select event_id from events order by event_id")
      .all()
      .map((row) => row["event_id"])
  }

  const published = await api().run(publishOutcomes(campaign, ["outreach.email_sent", "outreach.email_opened"]))
  expect(await poll()).toBe("2 events stored\n")
  published.push(...(await api().run(publishOutcomes(campaign, ["outreach.email_clicked"]))))
  expect(await poll()).toBe("1 events stored\n")
  expect(stored()).toEqual(published.sort())
})
