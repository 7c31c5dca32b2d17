import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { renderChanges } from "../../src/docs/changelog.ts"
import { startApi } from "../startApi.ts"
import { shownOf } from "./samplesOf.ts"

const api = startApi()
const CHANGESETS = new URL("../../../../.changeset/", import.meta.url)

it("the changelog page shows every change of the packages that partners install, and the release that runs", async () => {
  const text = await (await fetch(`${api().url}/docs/changelog`)).text()
  const sections = new Map(
    text
      .split('<h3 id="')
      .slice(1)
      .map((section) => [section.split('"')[0]!, shownOf(section)]),
  )
  const names = ["contract", "client", "webhook-verifier", "error-catalog", "retry-policy", "signature"]
  expect([...sections.keys()]).toEqual(names.map((name) => `@outreach/${name}`))
  for (const [name, section] of sections) {
    const changesets = readdirSync(CHANGESETS).map((file) =>
      readFileSync(new URL(file, CHANGESETS), "utf8").split("---\n"),
    )
    for (const [, , change] of changesets.filter(([, packages]) => packages?.includes(`"${name}"`))) {
      expect(section).toContain(change!.trim().replaceAll(/\s+/g, " ").replaceAll("`", ""))
    }
  }
  const { version } = (await (await fetch(`${api().url}/v1/health`)).json()) as { version: string }
  expect(shownOf(text)).toContain(`This deployment runs version ${version}`)
})

it("unreleased changes precede the changelog of `changeset version`, which is shown without the names of commits", () => {
  const entry = "## 0.2.0\n\n### Patch Changes\n\n- f23051d: Fix one.\n\n  It failed.\n"
  const updates = "- Updated dependencies [f23051d]\n- Updated dependencies [a90b10c]\n  - @outreach/signature@0.2.0\n"
  expect(renderChanges(["Add two."], `# @outreach/client\n\n${entry}${updates}\n## 0.1.0\n`)).toBe(
    `#### Next version\n\n- Add two.\n\n#### 0.2.0\n\n##### Patch Changes\n\n- Fix one.\n\n  It failed.
- Updated dependencies:\n  - @outreach/signature@0.2.0\n\n#### 0.1.0\n`,
  )
  expect(renderChanges([], "")).toBe("Nothing yet.")
})
