import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { expect, onTestFinished, test } from "vitest"
import { cloneDatabase, createTemplate, postgresUrl } from "../src/testDatabase.ts"
import { query } from "./query.ts"

const server = await postgresUrl()

/** Returns a unique template name. The template is removed after the test. */
function templateName(): string {
  const name = `t_${randomBytes(6).toString("hex")}`
  onTestFinished(async () => {
    if ((await databases(name)).length === 0) return
    await query(server, `alter database ${name} with is_template false`)
    await query(server, `drop database ${name} with (force)`)
  })
  return name
}

async function databases(name: string): Promise<unknown[]> {
  return await query(server, `select datname from pg_database where datname like '${name}%'`)
}

async function migrate(url: string): Promise<void> {
  await query(url, "create table things as select 1 as thing")
}

test("concurrent requests for a template share one migration and get separate clones; it accepts no connections", async () => {
  const name = templateName()
  let migrations = 0
  const clones = await Promise.all(
    Array.from({ length: 6 }, async () => {
      await createTemplate(server, name, async (url) => {
        migrations += 1
        await migrate(url)
      })
      return await cloneDatabase(server, name)
    }),
  )
  expect(migrations).toBe(1)
  await Promise.all(clones.map((clone, index) => query(clone.url, `update things set thing = ${index}`)))
  const seen = await Promise.all(clones.map((clone) => query(clone.url, "select thing from things")))
  expect(seen).toEqual(clones.map((_, index) => [{ thing: index }]))
  await Promise.all(clones.map((clone) => clone.drop()))
  const template = Object.assign(new URL(server), { pathname: `/${name}` })
  await expect(query(template.href, "select 1")).rejects.toThrow("not currently accepting connections")
  expect(await databases(name)).toEqual([{ datname: name }])
})

test("a migration that fails can be tried again", async () => {
  const name = templateName()
  const failing = createTemplate(server, name, async (url) => {
    await migrate(url)
    throw new Error("the second step is wrong")
  })
  await expect(failing).rejects.toThrow("the second step is wrong")
  await createTemplate(server, name, migrate)
})

test("a template that a killed process left unfinished is created again", async () => {
  const name = templateName()
  await query(server, `create database ${name}`)
  await createTemplate(server, name, migrate)
  const clone = await cloneDatabase(server, name)
  expect(await query(clone.url, "select thing from things")).toEqual([{ thing: 1 }])
  await clone.drop()
})

test("a migration that leaves a connection open fails", async () => {
  const leaked: Client[] = []
  const leaking = createTemplate(server, templateName(), async (url) => {
    leaked.push(await leak(url, "the migration"))
  })
  await expect(leaking).rejects.toThrow("The migration left connections open: the migration (idle since ")
})

test("a leaked connection fails the drop, which names it but not its data, and the database is gone all the same", async () => {
  const name = templateName()
  await createTemplate(server, name, migrate)
  const clone = await cloneDatabase(server, name)
  const client = await leak(clone.url, "a forgetful test")
  await client.query("select 'clinician@example.com'")
  const error = await clone.drop().catch((reason: unknown) => String(reason))
  expect(error).toMatch(/left open: a forgetful test \(idle since \d{4}-[^)]+\)\.$/)
  expect(error).not.toContain("clinician")
  expect(await databases(name)).toEqual([{ datname: name }])
})

async function leak(url: string, application: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: application })
  // The server ends it in the drop.
  client.on("error", () => {})
  await client.connect()
  return client
}
