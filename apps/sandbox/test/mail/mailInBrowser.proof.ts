import { chrome, overhang, startBrowser, violations } from "@outreach/testing/startBrowser"
import { describe, expect, it } from "vitest"
import { composedMails } from "./composedMails.ts"

describe.skipIf("missing" in chrome)("in a browser", () => {
  const open = startBrowser()
  const screens = composedMails.flatMap(([name, mail]) =>
    [375, 1280].flatMap((width) => (["light", "dark"] as const).map((colors) => [name, width, colors, mail] as const)),
  )
  it.each(screens)("%s fits %d px, and its %s colours are legible", async (_, width, colorScheme, { html }) => {
    const { page } = await open({ viewport: { width, height: 800 }, colorScheme })
    // Only the pixel is requested.
    await page.route("**", (route) => route.abort())
    await page.setContent(html, { waitUntil: "commit" })
    expect(await overhang(page)).toBeLessThanOrEqual(0)
    expect(await violations(page, { runOnly: ["wcag2a", "wcag2aa"] })).toEqual([])
  })
})
