import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { temporaryFolder } from "./temporaryFolder.ts"
import { runOnTerminal } from "./terminal.ts"

const ESCAPE = "\u001b["

it("shows one panel of 24 lines and 80 columns, with the addresses and the campaign always in sight", async () => {
  const folder = await temporaryFolder("terminal")
  const bad: string[] = []
  let hadAddresses = false
  const panelsIn = (text: string) => text.split("Outreach sandbox:").length - 1
  const terminal = runOnTerminal(folder, {
    onScreen: (screen) => {
      const text = screen.join("\n")
      const shown = /documents .*\/docs/.test(text) && /\/sign-in\//.test(text) && text.includes("mail catcher")
      hadAddresses ||= shown
      if (screen.length > 24 || (hadAddresses && !shown) || panelsIn(text) !== 1) bad.push(text)
    },
  })
  await terminal.shows(/first webhook outreach\.recipients_published\nevt_\w+ · received and verified after [\d.]+ s/)
  const panel = await terminal.shows(/sent 9\d\d · .*\n?.*opened \d+ · clicked/)
  expect(panel).toContain("Ctrl-C stops everything")
  const { console_url, partner_console_url } = JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8"))
  for (const url of [console_url, partner_console_url]) expect(panel.split("\n")).toContain(url)
  expect(bad).toEqual([])

  // Typed text leaves no trace.
  terminal.type("what\nis\nthis\n")
  await terminal.shows((lines) => {
    const text = lines.join("\n")
    return !/what|^is$|this$/m.test(text) && panelsIn(text) === 1
  })
  await terminal.resize(50, 12)
  const small = await terminal.shows((lines) => lines.length >= 12 && panelsIn(lines.slice(-12).join("\n")) === 1)
  expect(small.split("\n").slice(-12).join("\n")).toContain("/docs")
  await terminal.resize(80, 24)
  await terminal.shows(/received and verified/)

  terminal.type("\u0003")
  await terminal.shows(/Stopping/)
  expect(await terminal.ended).toBe(0)
  expect(terminal.lines().join("\n")).toMatch(/Stopped\. The data is kept in/)
  // Colours and synchronised output end with each frame. No other mode is set, which would have to be restored.
  const modes = terminal.output().split(`${ESCAPE}?`).slice(1)
  expect(new Set(modes.map((text) => Number.parseInt(text, 10)))).toEqual(new Set([2026]))
})

it("writes no colours with NO_COLOR, and ends immediately on a second Ctrl-C", async () => {
  const terminal = runOnTerminal(await temporaryFolder("terminal"), { environment: { NO_COLOR: "1" } })
  await terminal.shows(/running/)
  expect(terminal.output()).not.toContain(`${ESCAPE}1m`)
  terminal.type("\u0003")
  await terminal.shows(/Ctrl-C again ends it immediately/)
  // A sandbox that has nothing more to do may have ended in order.
  const again = setInterval(() => terminal.type("\u0003"), 100)
  expect([0, 130]).toContain(await terminal.ended)
  clearInterval(again)
})
