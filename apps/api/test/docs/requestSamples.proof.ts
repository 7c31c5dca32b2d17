import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { SCOPES } from "@outreach/contract"
import { findProgram } from "@outreach/debian-packages/findProgram"
import type { ProgramName } from "@outreach/debian-packages/programs"
import { verify } from "@outreach/signature"
import { listen } from "@outreach/testing/listen"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Struct } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PAGES, pathOf } from "../../src/docs/layout.ts"
import { KEY_PLACEHOLDER, requests } from "../../src/docs/requestSamples.ts"
import { samplesOf as renderSamples } from "../../src/docs/sampleLanguages.ts"
import { startApi } from "../startApi.ts"
import { environmentOf, type Tool } from "./environmentOf.ts"
import { samplesOf } from "./samplesOf.ts"
import { type SampleValues, seedSamples } from "./seedSamples.ts"

type Command = readonly [program: string, ...ReadonlyArray<string>]

interface Language {
  readonly extension: string
  readonly name: ProgramName
  readonly run: (tool: Tool, file: string) => Command
  /** Commands that check and compile all files, each of which is in a separate folder. Default none. */
  readonly compile?: (tool: Tool) => ReadonlyArray<Command>
}

const LANGUAGES: ReadonlyArray<Language> = [
  { extension: "sh", name: "python", run: (_, file) => ["sh", "-eu", file] },
  { extension: "mjs", name: "python", run: (_, file) => [process.execPath, file] },
  { extension: "py", name: "python", run: ({ program }, file) => [program, "-W", "error", file] },
  {
    extension: "go",
    name: "go",
    compile: ({ program }) => [
      ["sh", "-c", '"$0" -d . | diff /dev/null - >&2', join(dirname(program), "gofmt")],
      [program, "vet", "./..."],
      [program, "build", "-o", "bin/", "./..."],
    ],
    run: (_, file) => [`bin/${dirname(file)}`],
  },
  { extension: "java", name: "java", run: ({ program }, file) => [join(dirname(program), "java"), file] },
  {
    extension: "php",
    name: "php",
    run: ({ program }, file) => [program, "-n", "-d", "error_reporting=-1", "-d", "display_errors=stderr", file],
  },
  { extension: "rb", name: "ruby", run: ({ program }, file) => [program, "--disable-gems", "-w", file] },
]

/** Contains the programs, and the cache of the Go compiler. */
const home = temporaryFolder("samples", afterAll)

const tools = LANGUAGES.map((language) => ({ ...language, tool: findProgram(language.name) }))

/** Writes programs into folders and compiles them. Returns a function that runs one, and returns the status and the body that it prints. */
const install = async (
  { name, extension, tool, compile, run }: (typeof tools)[number],
  code: ReadonlyMap<string, string>,
) => {
  if ("missing" in tool) throw new Error(tool.missing)
  const folder = mkdtempSync(join(home, extension))
  const fileOf = (sample: string) => join(sample, `${sample}.${extension}`)
  for (const [sample, text] of code) {
    mkdirSync(join(folder, sample))
    writeFileSync(join(folder, fileOf(sample)), text)
  }
  writeFileSync(join(folder, "go.mod"), "module samples\n")
  const env = environmentOf(name, tool, home)
  const execute = async ([program, ...args]: Command) => {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder, env, maxBuffer: 2 ** 26 })
    expect(stderr).toBe("")
    return stdout
  }
  for (const command of compile?.(tool) ?? []) await execute(command)
  return async (sample: string) => {
    const output = await execute(run(tool, fileOf(sample)))
    return { status: Number(/\d{3}/.exec(output)?.[0]), body: /\{.*\}/s.exec(output)?.[0] ?? "" }
  }
}

const api = startApi(undefined, { PUBLIC_BASE_URL: "http://api.outreach.test" })
let values: SampleValues
/** Code of all pages by file name. */
let shown: ReadonlyMap<string, string>

beforeAll(async () => {
  writeFileSync(join(home, ".curlrc"), "include\n")
  values = await seedSamples(api())
  const pages = await Promise.all(
    Struct.keys(PAGES).map(async (page) => (await fetch(api().url + pathOf(page))).text()),
  )
  shown = new Map(pages.flatMap((page) => [...samplesOf(page)]))
})

/** Runs the samples of a language. Returns the responses by name, without values that differ between two responses to the same request. */
const responsesTo = async (language: (typeof tools)[number]) => {
  const key = await api().issue(values.organization.id, SCOPES)
  // curl encodes in another way, which makes another request for an idempotency key.
  const fill = (text: string) =>
    values
      .fill(text.replaceAll(KEY_PLACEHOLDER, key.text).replaceAll("http://api.outreach.test", api().url))
      .replaceAll("nightly-2026-11-21", `nightly-${randomUUID()}`)
  const codeOf = (name: string) => fill(shown.get(`${name}.${language.extension}`)!)
  const run = await install(language, new Map(Struct.keys(requests).map((name) => [name, codeOf(name)])))
  const responses: Record<string, { readonly status: number; readonly body: string }> = {}
  for (const name of Struct.keys(requests)) {
    const { status, body } = await run(name)
    responses[name] = { status, body: body.replaceAll(/"(timestamp|request_id|url)":"[^"]*"/g, "") }
  }
  return responses
}

describe.each(tools)("the samples of .$extension", (language) => {
  const { extension, tool } = language

  // curl.test.ts compares the responses to curl with the contract.
  it.skipIf("missing" in tool || extension === "sh")("receive the same responses as curl", async () => {
    expect(await responsesTo(language)).toEqual(await responsesTo(tools[0]!))
  })

  it.skipIf("missing" in tool)("send every text unchanged, and take none for code", async () => {
    const hostile = `"'\`$\\#{}()[]<>;&|!*%@~^?+=,:/ -x`
    const unit = fc.constantFrom(...hostile, ..."\n\r\t\0é\u202e\u2028😀", "\ud800", "JSON", "u000a")
    const texts = fc.sample(fc.string({ unit }), 300)
    const ascii = fc.sample(fc.constantFrom(...hostile), 200).join("")
    const secret = `whsec_${ascii}`
    const headers = { "X-Text": `x${ascii}x` }
    let received: { url: string; headers: Record<string, string>; body: string } | undefined
    const port = await listen(
      createServer(async (incoming, response) => {
        const body = Buffer.concat(await incoming.toArray()).toString()
        received = { url: incoming.url!, headers: incoming.headers as never, body }
        response.end("{}")
      }),
    )
    const url = `http://127.0.0.1:${port}/`
    const all = renderSamples("hostile", { url, query: [["q[]", ascii]], headers, body: texts, secret })
    const { code } = all.find(({ file }) => file === `hostile.${extension}`)!
    const run = await install(language, new Map([["hostile", `${code}\n`]]))
    expect((await run("hostile")).body).toBe("{}")
    expect(new URL(received!.url, url).searchParams.getAll("q[]")).toEqual([ascii])
    expect(received!.headers["x-text"]).toBe(headers["X-Text"])
    expect(JSON.parse(received!.body)).toEqual(texts)
    const now = Date.now() / 1000
    await verify(received!.headers["x-signature"]!, Buffer.from(received!.body), [secret], { now })
  })
})
