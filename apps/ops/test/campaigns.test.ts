import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, answer, refusal } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-campaigns-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const html = file("mail.html", "<p>Your link: https://l.test/{{ token }}</p>")

const create = async (flags: Record<string, string> = {}): Promise<ReadonlyArray<string>> => {
  const { id } = await answer("organizations", "create", "--name", "Acme")
  const program = await answer("programs", "create", "--organization", id, "--slug", "x", "--name", "X")
  const all = {
    program: program.id,
    name: "Spring",
    subject: "An invitation to {{ program_name }}",
    html,
    "window-start": "2099-03-01T09:00:00+01:00",
    "window-end": "2099-03-02T09:00:00Z",
    ...flags,
  }
  return ["campaigns", "create", ...Object.entries(all).flatMap(([flag, value]) => [`--${flag}`, value])]
}

describe("campaigns", () => {
  it("begin as drafts, with the window in UTC", async () => {
    expect(await answer(...(await create()))).toMatchObject({
      id: expect.stringMatching(/^cmp_[0-9a-f]{32}$/),
      status: "draft",
      kind: "traffic",
      window_start: "2099-03-01T08:00:00.000000Z",
      window_end: "2099-03-02T09:00:00.000000Z",
    })
    expect((await answer(...(await create({ kind: "survey" })))).kind).toBe("survey")
  })

  it("are scheduled, paused, scheduled again and cancelled", async () => {
    const { id } = await answer(...(await create()))
    const status = async (command: string) => (await answer("campaigns", command, id)).status
    expect(await status("schedule")).toBe("scheduled")
    expect(await status("pause")).toBe("paused")
    expect(await status("schedule")).toBe("scheduled")
    expect(await status("cancel")).toBe("cancelled")
    expect(await refusal("campaigns", "schedule", id)).toMatchObject({
      code: "campaign_not_in_status",
      status: "cancelled",
      exit: 1,
    })
  })

  it("are shown with their body and how far they have come", async () => {
    const { id } = await answer(...(await create()))
    expect(await answer("campaigns", "show", id)).toMatchObject({
      id,
      status: "draft",
      html: "<p>Your link: https://l.test/{{ token }}</p>",
      progress: { recipients: 0, published: 0, queued: 0, sent: 0, bounced: 0 },
    })
    const { stdout } = await run(["campaigns", "show", id])
    expect(stdout).toMatch(/░{40} 0%, 0 sent and 0 bounced of 0/)
  })

  it.each([
    ["does not exist", () => join(folder, "none.html")],
    ["is no regular file", () => folder],
    ["holds more than 1 MiB", () => file("big.html", "x".repeat(1_048_577))],
    ["is not text in UTF-8", () => file("latin1.html", new Uint8Array([0x3c, 0xe9, 0x3e]))],
    ["is not text in UTF-8", () => file("nul.html", "a\0b")],
    ["is blank", () => file("blank.html", " \n")],
  ])("refuse a body whose file %s", async (reason, path) => {
    expect(await refusal(...(await create({ html: path() })))).toMatchObject({ code: "html_unusable", reason, exit: 1 })
  })

  it.each([
    ["invalid_template", { html: file("misspelt.html", "{{ tokn }}") }],
    ["invalid_template", { subject: "{% if %}" }],
    ["invalid_window", { "window-end": "2099-03-01T08:00:00Z" }],
    ["invalid_window", { "window-start": "2020-01-01T00:00:00Z", "window-end": "2020-01-02T00:00:00Z" }],
    ["program_not_found", { program: `pgm_${"0".repeat(32)}` }],
  ])("are refused with one sentence: %s %o", async (code, flags) => {
    const args = await create(flags)
    expect(await refusal(...args)).toMatchObject({ code, exit: 1 })
    expect((await run(args)).stderr.trim().split("\n")).toHaveLength(1)
  })
})
