import { describe, expect, it } from "vitest"
import { changelog, parseChangelog, parseChangeset } from "../../src/docs/changelog.ts"
import { startApi } from "../startApi.ts"
import { shownOf } from "./samplesOf.ts"

describe("the changes of a package", () => {
  it("are read from a changeset, over the lines of its sentence", () => {
    const text = '---\n"@outreach/client": minor\n"@outreach/cursor": patch\n---\n\nDo this:\nit is new.\n'
    expect(parseChangeset(text)).toEqual({
      names: ["@outreach/client", "@outreach/cursor"],
      change: "Do this: it is new.",
    })
  })

  it("are read from a changelog by version, without updates of dependencies", () => {
    const text = `# @outreach/client

## 0.2.0

### Minor Changes

- 0a1b2c3: Read pages
  one by one.

### Patch Changes

- Do less.
- Updated dependencies [0a1b2c3]
  - @outreach/cursor@0.2.0

## 0.1.1

### Patch Changes

- Updated dependencies [0a1b2c3]
`
    expect(parseChangelog(text)).toEqual([
      { version: "0.2.0", changes: ["Read pages one by one.", "Do less."] },
      { version: "0.1.1", changes: [] },
    ])
  })
})

const api = startApi()

it("the changelog page shows every change under its package, and the release that runs", async () => {
  const text = await (await fetch(`${api().url}/docs/changelog`)).text()
  const plain = shownOf(text)
  const names = changelog.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(["@outreach/contract", "@outreach/client"]))
  for (const { name, releases } of changelog) {
    expect(releases.length).toBeGreaterThan(0)
    expect(text).toContain(`<section id="${name}">`)
    for (const { changes } of releases) {
      for (const change of changes) expect(plain).toContain(change.replaceAll("`", ""))
    }
  }
  const { version } = (await (await fetch(`${api().url}/v1/health`)).json()) as { version: string }
  expect(plain).toContain(`This deployment runs version ${version}`)
})
