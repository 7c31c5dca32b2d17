/** Creates the light and dark pictures of README.md: the campaign page in the console of a running sandbox. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { chromium } from "playwright-core"
import { runSandbox } from "./runSandbox.ts"

const IMAGES = join(import.meta.dirname, "../../../docs/images")

const chrome = findProgram("chromium")
if ("missing" in chrome) throw new Error(`The pictures need a browser: ${chrome.missing}`)

const ends: Array<() => Promise<unknown>> = []
const atEnd = (end: () => Promise<unknown>) => void ends.push(end)
const folder = temporaryFolder("picture", atEnd)
try {
  const sandbox = runSandbox(folder, { atEnd })
  const { console_url, campaign_id } = await sandbox.addresses()
  const browser = await chromium.launch({ executablePath: chrome.program, args: ["--no-sandbox"] })
  ends.push(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  page.setDefaultTimeout(240_000)
  await page.goto(console_url)
  // The clinicians act by themselves; becoming a completer is the last step.
  const completers = async () => {
    await page.goto(new URL(`/campaigns/${campaign_id}`, console_url).href)
    return page.locator("tr", { hasText: /^completer/ }).allTextContents()
  }
  await eventually(completers, (rows) => rows.some((row) => /^completer *[1-9]/.test(row)), 240_000)
  mkdirSync(IMAGES, { recursive: true })
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(IMAGES, `sandbox-${colorScheme}.png`) })
  }
} finally {
  for (const end of ends.reverse()) await end()
}
