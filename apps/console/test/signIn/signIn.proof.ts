import { createServer } from "node:http"
import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { listen } from "@outreach/testing/listen"
import { chrome, startBrowser } from "@outreach/testing/startBrowser"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"

const test = startConsole()
const open = startBrowser()

let added = 0
const addLink = async (once: boolean) => {
  const name = `Dana ${++added}`
  const token = await test().run(function* () {
    const { id } = yield* addOperator({ name, role: "viewer", organizationId: null })
    return (yield* createSignInLink(id, { seconds: 3600, once })).token
  })
  return { name, url: `${test().url}/sign-in/${Redacted.value(token)}` }
}

/** Serves a page of another site with a link. */
const anotherSite = async (href: string) => {
  const server = createServer((_, response) => {
    response
      .writeHead(200, { "Content-Type": "text/html" })
      .end(`<!doctype html><title>chat</title><a href="${href}">link</a>`)
  })
  // Not of the console's host, so that it is another site.
  return `http://localhost:${await listen(server)}/`
}

const why = "missing" in chrome ? `: ${chrome.missing}` : ""

describe.skipIf("missing" in chrome)(`in a browser${why}`, () => {
  it("a link that was previewed signs in by its button, and keeps the operator signed in", async () => {
    const { name, url } = await addLink(true)
    await fetch(url)
    const { page } = await open()
    await page.goto(url)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Today", level: 1 }).waitFor()
    expect(await page.locator("nav.sections").textContent()).toContain(name)
    await page.goto(`${test().url}/campaigns`)
    await page.getByRole("heading", { name: "Campaigns", level: 1 }).waitFor()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.waitForURL("**/sign-in")
  })

  it("a link on another site opens its page for who is signed in", async () => {
    const { page } = await open()
    await page.goto((await addLink(false)).url)
    await page.getByRole("heading", { name: "Today", level: 1 }).waitFor()
    await page.goto(await anotherSite(`${test().url}/campaigns?status=sending`))
    await page.getByText("link").click()
    await page.getByRole("heading", { name: "Campaigns", level: 1 }).waitFor()
    expect(page.url()).toBe(`${test().url}/campaigns?status=sending`)
  })
})
