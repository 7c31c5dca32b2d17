import { expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const test = startConsole()

it("shows a page that says so at an address of nothing", async () => {
  const admin = await test().as("admin")
  const answer = await admin.get("/nothing")
  expect(answer.status).toBe(404)
  expect(answer.words).toContain("Not found")
})

it("leads on from an error to the list of its section", async () => {
  const admin = await test().as("admin")
  const { status, document } = await admin.get(`/campaigns/cmp_${"0".repeat(32)}`)
  expect(status).toBe(404)
  const links = [...document.querySelectorAll("main nav a")].map((link) => link.getAttribute("href"))
  expect(links).toEqual(["/campaigns", "/"])
})

it("lets nothing but its own files into a page", async () => {
  const admin = await test().as("admin")
  const { headers, document } = await admin.get("/nothing")
  expect(headers.get("content-security-policy")).toContain("default-src 'none'")
  for (const element of document.querySelectorAll("script, link[rel=stylesheet], link[rel=icon]")) {
    const path = element.getAttribute("src") ?? element.getAttribute("href")
    const file = await fetch(`${test().url}${path}`)
    expect(file.status).toBe(200)
    expect(file.headers.get("cache-control")).toContain("immutable")
  }
  expect(document.querySelectorAll("script:not([src]), style, [style]")).toHaveLength(0)
})
