import { sign } from "@outreach/signature/node"
import { describe, expect, it } from "vitest"
import { projectServer, run, workspaceWith } from "./exampleProject.ts"

const [OLD, NEW] = ["secret_of_october", "secret_of_november"]
const server = projectServer(workspaceWith("signature", "webhook-verifier"), "cron", {
  prepare: async (project) => {
    await run(project, ["npm", "run", "check"])
    return { RUN_SECRETS: `${NEW} ${OLD}` }
  },
})

const lastRun = async (job: string) => {
  const jobs = (await (await fetch(`${server.url}/jobs`)).json()) as ReadonlyArray<{ readonly job: string }>
  return jobs.find((each) => each.job === job)
}
const now = Math.floor(Date.now() / 1000)
const bodyOf = (job: string) => JSON.stringify({ event_id: job, job, exit_code: 0, started_at: now, seconds: 1 })
const post = async (body: string, headers: Readonly<Record<string, string>>) => {
  const response = await fetch(`${server.url}/runs`, { method: "POST", body, headers })
  return [response.status, ((await response.json()) as { readonly error?: string }).error]
}

describe("the cron runs of examples/cron", () => {
  it("contain the exit code of a reported command, with the old and the new secret of a rotation", async () => {
    const report = (secrets: string) =>
      run(server.project, ["node", "src/report.ts", "backup", "sh", "-c", "exit 3"], {
        RUNS_URL: `${server.url}/runs`,
        RUN_SECRETS: secrets,
      })
    for (const secrets of [OLD, NEW, `${OLD} ${NEW}`]) await expect(report(secrets)).rejects.toThrow("sh -c exit 3")
    expect(await lastRun("backup")).toMatchObject({ exit_code: 3, runs: 3 })
    expect(server.printed().split("backup still signs with an old secret")).toHaveLength(2)
    await expect(report("")).rejects.toThrow("RUN_SECRETS is not set")
  })

  it("count a repeated report once, and reject one that isn't signed", async () => {
    const signed = (body: string, secret: string, timestamp = now) => ({
      "x-run-signature": sign(body, [secret], { timestamp }),
    })
    const body = bodyOf("cleanup")
    for (let i = 0; i < 2; i++) expect(await post(body, signed(body, NEW))).toEqual([200, undefined])
    expect(await lastRun("cleanup")).toMatchObject({ runs: 1 })
    const forged = bodyOf("forged")
    expect(await post(forged, signed(body, NEW))).toEqual([401, "no_match"])
    expect(await post(forged, signed(forged, "another"))).toEqual([401, "no_match"])
    expect(await post(forged, signed(forged, NEW, now - 3600))).toEqual([401, "timestamp_out_of_tolerance"])
    expect(await post(forged, {})).toEqual([401, "missing_header"])
    expect(await lastRun("forged")).toBeUndefined()
  })
})
