import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdir, readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { postgresUrl } from "../src/postgresUrl.ts"
import { query } from "./query.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

async function runVitest(filter: string, env: Record<string, string>): Promise<{ code: number; output: string }> {
  const run = spawn(process.execPath, [vitest, "run", filter], {
    cwd: fileURLToPath(new URL("./run", import.meta.url)),
    env: { PATH: process.env["PATH"], NO_COLOR: "1", ...env },
  })
  let output = ""
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (chunk) => (output += chunk))
  const [code] = await once(run, "close")
  return { code, output }
}

async function reports(folder: string): Promise<{ made: string; name: string; server: string }[]> {
  const files = (await readdir(folder)).sort()
  return await Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), "utf8"))))
}

test("the projects of a run share one server and one template, and the server ends with the run", async () => {
  const folder = await temporaryFolder()
  const { code, output } = await runVitest("clean", { REPORT_FOLDER: folder })
  expect(output).toContain("2 passed")
  expect(code).toBe(0)
  const [one, two] = await reports(folder)
  expect(one?.server).toBeDefined()
  expect(two?.server).toBe(one?.server)
  expect(two?.made).toBe(one?.made)
  expect(two?.name).not.toBe(one?.name)
  await expect(query(one?.server ?? "", "select 1")).rejects.toThrow("ECONNREFUSED")
})

test("DATABASE_URL serves a whole run, and the clones are gone after it", async () => {
  const folder = await temporaryFolder()
  const serverUrl = await postgresUrl()
  expect((await runVitest("clean", { REPORT_FOLDER: folder, DATABASE_URL: serverUrl })).code).toBe(0)
  const [one, two] = await reports(folder)
  expect([one?.server, two?.server]).toEqual([serverUrl, serverUrl])
  const left = "select count(*)::int as left from pg_database where datname like 'example\\_%\\_%'"
  expect(await query(serverUrl, left)).toEqual([{ left: 0 }])
})

test("a file that leaks a connection fails though its tests pass", async () => {
  const { code, output } = await runVitest("leaky", {})
  expect(output).toContain("Connections to the test database were left open: forgotten (idle since ")
  expect(code).toBe(1)
})

test("a run whose tests need no database starts no server", async () => {
  // The address is looked at when the server is needed.
  const wrong = { DATABASE_URL: "mysql://localhost/x", REPORT_FOLDER: await temporaryFolder() }
  expect((await runVitest("pure", wrong)).code).toBe(0)
  const { code, output } = await runVitest("clean", wrong)
  expect(output).toContain("DATABASE_URL is not a postgres:// address.")
  expect(code).toBe(1)
})
