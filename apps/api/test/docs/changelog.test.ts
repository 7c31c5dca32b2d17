import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { shownOf } from "./samplesOf.ts"

const api = startApi()
const CHANGESETS = new URL("../../../../.changeset/", import.meta.url)

it("the changelog page shows every change under its package, and the release that runs", async () => {
  const text = await (await fetch(`${api().url}/docs/changelog`)).text()
  const changesets = readdirSync(CHANGESETS).filter((file) => file.endsWith(".md") && file !== "README.md")
  for (const file of changesets) {
    const [, names, change] = readFileSync(new URL(file, CHANGESETS), "utf8").split("---\n")
    for (const [, name] of names!.matchAll(/"(@outreach\/(?!service)[\w-]+)"/g)) {
      const section = text.split(`<h3 id="${name}">`)[1]!.split("<h3")[0]!
      expect(shownOf(section)).toContain(change!.trim().replaceAll(/\s+/g, " ").replaceAll("`", ""))
    }
  }
  const { version } = (await (await fetch(`${api().url}/v1/health`)).json()) as { version: string }
  expect(shownOf(text)).toContain(`This deployment runs version ${version}`)
})
